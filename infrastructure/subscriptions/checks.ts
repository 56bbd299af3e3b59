// Checks the consumers of the log and their parked streams, for operators.
import type { EventStore } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Finding } from '../../application/ports/systemChecks.ts';
import { mismatchWith, readPositions } from '../../projections/engine/checkpoints.ts';
import { readParked } from '../../projections/engine/parkedStreams.ts';
import { readName } from '../../projections/engine/partitions.ts';
import { pause } from '../../projections/engine/pause.ts';
import { finding } from '../operations/finding.ts';

/** How long a consumer may take to reach the head that the check has seen. Longer than an idle consumer's checkpoint may stay behind. */
const CATCH_UP_MS = 2_000;
const LOOK_MS = 100;

/** Checks whether the consumers follow this log, and whether they catch up with its present head. */
export const checkConsumers = async (
  { store, reads }: { readonly store: EventStore; readonly reads: Sql },
  names: readonly string[],
): Promise<Finding> => {
  const head = (await store.head()) ?? '';
  const deadline = performance.now() + CATCH_UP_MS;
  const look = async () => {
    const known = await readPositions(reads, names);
    const behind = names.flatMap((name) => {
      const checkpoints = known.get(name) ?? [{ name, position: null }];
      return checkpoints
        .filter(({ name: of, position }) => !readName(of).isMark && (position ?? '') < head)
        .map((one) => one.name);
    });
    return { checkpoints: [...known.values()].flat(), behind };
  };
  const first = await look();
  const mismatch = await mismatchWith(store, first.checkpoints);
  if (mismatch !== null) return finding('read models and processes', false, '', mismatch.message);
  let { behind } = first;
  while (behind.length > 0 && performance.now() < deadline) {
    await pause(LOOK_MS);
    ({ behind } = await look());
  }
  return finding(
    'read models and processes',
    behind.length === 0,
    'all caught up with the log',
    `behind the log: ${behind.join(', ')}; run doctor again, and if they make no progress check the logs of projector and worker`,
  );
};

export const checkParked = async (reads: Sql): Promise<Finding> => {
  const parked = await readParked(reads, null);
  const streams = new Set(parked.map(({ stream }) => stream)).size;
  const byConsumer = [...Map.groupBy(parked, ({ consumer }) => consumer)].map(
    ([name, { length }]) => `${name} ${length}`,
  );
  return finding(
    'parked streams',
    streams === 0,
    'none',
    `${streams} parked at an event that failed (${byConsumer.join(', ')}): npm run cli -- parked list`,
  );
};
