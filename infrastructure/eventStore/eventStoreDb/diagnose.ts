// Checks EventStoreDB for `doctor` (README.md): the server's version and nodes, the user's rights, and the clock. It uses its own
// connections, so that it can also report why a log can't be opened.

import { status } from '@grpc/grpc-js';
import { APPEND_BYTES_MAX } from '../../../application/ports/eventStore.ts';
import { CATEGORIES } from '../../../domain/aggregates.ts';
import { type Connection, Connector } from './connection.ts';
import { translated } from './failures.ts';
import { DEADLINE_MS } from './messages.ts';
import { OWN_CATEGORY } from './ownStreams.ts';
import { appendProbe, clusterNodes, serverVersion } from './probes.ts';
import { Reader } from './reader.ts';
import { type ConnectionSettings, readConnectionString, TIMINGS, type Timings } from './settings.ts';

/** A finding about the server. */
export interface Diagnosis {
  /** Name of the check. */
  readonly check: string;
  readonly isGood: boolean;
  /** The finding; if it is bad, also the remedy. */
  readonly says: string;
}

interface World {
  readonly settings: ConnectionSettings;
  readonly connection: Connection;
  readonly reader: Reader;
}
type Check = (world: World) => Promise<Diagnosis>;

const good = (check: string, says: string): Diagnosis => ({ check, isGood: true, says });
const bad = (check: string, says: string): Diagnosis => ({ check, isGood: false, says });

/** Returns the status of the call that failed first, or undefined if the error came from no call. */
const statusOf = (error: unknown): number | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
};

// The server's version and nodes.

const OLDEST_VERSION = '22.10';
const LICENSED_VERSION = '24.10';

const isAtLeast = (version: string, least: string): boolean => {
  const [[major = 0, minor = 0], [leastMajor = 0, leastMinor = 0]] = [version, least].map((text) =>
    text.split('.').map(Number),
  ) as [number[], number[]];
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
};

const version: Check = async ({ connection }) => {
  const check = 'event store version';
  let number: string;
  try {
    number = await serverVersion(connection);
  } catch (error) {
    if (statusOf(error) !== status.UNIMPLEMENTED) throw error;
    return bad(check, `the server is too old to report its version: upgrade it to ${OLDEST_VERSION} or newer`);
  }
  if (!isAtLeast(number, OLDEST_VERSION))
    return bad(
      check,
      `EventStoreDB ${number} returns no positions in stream reads: upgrade it to ${OLDEST_VERSION} or newer`,
    );
  return good(
    check,
    isAtLeast(number, LICENSED_VERSION)
      ? `EventStoreDB ${number}; versions from ${LICENSED_VERSION} on use Kurrent's source-available licence (24.6 and older: BSD-3)`
      : `EventStoreDB ${number}`,
  );
};

const nodes: Check = async ({ connection }) => {
  const check = 'event store nodes';
  const all = await clusterNodes(connection);
  const leader = all.find(({ isLeader, isAlive }) => isLeader && isAlive);
  const dead = all.filter(({ isAlive }) => !isAlive).map(({ address }) => address);
  if (leader === undefined)
    return bad(check, `no leader among ${all.length} nodes: appends fail; start the missing nodes`);
  if (dead.length > 0)
    return bad(
      check,
      `${dead.join(', ')} of ${all.length} down: start them before another node fails; ${leader.address} leads`,
    );
  return good(check, `${all.length} of ${all.length} alive, ${leader.address} leads`);
};

// The user's rights, and the server's clock.

/** Holds one event, which the next one replaces: `$maxCount` is 1. */
const CLOCK_STREAM = `${OWN_CATEGORY}-clock`;
const SKEW_MS_MAX = 1_000;

const denied = (check: string, { settings: { tls, credentials } }: World, code: number, what: string): Diagnosis => {
  if (credentials !== null && tls === null)
    return bad(check, 'user and password are sent over TLS only: remove tls=false from EVENTSTORE_URL');
  if (credentials === null)
    return bad(check, 'the server requires authentication: add user:password@ to EVENTSTORE_URL');
  if (code === status.UNAUTHENTICATED)
    return bad(check, `the server rejected the user ${credentials.username} or its password: correct EVENTSTORE_URL`);
  return bad(check, `the user ${credentials.username} ${what}`);
};

const judged = async (
  check: string,
  world: World,
  what: string,
  work: () => Promise<Diagnosis>,
): Promise<Diagnosis> => {
  try {
    return await work();
  } catch (error) {
    const code = statusOf(error);
    if (code !== status.PERMISSION_DENIED && code !== status.UNAUTHENTICATED) throw error;
    return denied(check, world, code, what);
  }
};

/** Reads as the adapter does at the start and for the head. */
const reading: Check = (world) =>
  judged(
    'event store access',
    world,
    'may not read $all, which only administrators may by default: add it to "$acl": {"$r": …} in the metadata of $all',
    async () => {
      await world.reader.newest(CATEGORIES.map((category) => `${category}-`));
      return good('event store access', `${world.settings.credentials?.username ?? 'everybody'} may read $all`);
    },
  );

const MAY_NOT_WRITE = 'may not write: give it the right in the default ACL for streams';

/** Checks the leader's clock: the leader stamps an event with its own time. */
const clock: Check = (world) =>
  judged('event store clock', world, MAY_NOT_WRITE, async () => {
    const { connection, reader } = world;
    const metadata = { stream: `$$${CLOCK_STREAM}`, type: '$metadata', data: '{"$maxCount":1}' };
    await appendProbe(connection, { ...metadata, expected: -1 }); // not written if it already exists
    const beforeMs = Date.now();
    const probe = { stream: CLOCK_STREAM, expected: 'any', type: 'ClockRead', data: '{}' } as const;
    const revision = await appendProbe(connection, probe);
    const middleMs = (beforeMs + Date.now()) / 2;
    const [event] = await reader.page(CLOCK_STREAM, revision as number, 1);
    if (event === undefined)
      return bad(
        'event store clock',
        'not measured, because another program measured at the same time; run this again',
      );
    const skewMs = Math.round(Date.parse(event.recordedAt) - middleMs);
    const says = `the event store's clock differs from this machine's by ${skewMs} ms`;
    return Math.abs(skewMs) <= SKEW_MS_MAX
      ? good('event store clock', says)
      : bad(
          'event store clock',
          `${says}: run NTP on both; if it is ${DEADLINE_MS} ms ahead, it rejects every append as too late`,
        );
  });

/** Sends an append of the largest size, at a revision that the stream never has: the server checks it and writes nothing. */
const size: Check = (world) =>
  judged('event store appends', world, MAY_NOT_WRITE, async () => {
    const data = JSON.stringify('x'.repeat(APPEND_BYTES_MAX - '""{}'.length));
    const probe = { stream: CLOCK_STREAM, expected: Number.MAX_SAFE_INTEGER, type: 'SizeProbed', data };
    try {
      await appendProbe(world.connection, probe);
    } catch (error) {
      if (statusOf(error) !== status.INVALID_ARGUMENT) throw error;
      const details = (error as { details: string }).details.replace(/\.$/, '');
      const limit = /event size/i.test(details) ? 'MaxAppendEventSize' : 'MaxAppendSize';
      return bad(
        'event store appends',
        `smaller than Quita's largest append (${APPEND_BYTES_MAX} bytes): ${details}; raise ${limit}`,
      );
    }
    return good('event store appends', `large enough for Quita's largest append (${APPEND_BYTES_MAX} bytes)`);
  });

const CHECKS: readonly { readonly name: string; readonly check: Check }[] = [
  { name: 'event store version', check: version },
  { name: 'event store nodes', check: nodes },
  { name: 'event store access', check: reading },
  { name: 'event store clock', check: clock },
  { name: 'event store appends', check: size },
];

/** Checks the server. Writes one event to a stream that keeps one. Throws BadConnectionString; any other problem is a finding. */
export const diagnoseEventStoreDb = async (
  connectionString: string,
  timings: Timings = TIMINGS,
): Promise<readonly Diagnosis[]> => {
  const settings = readConnectionString(connectionString);
  const connector = new Connector(settings);
  const reader = new Reader({ connector, timings, onError: () => undefined });
  let connection: Connection;
  try {
    connection = await connector.connect(timings.connectMs);
  } catch (error) {
    reader.close();
    const { kind, message } = translated(error, false);
    const says =
      kind === 'refused' ? message : `${message}: check that the server runs and that EVENTSTORE_URL is correct`;
    return [bad('event store connection', says)];
  }
  const findings: Diagnosis[] = [];
  for (const { name, check } of CHECKS) {
    const finding = await check({ settings, connection, reader }).catch((error: unknown) =>
      bad(name, translated(error, false).message),
    );
    findings.push(finding);
  }
  connection.close();
  reader.close();
  return findings;
};
