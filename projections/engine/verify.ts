// Compares the live read models with a full replay of the log, and each folded row with the fold of its stream. Any difference is a fault
// (architecture §6).

import { type EventLog, readDecoded, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import { AlreadyRunning } from '../../application/ports/readModelWork.ts';
import type { LeaderSession, OpenLeaderSession, Sql } from '../../application/ports/sql.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { readCheckpoints } from './checkpoints.ts';
import { type ParkedRow, readParked } from './parkedStreams.ts';
import { faultText, type LeftOut, readLeftOut } from './parking.ts';
import { liveSchema, type Projection, verifySchema } from './projection.ts';
import { replay } from './replay.ts';
import { holdRetention } from './retentionLock.ts';
import { conditionOf, createVerifyCopy, dropSchema } from './schemaVersions.ts';

export interface Difference {
  readonly table: string;
  /** The row as text, key first; null if it is missing there. */
  readonly live: string | null;
  readonly replayed: string | null;
}
interface VerifyReport {
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

const PAGE = 2_000;
/** Maximum number of reported differences; all of them are counted. */
const DIFFERENCES_MAX = 100;

type KeyValue = string | number;
interface Row {
  readonly key: readonly KeyValue[];
  readonly text: string;
}

/** Compares numbers by value, and all else by bytes of text, like an index with `COLLATE "C"`. */
const compareKeys = (one: readonly KeyValue[], other: readonly KeyValue[]): number => {
  for (const [n, value] of one.entries()) {
    const against = other[n] as KeyValue;
    const order =
      typeof value === 'number' && typeof against === 'number'
        ? value - against
        : Buffer.compare(Buffer.from(String(value)), Buffer.from(String(against)));
    if (order !== 0) return order;
  }
  return 0;
};

/** Yields the rows of a table in key order, as seen by the session's transaction. */
async function* rowsOf(
  session: Sql,
  schema: string,
  { name, key, counts = 'true' }: Projection['tables'][number],
): AsyncGenerator<Row> {
  const cursor = `verify_${schema}_${name}`;
  // Instants are compared in microseconds, because their text does not sort by time.
  const types = await session.query<{ column: string; isInstant: boolean }>(
    `SELECT attname AS "column", atttypid = 'timestamptz'::regtype AS "isInstant" FROM pg_attribute
      WHERE attrelid = '${schema}.${name}'::regclass AND attname = ANY($1::text[])`,
    [key],
  );
  const instants = new Set(types.rows.filter(({ isInstant }) => isInstant).map(({ column }) => column));
  const values = key.map((column, n) =>
    instants.has(column) ? `(extract(epoch FROM t.${column}) * 1000000)::bigint AS k${n}` : `t.${column} AS k${n}`,
  );
  await session.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${values}, t::text AS text FROM ${schema}.${name} t WHERE ${counts} ORDER BY ${key.map((k) => `t.${k}`)}`,
  );
  for (;;) {
    const { rows } = await session.query<{ text: string } & { [key: `k${number}`]: KeyValue }>(
      `FETCH ${PAGE} FROM ${cursor}`,
    );
    for (const row of rows) yield { key: key.map((_, n) => row[`k${n}`] as KeyValue), text: row.text };
    if (rows.length < PAGE) break;
  }
  await session.query(`CLOSE ${cursor}`);
}

/** Merges both sides in key order and holds only a page of each, however many rows differ. */
async function* differencesOf(
  live: Sql,
  copy: Sql,
  projection: Projection,
  table: Projection['tables'][number],
  count: () => void,
): AsyncGenerator<Difference> {
  const name = `${projection.name}.${table.name}`;
  const liveRows = rowsOf(live, liveSchema(projection.name), table);
  const replayedRows = rowsOf(copy, verifySchema(projection.name), table);
  let [one, other] = [await liveRows.next(), await replayedRows.next()];
  while (!one.done || !other.done) {
    const order = one.done ? 1 : other.done ? -1 : compareKeys(one.value.key, other.value.key);
    const here = order <= 0 ? (one.value as Row) : null;
    const there = order >= 0 ? (other.value as Row) : null;
    if (here?.text !== there?.text) yield { table: name, live: here?.text ?? null, replayed: there?.text ?? null };
    if (here !== null) {
      count();
      one = await liveRows.next();
    }
    if (there !== null) other = await replayedRows.next();
  }
}

interface FoldedRow {
  readonly id: string;
  readonly revision: number;
  readonly state: string;
}

/** Compares each row with the fold of its stream, read stream by stream. Independent of the projections' own code. */
async function* foldDifferences(
  session: Sql,
  log: EventLog,
  { name, aggregates = [] }: Projection,
  leftOut: LeftOut,
  onPage: (rows: number) => void,
  signal?: AbortSignal,
): AsyncGenerator<Difference> {
  let read = 0;
  for (const { table, category, decider, stored, textOf } of aggregates) {
    const text = `SELECT id, revision, ${stored} AS state FROM ${liveSchema(name)}.${table} WHERE id > $1 ORDER BY id LIMIT ${PAGE}`;
    const pageAfter = (last: FoldedRow | null) => session.query<FoldedRow>(text, [last?.id ?? '']);
    for await (const rows of pagesOf(PAGE, pageAfter, (all) => all)) {
      for (const { id, revision, state } of rows) {
        signal?.throwIfAborted();
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
        if (replayed !== state) yield { table: `${table} (fold of ${category}-${id})`, live: state, replayed };
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
}

/** Replays a read model into a separate copy and compares the rows. */
const compareWithReplay = async (
  { live, copy, log, signal, findings }: Comparison,
  projection: Projection,
  until: Position | null,
  leftOut: LeftOut,
  reporting: (work: VerifyProgress['work']) => (count: number, position?: Position | null) => void,
): Promise<void> => {
  const replayed = reporting('replay');
  try {
    const writer = projection.writer(await createVerifyCopy(copy, projection));
    const { store, codec } = log;
    const onTaken = (to: Position, events: number) => replayed(events, to);
    if (until !== null)
      await replay({
        ...{ store, codec, session: copy, copies: [{ projection, writer, leftOut }], after: null, until, onTaken },
        ...(signal && { signal }),
      });
    const compared = reporting('compare');
    const count = () => {
      signal?.throwIfAborted();
      if (++findings.rows % PAGE === 0) compared(findings.rows);
    };
    await copy.transaction(async (tx) => {
      await tx.query('SET TRANSACTION READ ONLY');
      for (const table of projection.tables)
        for await (const found of differencesOf(live, tx, projection, table, count)) findings.note(found);
    });
  } finally {
    await dropSchema(copy, verifySchema(projection.name));
  }
};

/** Verifies all read models. If the signal aborts it, it throws and removes its copies and locks. Throws AlreadyRunning. */
export const verify = async (
  projections: readonly Projection[],
  log: EventLog,
  openSession: OpenLeaderSession,
  signal?: AbortSignal,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<VerifyReport> => {
  const steps = projections.length * WORKS.length;
  const names = projections.map(({ name }) => name);
  const live = await openSession('verify');
  const copy = await openSession('verify');
  try {
    if (!(await copy.tryLead('verify'))) throw new AlreadyRunning('another verify is running');
    const compared = await readCheckpoints(copy, names);
    for (const projection of projections)
      if (['outdated', 'newer'].includes(conditionOf(projection, compared.get(projection.name))))
        throw new AlreadyRunning(`${projection.name} is rebuilt in another version: verify when that has ended`);
    await holdRetention(copy);
    await live.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Before the snapshot: a copy swapped in after it would appear empty.
    await live.query(
      `LOCK TABLE ${projections.flatMap(({ name, tables }) => tables.map((table) => `${liveSchema(name)}.${table.name}`))} IN ACCESS SHARE MODE`,
    );
    const checkpoints = await readCheckpoints(live, names);
    const leftOut = new Map<string, LeftOut>();
    for (const name of names) leftOut.set(name, await readLeftOut(live, log, name));
    const parked = await readParked(live, names);
    const findings = new Findings();
    for (const [index, projection] of projections.entries()) {
      const reporting = (work: VerifyProgress['work']) => {
        const step = index * WORKS.length + WORKS.indexOf(work);
        return (count: number, position: Position | null = null): void =>
          onProgress({ projection: projection.name, work, step, steps, count, position });
      };
      const leftOutHere = leftOut.get(projection.name) as LeftOut;
      const until = checkpoints.get(projection.name)?.position ?? null;
      await compareWithReplay({ live, copy, log, signal, findings }, projection, until, leftOutHere, reporting);
      const folded = foldDifferences(live, log, projection, leftOutHere, reporting('fold'), signal);
      for await (const found of folded) findings.note(found);
      for (const { table, text } of projection.checks ?? [])
        for (const row of (await live.query<Omit<Difference, 'table'>>(text)).rows) findings.note({ table, ...row });
    }
    const positions = [...checkpoints.values()].map(({ position }) => position);
    const position = positions.includes(null) ? null : (positions.toSorted()[0] ?? null);
    const { rows, differences, differenceCount } = findings;
    return { position, rows, differences, differenceCount, parked };
  } finally {
    await live.close();
    await copy.close();
  }
};
