// EVENTSTORE_URL and the adapter's time-outs. The address is read and judged before anything is dialled: what the client package
// ignores in silence is refused here by name.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ConnectionOptions } from '@eventstore/db-client/dist/Client/parseConnectionString.js';
import { backoffMs } from '../../waiting.ts';

/** The connection string cannot be meant as it stands. The message never holds the password. */
export class BadConnectionString extends Error {
  override name = 'BadConnectionString';
}

export interface ConnectionSettings {
  readonly hosts: readonly { readonly address: string; readonly port: number }[];
  /** Ask the nodes who leads: more than one host, or `+discover`. */
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

/** Twice this finds a live subscription that fell silent, well within the 10 s in which work goes on elsewhere. */
const KEEP_ALIVE_MS = 4_000;

const fileOf = (option: string, path: string | undefined): Buffer | null => {
  if (path === undefined) return null;
  if (!existsSync(path)) throw new BadConnectionString(`${option}: the file ${path} does not exist`);
  return readFileSync(path);
};

/** Kurrent's name for the same protocol, which the client package is too old to know. */
const KURRENT_NAME = /^kurrentdb(?=(\+discover)?:)/;

type Parser = typeof import('@eventstore/db-client/dist/Client/parseConnectionString.js');
/** The package comes with the first address, since it takes 88 ms of CPU; by `require`, since whoever reads settings does not wait. */
const clientParser = (): Parser =>
  createRequire(import.meta.url)('@eventstore/db-client/dist/Client/parseConnectionString.js') as Parser;

const parsed = (text: string): ConnectionOptions => {
  try {
    return clientParser().parseConnectionString(text.replace(KURRENT_NAME, 'esdb'));
  } catch {
    // Its message quotes the string, with the password in it.
    throw new BadConnectionString(
      'the connection string is invalid; expected esdb://[user:password@]host:port[,host:port][?option=value&…]',
    );
  }
};

/** Throws BadConnectionString. */
export const readConnectionString = (text: string): ConnectionSettings => {
  if (!/^(esdb|kurrentdb)(\+discover)?:\/\//.test(text)) {
    throw new BadConnectionString(
      'the connection string must start with esdb:// (one node or a list) or esdb+discover:// (a cluster); kurrentdb:// and kurrentdb+discover:// are the same',
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
  if ((key === null) !== (cert === null))
    throw new BadConnectionString('userCertFile and userKeyFile must be set together');
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

/** How long the adapter waits for what, in milliseconds. */
export interface Timings {
  /** Finding a node and connecting to it. */
  readonly connectMs: number;
  /** An append without an answer. At least 3 s: while the first try may still be in flight, the server drops a repeat in silence. */
  readonly attemptMs: number;
  /** After this an append that was never sent is refused with EventStoreUnavailable. */
  readonly notSentMs: number;
  /** After this an append that may be written is given up with AppendOutcomeUnknown. The port promises an answer within 10 s. */
  readonly outcomeUnknownMs: number;
  /** The silence that ends a read, and the whole time after which reading is given up with EventStoreUnavailable. */
  readonly readMs: number;
  readonly readGiveUpMs: number;
  /** From asking for a subscription to the server's confirmation. */
  readonly confirmMs: number;
  /** Before try number `attempt` (from 0) is repeated. */
  readonly backoffMs: (attempt: number) => number;
}

/** An append ends within outcomeUnknownMs and one last look (1 s): below the 10 s of the port. */
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
