// The consumers of the log for operators: their checkpoints and their parked streams.
import type {
  ConsumerStanding,
  Consumers,
  ParkedRow,
  TakenUp,
  WhichParked,
} from '../../application/ports/consumers.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { isCopy, readAllCheckpoints } from '../../projections/engine/checkpoints.ts';
import { askRetry, readParked } from '../../projections/engine/parkedStreams.ts';
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

const NOT_STARTED: ConsumerStanding = { position: null, version: null };

export const consumerWork = (
  { reads, operations }: { readonly reads: Sql; readonly operations: Sql },
  { names, maySkip }: Pick<Consumers, 'names' | 'maySkip'>,
): Consumers => ({
  names,
  maySkip,
  standings: async () => {
    const checkpoints = await readAllCheckpoints(reads);
    const known = new Map(checkpoints.map(({ name, position, version }) => [name, { position, version }]));
    const copies = [...known].filter(([name]) => isCopy(name));
    return new Map([...names.map((name) => [name, known.get(name) ?? NOT_STARTED] as const), ...copies]);
  },
  parked: async ({ stream, consumer }: WhichParked) =>
    (await readParked(reads, null)).filter(
      (row) => (stream === null || row.stream === stream) && (consumer === null || row.consumer === consumer),
    ),
  takeUp: (rows, signal) => takenUp(operations, rows, signal),
});
