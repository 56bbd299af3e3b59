// TCP connections to nodes. Every purpose has its own, so that the end of one never cancels calls on another.

import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { discoverEndpoint } from '@eventstore/db-client/dist/Client/discovery.js';
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js';
import { withTimeout } from '../../waiting.ts';
import { type Endpoint, notSentWithin, StoreFailure, translated } from './failures.ts';
import { REQUIRES_LEADER, StreamsClient, type StreamsStub } from './messages.ts';
import type { ConnectionSettings } from './settings.ts';

export interface Connection {
  readonly stub: StreamsStub;
  /** Headers of a call. */
  metadata(options: { requiresLeader: boolean }): Metadata;
  /** Cancels all calls on the connection. */
  close(): void;
}

/** Larger than any event on the server: internal writers may exceed the limit for appends. */
const RECEIVE_BYTES_MAX = 17 * 1024 * 1024;
/**
 * Data that a server may send before this process reads it: some 1,400 events (the default of 64 kB holds 90). This prevents a live
 * subscription from being "too slow" while the event loop is blocked.
 */
const WINDOW_BYTES = 1024 * 1024;

const channelCredentials = ({ tls }: ConnectionSettings): ChannelCredentials =>
  tls === null ? credentials.createInsecure() : credentials.createSsl(tls.ca, tls.key, tls.cert);

const channelOptions = ({ keepAliveIntervalMs, keepAliveTimeoutMs }: ConnectionSettings): Record<string, number> => ({
  'grpc.keepalive_time_ms': keepAliveIntervalMs,
  'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
  'grpc.max_receive_message_length': RECEIVE_BYTES_MAX,
  'grpc-node.flow_control_window': WINDOW_BYTES,
  // By default, channels to one address share their TCP connection and wait up to two minutes before they reconnect.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // A hidden retry would make it unclear whether a request was sent.
  'grpc.enable_retries': 0,
});

export class Connector {
  readonly #settings: ConnectionSettings;
  readonly #credentials: ChannelCredentials;
  #leader: Endpoint | null = null;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#credentials = channelCredentials(settings);
  }

  /** Opens a connection that is ready. Rejects with a StoreFailure: `refused` if TLS fails with every node, else `notSent`. */
  async connect(withinMs: number): Promise<Connection> {
    const startedAtMs = performance.now();
    try {
      const { address, port } = await withTimeout(
        this.#endpoint(),
        withinMs,
        notSentWithin(withinMs, 'no node was found'),
      );
      const connection = this.#dial(`${address}:${port}`);
      try {
        await ready(connection.stub, withinMs - (performance.now() - startedAtMs), `${address}:${port}`);
        return connection;
      } catch (error) {
        connection.close();
        throw error;
      }
    } catch (error) {
      const trouble = await this.#tlsTrouble();
      this.#leader = null; // it may have ended, too
      throw trouble ?? translated(error, false);
    }
  }

  /** Returns the TLS failure of the first node that has one. If another node has none, a retry may help: that node may lead soon. */
  async #tlsTrouble(): Promise<StoreFailure | null> {
    const { hosts, tls } = this.#settings;
    if (tls === null) return null;
    const asked = this.#leader === null ? hosts : [this.#leader];
    const troubles = await Promise.all(asked.map((endpoint) => tlsTrouble(endpoint, tls)));
    const first = troubles.findIndex((trouble) => trouble !== null);
    const node = asked[first];
    if (node === undefined) return null;
    const message = `the node ${node.address}:${node.port} cannot be reached: ${troubles[first]}`;
    return new StoreFailure(troubles.includes(null) ? 'notSent' : 'refused', message);
  }

  /** Sets the leader that a node reported, to which the next connection goes. */
  redirect(leader: Endpoint): void {
    this.#leader = leader;
  }

  async #endpoint(): Promise<Endpoint> {
    if (this.#leader !== null) return this.#leader;
    const { hosts, discover, nodePreference, maxDiscoverAttempts, discoveryIntervalMs, gossipTimeoutS } =
      this.#settings;
    const [first] = hosts;
    if (first === undefined) throw new StoreFailure('notSent', 'the connection string names no host');
    if (!discover) return first;
    const how = {
      nodePreference,
      maxDiscoverAttempts,
      discoveryInterval: discoveryIntervalMs,
      gossipTimeout: gossipTimeoutS,
    };
    const seeds = hosts.length > 1 ? { endpoints: [...hosts] } : { discover: first };
    return await discoverEndpoint({ ...how, ...seeds }, this.#credentials);
  }

  #dial(target: string): Connection {
    const { credentials: login, connectionName, tls } = this.#settings;
    const stub = new StreamsClient(target, this.#credentials, channelOptions(this.#settings));
    return {
      stub,
      metadata: ({ requiresLeader }) => {
        const metadata = new Metadata();
        metadata.set('connection-name', connectionName);
        if (requiresLeader) metadata.set(REQUIRES_LEADER, 'true');
        if (login !== null && tls !== null) {
          metadata.set(
            'authorization',
            `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`,
          );
        }
        return metadata;
      },
      close: () => stub.close(),
    };
  }
}

const ready = (stub: StreamsStub, withinMs: number, target: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stub.waitForReady(Date.now() + Math.max(withinMs, 1), (cause) => {
      if (cause) reject(new StoreFailure('notSent', `the node ${target} cannot be reached`, { cause }));
      else resolve();
    });
  });

// A connection that many calls share. It is opened when first needed and replaced after any failure: a client that has seen a failure is
// never used again.

export interface SharedConnection {
  /** Accepts no new calls and closes when the running ones have ended. */
  drain(): void;
  close(): void;
}

export class ReplaceableConnection<T extends SharedConnection> {
  readonly #open: () => Promise<T>;
  #current: Promise<T> | null = null;
  #ready: T | null = null;
  readonly #opened = new Set<T>();
  #closed = false;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  /** Returns the connection, or opens it. Rejects as `open` does; the next call then tries again. */
  get(): Promise<T> {
    this.#current ??= this.#begin();
    return this.#current;
  }

  /** The connection, if it is open. */
  get ready(): T | null {
    return this.#ready;
  }

  /** Replaces the connection. No effect if it was already replaced. */
  replace(shared: T): void {
    if (!this.#opened.delete(shared)) return;
    this.#current = null;
    this.#ready = null;
    shared.drain();
  }

  close(): void {
    this.#closed = true;
    for (const shared of this.#opened) shared.close();
    this.#opened.clear();
    this.#current = null;
    this.#ready = null;
  }

  async #begin(): Promise<T> {
    try {
      const shared = await this.#open();
      if (this.#closed) shared.close();
      else {
        this.#opened.add(shared);
        this.#ready = shared;
      }
      return shared;
    } catch (error) {
      this.#current = null;
      throw error;
    }
  }
}

// Finds out why TLS to a node fails. gRPC reports only the failure, so a separate handshake afterwards finds the reason.

type Tls = NonNullable<ConnectionSettings['tls']>;
type TlsError = Error & { readonly code?: string; readonly cert?: { readonly subjectaltname?: string } };

const PROBE_MS = 500;
const UNKNOWN_AUTHORITY =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?)$/;
/** Errors of a handshake with a server that uses plain HTTP. */
const NO_TLS = /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/;

const meaningOf = ({ code = '', cert }: TlsError, { address }: Endpoint, { ca }: Tls): string | null => {
  if (UNKNOWN_AUTHORITY.test(code))
    return ca === null
      ? 'its certificate authority is unknown: set tlsCAFile=… in the connection string'
      : 'its certificate was not issued by the authority in tlsCAFile';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is not for ${address} but for ${cert?.subjectaltname ?? 'another name'}: use such a name in the connection string`;
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';
  if (NO_TLS.test(code)) return 'it does not use TLS: to connect without TLS, set tls=false in the connection string';
  return null;
};

/** Returns the reason of a TLS failure, or null if the handshake succeeds or no server answers. Takes at most 500 ms; never rejects. */
const tlsTrouble = (endpoint: Endpoint, tls: Tls): Promise<string | null> =>
  new Promise((resolve) => {
    const { address: host, port } = endpoint;
    const socket = connect({
      host,
      port,
      ALPNProtocols: ['h2'],
      ...(isIP(host) === 0 && { servername: host }),
      ...(tls.ca !== null && { ca: tls.ca }),
      ...(tls.key !== null && tls.cert !== null && { key: tls.key, cert: tls.cert }),
    });
    const end = (trouble: string | null): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(trouble);
    };
    const timer = setTimeout(() => end(null), PROBE_MS);
    socket.once('secureConnect', () => end(null));
    socket.on('error', (error: TlsError) => end(meaningOf(error, endpoint, tls)));
  });
