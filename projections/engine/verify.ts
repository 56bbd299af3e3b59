// Compares the live read models with a full replay of the log, and each folded row with the fold of its stream. Any difference is a fault
// (architecture §6). It holds no snapshot for longer than a slice: a snapshot keeps dead rows of all tables.

import { type EventLog, readDecoded, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import { AlreadyRunning } from '../../application/ports/readModelWork.ts';
import type { LeaderSession, OpenLeaderSession, Sql } from '../../application/ports/sql.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { type Checkpoint, readCheckpoints, readPositions } from './checkpoints.ts';
import { type ParkedRow, readParked } from './parkedStreams.ts';
import { faultText, type LeftOut, readLeftOut } from './parking.ts';
import { type Front, frontOf, leastOf } from './partitions.ts';
import { type AggregateRows, liveSchema, type Projection } from './projection.ts';
import { ReplayedCopy } from './replayedCopy.ts';
import { holdRetention } from './retentionLock.ts';
import { conditionOf } from './schemaVersions.ts';
import { type Difference, PAGE, TableComparison } from './tableComparison.ts';

interface VerifyReport {
  /** All read models were compared at least up to here; null if one of them has processed nothing. */
  readonly position: Position | null;
  readonly rows: number;
  /** The first hundred differences. */
  readonly differences: readonly Difference[];
  /** Number of all differences. */
  readonly differenceCount: number;
  /** Parked streams of any read model. They are not compared from the parked event on. */
  readonly parked: readonly ParkedRow[];
}

/** Progress of a comparison. Each read model has three steps. */
export interface VerifyProgress {
  readonly projection: string;
  readonly work: 'replay' | 'compare' | 'fold';
  /** Number of completed steps; `steps` is the total. */
  readonly step: number;
  readonly steps: number;
  /** Events of this replay, rows of all comparisons so far, or rows of this fold. */
  readonly count: number;
  /** Position reached by the replay; null in the other steps. */
  readonly position: Position | null;
}

const WORKS = ['replay', 'compare', 'fold'] as const satisfies readonly VerifyProgress['work'][];

/** A snapshot is held for about this many rows, or for this long. The replay of the newest events takes additional time. */
const SLICE_ROWS = 20_000;
const SLICE_MS = 1_000;
/** Maximum number of reported differences; all of them are counted. */
const DIFFERENCES_MAX = 100;

interface FoldedRow {
  readonly id: string;
  readonly revision: number;
  readonly state: string;
}

/** The store reads streams that are requested together in one query. */
const FOLDED_TOGETHER = 64;

/** Folds a stream up to the row's revision. Returns the difference from the row, if there is one. */
const foldDifference = async (
  log: EventLog,
  { table, category, decider, textOf }: AggregateRows,
  { id, revision, state }: FoldedRow,
  leftOut: LeftOut,
): Promise<readonly Difference[]> => {
  let folded = decider.initial;
  let unreadable: unknown = null;
  for await (const page of readDecoded(log, `${category}-${id}` as StreamName)) {
    for (const one of page) {
      const recorded = one instanceof UnreadableEvent ? one.recorded : one;
      if (recorded.revision > revision || leftOut.has(recorded)) continue;
      if (one instanceof UnreadableEvent) unreadable = one.reason;
      else folded = decider.evolve(folded, one.event);
    }
  }
  const replayed = unreadable === null ? textOf(folded) : faultText(unreadable);
  return replayed === state ? [] : [{ table: `${table} (fold of ${category}-${id})`, live: state, replayed }];
};

/**
 * Compares each row with the fold of its stream. Independent of the projections' own code. Needs no snapshot, because each row has the
 * revision up to which it is folded.
 */
async function* foldDifferences(
  session: Sql,
  log: EventLog,
  projection: Projection,
  onPage: (rows: number) => void,
  signal?: AbortSignal,
): AsyncGenerator<Difference> {
  const { name, aggregates = [] } = projection;
  let read = 0;
  for (const rowsOf of aggregates) {
    const { table, stored } = rowsOf;
    const text = `SELECT id, revision, ${stored} AS state FROM ${liveSchema(name)}.${table} WHERE id > $1 ORDER BY id LIMIT ${PAGE}`;
    const pageAfter = (last: FoldedRow | null) => session.query<FoldedRow>(text, [last?.id ?? '']);
    for await (const rows of pagesOf(PAGE, pageAfter, (all) => all)) {
      // Read after the rows: events that a retry or a new fault moves in or out of this list later lie beyond their revisions.
      const leftOut = await readLeftOut(session, log, name);
      for (let at = 0; at < rows.length; at += FOLDED_TOGETHER) {
        signal?.throwIfAborted();
        const some = rows.slice(at, at + FOLDED_TOGETHER);
        yield* (await Promise.all(some.map((row) => foldDifference(log, rowsOf, row, leftOut)))).flat();
      }
      read += rows.length;
      onPage(read);
    }
  }
}

/** Differences found in all read models. */
class Findings {
  rows = 0;
  readonly differences: Difference[] = [];
  differenceCount = 0;

  note(difference: Difference): void {
    if (this.differenceCount++ < DIFFERENCES_MAX) this.differences.push(difference);
  }
}

interface Comparison {
  readonly live: LeaderSession;
  readonly copy: LeaderSession;
  readonly log: EventLog;
  readonly signal: AbortSignal | undefined;
  readonly findings: Findings;
  readonly sliceRows: number;
}

const assertVersion = (projection: Projection, live: Checkpoint | undefined): void => {
  if (['outdated', 'newer'].includes(conditionOf(projection, live)))
    throw new AlreadyRunning(`${projection.name} is rebuilt in another version: verify when that has ended`);
};

/** The progress of the live copy, and the events that it has left out. */
interface LiveState {
  readonly front: Front;
  readonly leftOut: LeftOut;
}

const liveState = async (db: Sql, projection: Projection, log: EventLog): Promise<LiveState> => {
  const { name } = projection;
  const checkpoints = (await readPositions(db, [name])).get(name) ?? [];
  assertVersion(projection, checkpoints[0]);
  return { front: frontOf(checkpoints), leftOut: await readLeftOut(db, log, name) };
};

/**
 * Replays a read model into a separate copy and compares the rows, slice by slice: the copy follows the live one to the position of each
 * slice's snapshot. Returns the last position at which rows were compared.
 */
const compareWithReplay = async (
  comparison: Comparison,
  projection: Projection,
  reporting: (work: VerifyProgress['work']) => (count: number, position?: Position | null) => void,
): Promise<Position | null> => {
  const { live, copy, log, signal } = comparison;
  const beside = new ReplayedCopy(projection, copy, log, signal);
  try {
    const { front, leftOut } = await liveState(live, projection, log);
    const replayed = reporting('replay');
    await beside.reach(front, leftOut, (to, events) => replayed(events, to));
    const compared = reporting('compare');
    const tables = projection.tables.map((table) => new TableComparison(projection, table));
    let at = leastOf(front);
    while (tables.some(({ isDone }) => !isDone)) {
      // Most of the events recorded meanwhile are replayed before the snapshot.
      const near = await liveState(live, projection, log);
      await beside.reach(near.front, near.leftOut);
      at = await compareSlice(comparison, projection, beside, tables, compared);
    }
    return at;
  } finally {
    await beside.drop();
  }
};

/** Compares rows until the slice is full, in one snapshot of each copy, both at the same position. Returns the position. */
const compareSlice = (
  { live, copy, log, signal, findings, sliceRows }: Comparison,
  projection: Projection,
  beside: ReplayedCopy,
  tables: readonly TableComparison[],
  onPage: (rows: number) => void,
): Promise<Position | null> =>
  live.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Before the snapshot: a copy swapped in after it would appear empty.
    const names = projection.tables.map(({ name }) => `${liveSchema(projection.name)}.${name}`);
    await tx.query(`LOCK TABLE ${names} IN ACCESS SHARE MODE`);
    const { front, leftOut } = await liveState(tx, projection, log);
    await beside.reach(front, leftOut);
    const beganAtMs = performance.now();
    let rows = 0;
    const isFull = (): boolean => {
      signal?.throwIfAborted();
      if (++findings.rows % PAGE === 0) onPage(findings.rows);
      return ++rows >= sliceRows || performance.now() - beganAtMs > SLICE_MS;
    };
    await copy.transaction(async (other) => {
      await other.query('SET TRANSACTION READ ONLY');
      for (const table of tables) {
        if (!table.isDone) await table.slice(tx, other, isFull, (found) => findings.note(found));
        if (!table.isDone) return;
      }
    });
    return leastOf(front);
  });

/** Verifies all read models. If the signal aborts it, it throws and removes its copies and locks. Throws AlreadyRunning. */
export const verify = async (
  projections: readonly Projection[],
  log: EventLog,
  openSession: OpenLeaderSession,
  signal?: AbortSignal,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
  sliceRows = SLICE_ROWS,
): Promise<VerifyReport> => {
  const steps = projections.length * WORKS.length;
  const names = projections.map(({ name }) => name);
  const live = await openSession('verify');
  const copy = await openSession('verify');
  try {
    if (!(await copy.tryLead('verify'))) throw new AlreadyRunning('another verify is running');
    const checkpoints = await readCheckpoints(copy, names);
    for (const projection of projections) assertVersion(projection, checkpoints.get(projection.name));
    await holdRetention(copy);
    const findings = new Findings();
    const positions: (Position | null)[] = [];
    for (const [index, projection] of projections.entries()) {
      const reporting = (work: VerifyProgress['work']) => {
        const step = index * WORKS.length + WORKS.indexOf(work);
        return (count: number, position: Position | null = null): void =>
          onProgress({ projection: projection.name, work, step, steps, count, position });
      };
      const comparison = { live, copy, log, signal, findings, sliceRows };
      positions.push(await compareWithReplay(comparison, projection, reporting));
      for await (const found of foldDifferences(live, log, projection, reporting('fold'), signal)) findings.note(found);
      for (const { table, text } of projection.checks ?? [])
        for (const row of (await live.query<Omit<Difference, 'table'>>(text)).rows) findings.note({ table, ...row });
    }
    const position = positions.includes(null) ? null : (positions.toSorted()[0] ?? null);
    const { rows, differences, differenceCount } = findings;
    return { position, rows, differences, differenceCount, parked: await readParked(live, names) };
  } finally {
    await live.close();
    await copy.close();
  }
};
