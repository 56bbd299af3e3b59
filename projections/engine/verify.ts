// Compares the live read models with a replay of the log from zero, and each folded row with the fold of its stream. 0 differences is
// the only good answer (architecture §6).

import { type EventLog, readDecoded, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import type { StreamName } from '../../domain/kernel/event.ts';
import { payment } from '../../domain/payment/payment.ts';
import { refund } from '../../domain/refund/refund.ts';
import { webhookDelivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { readCheckpoints } from './checkpoints.ts';
import { createVerifyCopy, dropSchema } from './copies.ts';
import { faultText } from './faults.ts';
import { type ParkedRow, readParked } from './parkedStreams.ts';
import { type LeftOut, readLeftOut } from './parking.ts';
import { liveSchema, type Projection, verifySchema } from './projection.ts';
import { replay } from './replay.ts';

export interface Difference {
  readonly table: string;
  /** The row as text, key first; null when it is missing there. */
  readonly live: string | null;
  readonly replayed: string | null;
}
export interface VerifyReport {
  readonly position: Position | null;
  readonly rows: number;
  readonly differences: readonly Difference[];
  /** Streams that some read model shows as they last stood: left out of the comparison from there on. */
  readonly parked: readonly ParkedRow[];
}

const PAGE = 2_000;
/** Enough to see what is wrong; the count in the report goes on. */
const DIFFERENCES_MAX = 100;

/** Rows of a table in key order, as text. Reads what the session's transaction sees. */
async function* rowsOf(session: LeaderSession, schema: string, { name, key }: Projection['tables'][number]) {
  const cursor = `verify_${schema}_${name}`;
  await session.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ROW(${key})::text AS key, t::text AS text FROM ${schema}.${name} t ORDER BY ${key.map((k) => `t.${k}`)}`,
  );
  for (;;) {
    const { rows } = await session.query<{ key: string; text: string }>(`FETCH ${PAGE} FROM ${cursor}`);
    yield* rows;
    if (rows.length < PAGE) break;
  }
  await session.query(`CLOSE ${cursor}`);
}

/** Both sides into maps page by page would not be bounded; both are sorted alike, so a merge is enough. */
async function* differencesOf(
  live: LeaderSession,
  copy: LeaderSession,
  projection: Projection,
  table: Projection['tables'][number],
  count: () => void,
): AsyncGenerator<Difference> {
  const name = `${projection.name}.${table.name}`;
  const left = rowsOf(live, liveSchema(projection.name), table);
  const right = rowsOf(copy, verifySchema(projection.name), table);
  const pending = new Map<string, { side: 'live' | 'replayed'; text: string }>();
  const take = (side: 'live' | 'replayed', row: { key: string; text: string }): Difference | null => {
    const twin = pending.get(row.key);
    if (twin === undefined || twin.side === side) {
      pending.set(row.key, { side, text: row.text });
      return null;
    }
    pending.delete(row.key);
    if (twin.text === row.text) return null;
    return side === 'live'
      ? { table: name, live: row.text, replayed: twin.text }
      : { table: name, live: twin.text, replayed: row.text };
  };
  for (let l = await left.next(), r = await right.next(); !l.done || !r.done; ) {
    if (!l.done) {
      count();
      const found = take('live', l.value);
      if (found) yield found;
      l = await left.next();
    }
    if (!r.done) {
      const found = take('replayed', r.value);
      if (found) yield found;
      r = await right.next();
    }
  }
  for (const { side, text } of pending.values())
    yield { table: name, live: side === 'live' ? text : null, replayed: side === 'replayed' ? text : null };
}

const FOLDED = [
  { name: 'payments', schema: 'rm_payments', table: 'payments', category: 'payment', decider: payment },
  { name: 'refunds', schema: 'rm_refunds', table: 'refunds', category: 'refund', decider: refund },
  {
    name: 'webhookDeliveries',
    schema: 'rm_webhook_deliveries',
    table: 'deliveries',
    category: 'webhookDelivery',
    decider: webhookDelivery,
  },
] as const;

/** Each row against the fold of its stream by the decider, read stream by stream: independent of the projections' own code. */
async function* foldDifferences(
  session: LeaderSession,
  log: EventLog,
  leftOut: ReadonlyMap<string, LeftOut>,
): AsyncGenerator<Difference> {
  for (const { name, schema, table, category, decider } of FOLDED) {
    const fold = decider as { initial: unknown; evolve(state: unknown, event: unknown): unknown };
    for (let after = ''; ; ) {
      const { rows } = await session.query<{ id: string; revision: number; state: string }>(
        `SELECT id, revision, state FROM ${schema}.${table} WHERE id > $1 ORDER BY id LIMIT ${PAGE}`,
        [after],
      );
      for (const { id, revision, state } of rows) {
        let folded = fold.initial;
        let unreadable: unknown = null;
        for await (const page of readDecoded(log, `${category}-${id}` as StreamName)) {
          for (const one of page) {
            const recorded = one instanceof UnreadableEvent ? one.recorded : one;
            if (recorded.revision > revision || leftOut.get(name)?.has(recorded)) continue;
            if (one instanceof UnreadableEvent) unreadable = one.reason;
            else folded = fold.evolve(folded, one.event);
          }
        }
        const text = unreadable === null ? JSON.stringify(folded) : faultText(unreadable);
        if (text !== state) yield { table: `${table} (fold of ${category}-${id})`, live: state, replayed: text };
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      after = last.id;
    }
  }
}

export const verify = async (
  projections: readonly Projection[],
  log: EventLog,
  openSession: OpenLeaderSession,
): Promise<VerifyReport> => {
  const live = await openSession('verify');
  const copy = await openSession('verify');
  try {
    if (!(await copy.tryLead('verify'))) throw new Error('another verify is running');
    await live.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Before the snapshot is taken: a copy that is swapped in after it would look empty to it.
    await live.query(
      `LOCK TABLE ${projections.flatMap(({ name, tables }) => tables.map((table) => `${liveSchema(name)}.${table.name}`))} IN ACCESS SHARE MODE`,
    );
    const checkpoints = await readCheckpoints(
      live,
      projections.map(({ name }) => name),
    );
    const leftOut = new Map<string, LeftOut>();
    for (const { name } of projections) leftOut.set(name, await readLeftOut(live, log, name));
    const parked = await readParked(
      live,
      projections.map(({ name }) => name),
    );
    const differences: Difference[] = [];
    let rows = 0;
    const note = (difference: Difference) => differences.length < DIFFERENCES_MAX && differences.push(difference);
    for (const projection of projections) {
      const position = checkpoints.get(projection.name)?.position ?? null;
      const writer = projection.writer(await createVerifyCopy(copy, projection));
      if (position !== null)
        await replay({
          ...log,
          session: copy,
          projection,
          writer,
          leftOut: leftOut.get(projection.name) as LeftOut,
          after: null,
          until: position,
        });
      await copy.query('BEGIN READ ONLY');
      for (const table of projection.tables)
        for await (const found of differencesOf(live, copy, projection, table, () => rows++)) note(found);
      await copy.query('COMMIT');
      await dropSchema(copy, verifySchema(projection.name));
    }
    for await (const found of foldDifferences(live, log, leftOut)) note(found);
    const positions = [...checkpoints.values()].map(({ position }) => position);
    const position = positions.includes(null) ? null : (positions.toSorted()[0] ?? null);
    return { position, rows, differences, parked };
  } finally {
    await live.close();
    await copy.close();
  }
};
