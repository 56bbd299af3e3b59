// One TCP connection to one node. Every purpose has its own: the end of one never cancels what runs on another.
import { discoverEndpoint } from '@eventstore/db-client/dist/Client/discovery.js';
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js';
import type { ConnectionSettings } from './connectionString.ts';
import { type Endpoint, StoreFailure, translated } from './failures.ts';
import { REQUIRES_LEADER, StreamsClient, type StreamsStub } from './protocol.ts';
import { tlsTrouble } from './tlsTrouble.ts';
import { withTimeout } from './within.ts';

export interface Connection {
  readonly stub: StreamsStub;
  /** Headers of a call. */
  metadata(options: { requiresLeader: boolean }): Metadata;
  /** Cancels whatever runs on it. */
  close(): void;
}

/** Larger than any event the server can hold: internal writers may pass the limit of appends. */
const RECEIVE_BYTES_MAX = 17 * 1024 * 1024;

const channelCredentials = ({ tls }: ConnectionSettings): ChannelCredentials =>
  tls === null ? credentials.createInsecure() : credentials.createSsl(tls.ca, tls.key, tls.cert);

const channelOptions = ({ keepAliveIntervalMs, keepAliveTimeoutMs }: ConnectionSettings): Record<string, number> => ({
  'grpc.keepalive_time_ms': keepAliveIntervalMs,
  'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
  'grpc.max_receive_message_length': RECEIVE_BYTES_MAX,
  // By default channels to one address share their TCP connection, and wait up to two minutes before they dial a node again.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // A hidden repeat would blur what was sent.
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

  /** A new, ready connection. Rejects with a StoreFailure: `refused` when TLS fails with every node, else `notSent`. */
  async connect(withinMs: number): Promise<Connection> {
    const startedAtMs = performance.now();
    try {
      const { address, port } = await withTimeout(this.#endpoint(), withinMs, 'no node was found');
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
      this.#leader = null; // it may be gone, too
      throw trouble ?? translated(error, false);
    }
  }

  /** Of the first node that has any. While another one has none, asking again is of use: it may lead soon. */
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

  /** The next connection goes there: a node said who leads. */
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
