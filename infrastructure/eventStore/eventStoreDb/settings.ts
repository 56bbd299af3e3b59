// EVENTSTORE_URL and the adapter's timeouts. The connection string is validated before any connection. Options that the client package
// would silently ignore are rejected by name.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions } from '@eventstore/db-client/dist/Client/parseConnectionString.js';
import { backoffMs } from '../../waiting.ts';

/** The connection string is invalid. The message never contains the password. */
export class BadConnectionString extends Error {
  override name = 'BadConnectionString';
}

export interface ConnectionSettings {
  readonly hosts: readonly { readonly address: string; readonly port: number }[];
  /** Whether to discover the leader: more than one host, or `+discover`. */
  readonly discover: boolean;
  readonly nodePreference: NonNullable<ConnectionOptions['nodePreference']>;
  readonly maxDiscoverAttempts: number;
  readonly discoveryIntervalMs: number;
  readonly gossipTimeoutS: number;
  /** null: no TLS. */
  readonly tls: { readonly ca: Buffer | null; readonly key: Buffer | null; readonly cert: Buffer | null } | null;
  /** Sent over TLS only. */
  readonly credentials: { readonly username: string; readonly password: string } | null;
  readonly keepAliveIntervalMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly connectionName: string;
}

/** A silent live subscription is detected after twice this, well within the 10 s allowed for a takeover. */
const KEEP_ALIVE_MS = 4_000;

const fileOf = (option: string, path: string | undefined): Buffer | null => {
  if (path === undefined) return null;
  if (!existsSync(path)) throw new BadConnectionString(`${option}: the file ${path} does not exist`);
  try {
    return readFileSync(path);
  } catch (error) {
    throw new BadConnectionString(
      `${option}: the file ${path} can't be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
};

const assertPair = (key: Buffer | null, cert: Buffer | null): void => {
  if ((key === null) !== (cert === null))
    throw new BadConnectionString('userCertFile and userKeyFile must be set together');
  if (key === null || cert === null) return;
  try {
    createSecureContext({ key, cert });
  } catch {
    throw new BadConnectionString('userCertFile and userKeyFile must hold a certificate and its key in PEM form');
  }
};

/** Kurrent's name for the same protocol, which the client package does not support. */
const KURRENT_NAME = /^kurrentdb(?=(\+discover)?:)/;

type Parser = typeof import('@eventstore/db-client/dist/Client/parseConnectionString.js');
/** Loads the package with the first connection string (88 ms of CPU); by `require`, because the caller is synchronous. */
const clientParser = (): Parser =>
  createRequire(import.meta.url)('@eventstore/db-client/dist/Client/parseConnectionString.js') as Parser;

const parsed = (text: string): ConnectionOptions => {
  try {
    return clientParser().parseConnectionString(text.replace(KURRENT_NAME, 'esdb'));
  } catch {
    // The original message quotes the string, including the password.
    throw new BadConnectionString(
      'the connection string is invalid; expected esdb://[user:password@]host:port[,host:port][?option=value&…]',
    );
  }
};

/** Returns the settings of a connection string. Throws BadConnectionString. */
export const readConnectionString = (text: string): ConnectionSettings => {
  if (!/^(esdb|kurrentdb)(\+discover)?:\/\//.test(text)) {
    throw new BadConnectionString(
      'the connection string must start with esdb:// (one node or a list) or esdb+discover:// (a cluster), or with kurrentdb:// or kurrentdb+discover://',
    );
  }
  if (/[?&]tlsVerifyCert=false/i.test(text)) {
    throw new BadConnectionString(
      'tlsVerifyCert=false is not supported: set tlsCAFile=… or NODE_EXTRA_CA_CERTS to the certificate of your authority',
    );
  }
  const options = parsed(text);
  if (options.throwOnAppendFailure === false) {
    throw new BadConnectionString(
      'throwOnAppendFailure=false is not supported: the client would report a wrong revision for every conflict; remove it',
    );
  }
  const keepAliveIntervalMs = options.keepAliveInterval ?? KEEP_ALIVE_MS;
  const keepAliveTimeoutMs = options.keepAliveTimeout ?? KEEP_ALIVE_MS;
  if (!(keepAliveIntervalMs > 0 && keepAliveTimeoutMs > 0)) {
    throw new BadConnectionString(
      'keepAliveInterval and keepAliveTimeout must be above 0 ms: only keep-alive detects a broken live subscription',
    );
  }
  const key = fileOf('userKeyFile', options.userKeyFile);
  const cert = fileOf('userCertFile', options.userCertFile);
  assertPair(key, cert);
  return {
    hosts: options.hosts,
    discover: options.dnsDiscover || options.hosts.length > 1,
    nodePreference: options.nodePreference ?? 'leader',
    maxDiscoverAttempts: options.maxDiscoverAttempts ?? 10,
    discoveryIntervalMs: options.discoveryInterval ?? 100,
    gossipTimeoutS: options.gossipTimeout ?? 2,
    tls: options.tls === false ? null : { ca: fileOf('tlsCAFile', options.tlsCAFile), key, cert },
    credentials: options.defaultCredentials ?? null,
    keepAliveIntervalMs,
    keepAliveTimeoutMs,
    connectionName: options.connectionName ?? 'quita',
  };
};

/** The adapter's timeouts, in milliseconds. */
export interface Timings {
  /** Finding a node and connecting to it. */
  readonly connectMs: number;
  /** Timeout of one append attempt. At least 3 s: while the first try may still be in flight, the server silently drops a repeat. */
  readonly attemptMs: number;
  /** After this, an append that was never sent fails with EventStoreUnavailable. */
  readonly notSentMs: number;
  /** After this, an append that may be written fails with AppendOutcomeUnknown. The port promises an answer within 10 s. */
  readonly outcomeUnknownMs: number;
  /** Silence after which one read attempt ends, and total time after which a read fails with EventStoreUnavailable. */
  readonly readMs: number;
  readonly readGiveUpMs: number;
  /** Timeout from the subscription request to the server's confirmation. */
  readonly confirmMs: number;
  /** Pause after attempt number `attempt` (from 0). */
  readonly backoffMs: (attempt: number) => number;
}

/** An append ends within outcomeUnknownMs and one last read (1 s), below the 10 s of the port. */
export const TIMINGS: Timings = {
  connectMs: 2_000,
  attemptMs: 3_000,
  notSentMs: 5_000,
  outcomeUnknownMs: 8_000,
  readMs: 3_000,
  readGiveUpMs: 6_000,
  confirmMs: 5_000,
  backoffMs,
};
