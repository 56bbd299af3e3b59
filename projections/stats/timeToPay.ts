// Exact times from creation to payment, by civil day and by month of `paidAt`. A window of years reads one histogram row per month, and per
// day at its edges (rule T3).

import { LRUCache } from 'lru-cache';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import { secondsBetween } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import type { AggregateChange, DerivedTable } from '../engine/aggregateTable.ts';
import { decodeHistogram, encodeHistogram, type Histogram } from './histogram.ts';

const KEY = ['account_id', 'mode', 'period', 'currency'] as const;
/** Rows cached between batches. */
const REMEMBERED_ROWS = 500;

interface Row {
  readonly key: readonly string[];
  readonly histogram: Histogram;
}
type Change = AggregateChange<PaymentState, PaymentEvent>;

const pays = reading(PAYMENT.groups, {
  reads: ['settlement'],
  ignores: ['demand', 'methods', 'release', 'held', 'returns', 'refund', 'dispute', 'erasure'],
});

/** Returns the seconds to add, by row. */
const additionsOf = (changes: readonly Change[]): ReadonlyMap<string, Row> => {
  const rows = new Map<string, Row>();
  for (const { event, after } of changes) {
    if (!pays(event) || !exists(after.state)) continue;
    const { paidAt } = event.data.incoming;
    const { createdAt, currency } = after.state.charge.terms;
    const seconds = Math.max(0, secondsBetween(createdAt, paidAt));
    const day = saoPauloDay(paidAt);
    for (const period of [day, day.slice(0, 7)]) {
      const key = [after.account, after.mode, period, currency];
      const name = key.join('\u0000');
      const row = rows.get(name) ?? { key, histogram: new Map() };
      rows.set(name, row);
      row.histogram.set(seconds, (row.histogram.get(seconds) ?? 0) + 1);
    }
  }
  return rows;
};

class TimeToPayWriter {
  readonly #table: string;
  readonly #remembered = new LRUCache<string, Histogram>({ max: REMEMBERED_ROWS });

  constructor(schema: string) {
    this.#table = `${schema}.time_to_pay`;
  }

  reset(): void {
    this.#remembered.clear();
  }

  async apply(changes: readonly Change[], tx: Sql): Promise<void> {
    const additions = additionsOf(changes);
    if (additions.size === 0) return;
    const histograms = await this.#histogramsBefore(additions, tx);
    const texts: string[] = [];
    for (const [name, { histogram: added }] of additions) {
      const histogram = histograms.get(name) ?? new Map<number, number>();
      for (const [seconds, payments] of added) histogram.set(seconds, (histogram.get(seconds) ?? 0) + payments);
      this.#remembered.set(name, histogram);
      texts.push(encodeHistogram(histogram));
    }
    const rows = [...additions.values()];
    await tx.query({
      name: `upsert_${this.#table}`,
      text: `INSERT INTO ${this.#table} (${KEY}, histogram) SELECT * FROM unnest(${[1, 2, 3, 4, 5].map((n) => `$${n}::text[]`)})
        ON CONFLICT (${KEY}) DO UPDATE SET histogram = excluded.histogram`,
      values: [...KEY.map((_, n) => new TextArray(rows.map(({ key }) => key[n] as string))), new TextArray(texts)],
    });
  }

  /** Returns the existing rows, from the cache or the table. */
  async #histogramsBefore(additions: ReadonlyMap<string, Row>, tx: Sql): Promise<Map<string, Histogram>> {
    const before = new Map<string, Histogram>();
    const unknown: (readonly [string, Row])[] = [];
    for (const one of additions) {
      const histogram = this.#remembered.get(one[0]);
      if (histogram) before.set(one[0], histogram);
      else unknown.push(one);
    }
    if (unknown.length === 0) return before;
    const { rows } = await tx.query<{ number: number; histogram: string }>({
      name: `recall_${this.#table}`,
      text: `SELECT k.number::integer AS number, t.histogram FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
          WITH ORDINALITY AS k(${KEY}, number) JOIN ${this.#table} t USING (${KEY})`,
      values: KEY.map((_, n) => new TextArray(unknown.map(([, { key }]) => key[n] as string))),
    });
    for (const { number, histogram } of rows)
      before.set((unknown[number - 1] as (typeof unknown)[number])[0], decodeHistogram(histogram));
    return before;
  }
}

export const timeToPay: DerivedTable<PaymentState, PaymentEvent> = {
  tables: [{ name: 'time_to_pay', key: KEY }],
  ddl: (schema) =>
    `CREATE TABLE ${schema}.time_to_pay (${KEY.map((column) => `${column} text COLLATE "C" NOT NULL`)},
       histogram text COLLATE "C" NOT NULL, PRIMARY KEY (${KEY}));
     ALTER TABLE ${schema}.time_to_pay ALTER COLUMN histogram SET STORAGE EXTERNAL;`,
  writer: (schema) => new TimeToPayWriter(schema),
};
