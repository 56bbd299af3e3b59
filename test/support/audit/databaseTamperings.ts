// Ways to tamper with the event log in the database, as someone with full access could. Each returns the entries at which it must be
// found. All events of the log are entries here, and positions start at 1.
import type pg from 'pg';
import { loseFacts } from '../lostFacts.ts';
import type { Draw } from './tamperings.ts';

interface Tampered {
  readonly at: readonly [number, number];
}
type Tamper = (sql: pg.Client, entries: number, draw: Draw) => Promise<Tampered>;

/** Changes one column of one event. */
const changed =
  (set: string, ...values: unknown[]): Tamper =>
  async (sql, entries, draw) => {
    const index = draw(entries - 1);
    await loseFacts(sql, `UPDATE event_store.events SET ${set} WHERE position = $1`, [index + 1, ...values]);
    return { at: [index, index] };
  };

const SWAP = `
  WITH gone AS (DELETE FROM event_store.events WHERE position IN ($1, $2) RETURNING *)
  SELECT * FROM gone`;
const INSERT = `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

interface EventRow {
  readonly position: string;
  readonly revision: string;
  readonly recorded_at: Date;
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}
const insert = (sql: pg.Client, row: EventRow, position: number | string): Promise<void> => {
  const { revision, recorded_at: at, id, stream, type, data, metadata } = row;
  return loseFacts(sql, INSERT, [position, revision, at, id, stream, type, data, metadata]);
};
const remove = async (sql: pg.Client, one: number, other: number): Promise<readonly EventRow[]> => {
  await sql.query('ALTER TABLE event_store.events DISABLE TRIGGER USER');
  const { rows } = await sql.query<EventRow>(SWAP, [one, other]);
  await sql.query('ALTER TABLE event_store.events ENABLE TRIGGER USER');
  return rows;
};

const SHIFT = [
  'UPDATE event_store.events SET position = -position WHERE position >= $1',
  'UPDATE event_store.events SET position = 1 - position WHERE position < 0',
];

export const DATABASE_TAMPERINGS: { readonly [what: string]: Tamper } = {
  'the data of an event': changed(`data = '{"number":7}'`),
  'a character of the data': changed(`data = overlay(data placing 'X' from 3 for 1)`),
  'the data, which is no longer JSON': changed(`data = 'gone'`),
  'the metadata of an event': changed(`metadata = replace(metadata, 'live', 'test')`),
  'the metadata, which is no longer JSON': changed(`metadata = ''`),
  'the time of an event': changed(`recorded_at = recorded_at - interval '1 millisecond'`),
  'the id of an event': changed(`id = gen_random_uuid()`),
  'the type of an event': changed(`type = 'ChargeFailed'`),
  'the revision of an event': changed('revision = revision + 100'),
  'the stream of an event': changed(`stream = stream || '0'`),
  'an event removed': async (sql, entries, draw) => {
    const index = draw(entries - 1);
    await loseFacts(sql, 'DELETE FROM event_store.events WHERE position = $1', [index + 1]);
    return { at: [index, index] };
  },
  'events removed at the end': async (sql, entries, draw) => {
    const index = entries - 1 - draw(100);
    await loseFacts(sql, 'DELETE FROM event_store.events WHERE position > $1', [index]);
    return { at: [index, index] };
  },
  'two events swapped': async (sql, entries, draw) => {
    const one = draw(entries - 2);
    const other = one + 1 + draw(entries - 2 - one);
    const [first, second] = await remove(sql, one + 1, other + 1);
    await insert(sql, first as EventRow, (second as EventRow).position);
    await insert(sql, second as EventRow, (first as EventRow).position);
    return { at: [one, one] };
  },
  'an event added': async (sql, entries, draw) => {
    const index = draw(entries - 1);
    for (const [n, text] of SHIFT.entries()) await loseFacts(sql, text, n === 0 ? [index + 1] : []);
    const { rows } = await sql.query<EventRow>('SELECT * FROM event_store.events ORDER BY position LIMIT 1');
    const added = { ...(rows[0] as EventRow), id: crypto.randomUUID(), stream: 'payment-00000000000000000000000000' };
    await insert(sql, added, index + 1);
    return { at: [index, index] };
  },
};
