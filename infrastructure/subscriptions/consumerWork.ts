// The consumers of the log for operators: their checkpoints and their parked streams.
import {
  type ConsumerStanding,
  type Consumers,
  NotDivided,
  type ParkedRow,
  type TakenUp,
  type WhichParked,
} from '../../application/ports/consumers.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { type Checkpoint, isCopy, readAllCheckpoints, readPositions } from '../../projections/engine/checkpoints.ts';
import { divideOnce, havePassedMarks } from '../../projections/engine/dividing.ts';
import { askRetry, readParked } from '../../projections/engine/parkedStreams.ts';
import { leastOf, readName } from '../../projections/engine/partitions.ts';
import { pause } from '../../projections/engine/pause.ts';

/** Longest wait for the leader, another process, to retry one more stream. */
const ANSWER_MS_MAX = 30_000;
const LOOK_MS = 100;

const takenUp = async (db: Sql, rows: readonly ParkedRow[], signal: AbortSignal): Promise<readonly TakenUp[]> => {
  await askRetry(db, rows);
  const look = async () => {
    const left = await readParked(db, [...new Set(rows.map(({ consumer }) => consumer))]);
    return rows.map((row) => left.find(({ consumer, stream }) => consumer === row.consumer && stream === row.stream));
  };
  const openIn = (found: Awaited<ReturnType<typeof look>>) => found.filter((row) => row?.isRetryAsked).length;
  let now = await look();
  let deadline = performance.now() + ANSWER_MS_MAX;
  for (let open = openIn(now); open > 0 && performance.now() < deadline && !signal.aborted; ) {
    await pause(LOOK_MS, signal);
    now = await look();
    if (openIn(now) < open) deadline = performance.now() + ANSWER_MS_MAX;
    open = openIn(now);
  }
  return rows.map(({ consumer, stream }, i): TakenUp => {
    const row = now[i];
    if (row === undefined) return { consumer, stream, outcome: 'taken', revision: null, error: null };
    const { revision, error, isRetryAsked } = row;
    return { consumer, stream, outcome: isRetryAsked ? 'waiting' : 'parked', revision, error };
  });
};

const NOT_STARTED: ConsumerStanding = { position: null, partitions: [], version: null };

/** `checkpoints`: those of one consumer that have positions. */
const standingOf = (checkpoints: readonly Checkpoint[]): ConsumerStanding => {
  const version = checkpoints[0]?.version ?? null;
  const partitions = checkpoints
    .map(({ name, position }) => ({ ...readName(name), position }))
    .filter(({ isMark }) => !isMark)
    .map(({ part, position }) => ({ partition: part.index, position }))
    .toSorted((a, b) => a.partition - b.partition);
  const isDivided = checkpoints.some(({ name }) => readName(name).consumer !== name);
  return {
    position: leastOf(partitions.map(({ position }) => position)),
    partitions: isDivided ? partitions : [],
    version,
  };
};

const standings = async (db: Sql, names: readonly string[]): Promise<ReadonlyMap<string, ConsumerStanding>> => {
  const all = (await readAllCheckpoints(db)).filter(({ partitions }) => partitions === undefined);
  const known = Map.groupBy(all, ({ name }) => readName(name).consumer);
  const found = new Map([...known].map(([name, checkpoints]) => [name, standingOf(checkpoints)]));
  const copies = [...found].filter(([name]) => isCopy(name));
  return new Map([...names.map((name) => [name, found.get(name) ?? NOT_STARTED] as const), ...copies]);
};

/** Longest wait until a swap releases the checkpoints, and until the partitions are even. */
const DIVIDED_MS_MAX = 30_000;

const divided = async (
  db: SqlPool,
  name: string,
  partitions: number,
  signal: AbortSignal,
): Promise<'even' | 'uneven'> => {
  const deadline = performance.now() + DIVIDED_MS_MAX;
  for (;;) {
    const outcome = await divideOnce(db, name, partitions);
    if (outcome === 'divided') return 'even';
    if (outcome === 'missing') throw new NotDivided(`${name} has not started yet`);
    const isEven = async () => outcome === 'held' || havePassedMarks((await readPositions(db, [name])).get(name) ?? []);
    while (!(await isEven()) && performance.now() < deadline && !signal.aborted) await pause(LOOK_MS, signal);
    if (performance.now() < deadline && !signal.aborted) continue;
    if (outcome === 'marked') return 'uneven';
    throw new NotDivided(`another transaction holds the position of ${name}: try again`);
  }
};

export const consumerWork = (
  { reads, operations }: { readonly reads: Sql; readonly operations: SqlPool },
  { names, divisible, maySkip }: Pick<Consumers, 'names' | 'divisible' | 'maySkip'>,
): Consumers => ({
  names,
  divisible,
  maySkip,
  standings: () => standings(reads, names),
  divide: async (name, partitions, signal) => {
    if (!divisible.includes(name))
      throw new NotDivided(
        `${name} can't be divided: not everything that it writes belongs to one account. These can: ${divisible.join(', ')}`,
      );
    return divided(operations, name, partitions, signal);
  },
  parked: async ({ stream, consumer }: WhichParked) =>
    (await readParked(reads, null)).filter(
      (row) => (stream === null || row.stream === stream) && (consumer === null || row.consumer === consumer),
    ),
  takeUp: (rows, signal) => takenUp(operations, rows, signal),
});
