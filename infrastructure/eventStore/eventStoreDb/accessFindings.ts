// What the server lets us do, and when it thinks it is.
import { status } from '@grpc/grpc-js';
import { APPEND_BYTES_MAX } from '../../../application/ports/eventStore.ts';
import { CATEGORIES } from '../../../domain/kernel/event.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { bad, type Check, good, statusOf, type World } from './finding.ts';
import { appendProbe } from './probes.ts';
import { DEADLINE_MS } from './requests.ts';

/** The one event in it is replaced by the next one: `$maxCount` is 1. */
const CLOCK_STREAM = 'quita_store-clock';
const SKEW_MS_MAX = 1_000;

const denied = (check: string, { settings: { tls, credentials } }: World, code: number, what: string): Diagnosis => {
  if (credentials !== null && tls === null)
    return bad(check, 'user and password are sent over TLS only: take tls=false out of EVENTSTORE_URL');
  if (credentials === null)
    return bad(check, 'the server wants to know who is asking: put user:password@ of a user into EVENTSTORE_URL');
  if (code === status.UNAUTHENTICATED)
    return bad(
      check,
      `the server does not know the user ${credentials.username} with that password: mend EVENTSTORE_URL`,
    );
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

/** As the adapter does it, at the start and whenever somebody asks for the head. */
export const reading: Check = (world) =>
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

/** Of the node that leads, which stamps an event with its own time. */
export const clock: Check = (world) =>
  judged('event store clock', world, MAY_NOT_WRITE, async () => {
    const { connection, reader } = world;
    const metadata = { stream: `$$${CLOCK_STREAM}`, type: '$metadata', data: '{"$maxCount":1}' };
    await appendProbe(connection, { ...metadata, expected: -1 }); // not written when it is there already
    const beforeMs = Date.now();
    const probe = { stream: CLOCK_STREAM, expected: 'any', type: 'ClockRead', data: '{}' } as const;
    const revision = await appendProbe(connection, probe);
    const middleMs = (beforeMs + Date.now()) / 2;
    const [event] = await reader.page(CLOCK_STREAM, revision as number, 1);
    if (event === undefined)
      return bad('event store clock', 'not measured: somebody else measured at the same time; run this again');
    const skewMs = Math.round(Date.parse(event.recordedAt) - middleMs);
    const says = `the event store is ${skewMs} ms from this machine`;
    return Math.abs(skewMs) <= SKEW_MS_MAX
      ? good('event store clock', says)
      : bad(
          'event store clock',
          `${says}: run NTP on both; ${DEADLINE_MS} ms ahead, it refuses every append as too late`,
        );
  });

/** An append as large as any of ours, at a revision that the stream will never have: all is checked and nothing is written. */
export const size: Check = (world) =>
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
        `not as large as Quita's may be (${APPEND_BYTES_MAX} bytes): ${details}; raise ${limit}`,
      );
    }
    return good('event store appends', `as large as Quita's may be (${APPEND_BYTES_MAX} bytes)`);
  });
