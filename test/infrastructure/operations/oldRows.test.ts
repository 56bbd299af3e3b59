// Operational rows are deleted when nothing needs them anymore, and not before.
import { expect } from 'chai';
import { oldRows } from '../../../infrastructure/operations/oldRows.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { useDatabase } from '../../world/postgres.ts';

const DAY = 86_400;
const HOUR = 3_600;

/** `insert` creates row `$1` with an age of `$2` seconds. The row is kept for `keptSeconds`. */
interface Case {
  readonly table: string;
  readonly insert: string;
  readonly keptSeconds: number;
}
const aged = (table: string, columns: string, values: string): Case => ({
  table,
  insert: `INSERT INTO ${table} (${columns}) VALUES (${values.replaceAll('AGO', "now() - $2 * interval '1 s'")})`,
  keptSeconds: 180 * DAY,
});
const CASES: readonly Case[] = [
  aged(
    'operations.provider_notifications',
    'account_id, mode, reference, payment_id, received_at, handled_at, outcome',
    "'a', 'live', $1, 'p', AGO, AGO, 'settled'",
  ),
  aged(
    'sandbox_bank.payments',
    'account_id, provider_payment_id, txid, amount, paid_at, booked_at',
    "'a', $1, 't', 1, now(), AGO",
  ),
  aged(
    'sandbox_bank.returns',
    'account_id, return_id, provider_payment_id, amount, returned_at',
    "'a', $1, 'e', 1, AGO",
  ),
  aged(
    'sandbox_bank.refunds',
    'account_id, refund_id, provider_payment_id, strategy, amount, status, booked_at',
    "'a', $1, 'e', 'devolution', 1, 'confirmed', AGO",
  ),
  aged(
    'sandbox_bank.payouts',
    'account_id, payout_id, destination, amount, status, booked_at',
    "'a', $1, 'k', 1, 'confirmed', AGO",
  ),
  aged('sandbox_bank.instruments', 'account_id, txid, answer_at', "'a', $1, AGO"),
  aged(
    'sandbox_bank.facts',
    'account_id, txid, number, kind, method, at, booked_at',
    "'a', $1, 1, 'refused', 'PIX', now(), AGO",
  ),
  aged(
    'sandbox_bank.cases',
    'account_id, provider_case_id, payment_id, txid, type, opened_at, booked_at',
    "'a', $1, 'p', 't', 'med', now(), AGO",
  ),
  aged(
    'sandbox_bank.case_rulings',
    'account_id, provider_case_id, number, result, returned, review, at, booked_at',
    "'a', $1, 2, 'agreed', true, false, now(), AGO",
  ),
];
/** Each statement inserts one place of the account `$1`, with its totals. */
const PLACES = [
  {
    places: 'velocity_reservations',
    insert: `WITH t AS (INSERT INTO operations.velocity_totals (account_id, charges, counted_from) VALUES ($1, 1, now() - interval '1 day')
        ON CONFLICT DO NOTHING)
      INSERT INTO operations.velocity_reservations VALUES ($1 || $2::text, $1, 'x', now() - $2::int * interval '1 s')`,
    totals: 'velocity_totals',
  },
  {
    places: 'refund_reservations',
    insert: `WITH t AS (INSERT INTO operations.refund_totals VALUES ($1, '', 1, 0, now()) ON CONFLICT DO NOTHING)
      INSERT INTO operations.refund_reservations VALUES ($1 || $2::text, $1, 'BRL', 1, now() - $2::int * interval '1 s')`,
    totals: 'refund_totals',
  },
  {
    places: 'payouts_of_hour',
    insert: `WITH t AS (INSERT INTO operations.payout_totals VALUES ($1, '', 1, 0, now()) ON CONFLICT DO NOTHING)
      INSERT INTO operations.payouts_of_hour (payout_id, account_id, currency, amount, reserved_at)
        VALUES ($1 || $2::text, $1, 'BRL', 1, now() - $2::int * interval '1 s')`,
    totals: 'payout_totals',
  },
];

describe('old operational rows', () => {
  let db: PgPool;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  const count = async (table: string): Promise<number> =>
    (await db.query<{ count: number }>(`SELECT count(*) FROM ${table}`)).rows[0]?.count ?? 0;

  for (const { table, insert, keptSeconds } of CASES)
    it(`of ${table} are deleted after ${keptSeconds / DAY} days and not before`, async () => {
      await db.query(insert, ['old', keptSeconds + 60]);
      await db.query(insert, ['young', keptSeconds - 60]);
      expect(await oldRows(db).deleteSome()).to.equal(false);
      expect(await count(table)).to.equal(1);
      const { rows } = await db.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t`);
      expect(rows[0]?.row).to.contain('young');
      await oldRows(db).deleteSome();
      expect(await count(table)).to.equal(1);
    });

  it('of unhandled notifications are kept, however old', async () => {
    await db.query('TRUNCATE operations.provider_notifications');
    await db.query(
      `INSERT INTO operations.provider_notifications (account_id, mode, reference, payment_id, received_at)
       VALUES ('a', 'live', 'waiting', 'p', now() - interval '10 years')`,
    );
    await oldRows(db).deleteSome();
    expect(await count('operations.provider_notifications')).to.equal(1);
  });

  it('are deleted in batches, with a flag whether there are more', async () => {
    await db.query('TRUNCATE sandbox_bank.returns');
    await db.query(
      `INSERT INTO sandbox_bank.returns (account_id, return_id, provider_payment_id, amount, returned_at)
       SELECT 'a', n::text, 'e', 1, now() - interval '181 days' FROM generate_series(1, 1500) n`,
    );
    expect([await oldRows(db).deleteSome(), await count('sandbox_bank.returns')]).to.deep.equal([true, 500]);
    expect([await oldRows(db).deleteSome(), await count('sandbox_bank.returns')]).to.deep.equal([false, 0]);
  });

  for (const { places, insert, totals } of PLACES)
    it(`of ${places} are deleted with their totals for idle accounts, and kept for active ones`, async () => {
      for (const [account, age] of [
        ['idle', 3 * HOUR + 60],
        ['idle', 5 * HOUR],
        ['active', 5 * HOUR],
        ['active', 60],
        ['resting', 3 * HOUR - 60],
      ])
        await db.query(insert, [account, age]);
      for (const _ of [1, 2]) {
        await oldRows(db).deleteIdlePlaces();
        const left = `SELECT account_id AS account FROM operations.${places} ORDER BY 1`;
        const accounts = (await db.query<{ account: string }>(left)).rows.map(({ account }) => account);
        expect(accounts).to.deep.equal(['active', 'active', 'resting']);
        const counted = await db.query<{ account: string }>(
          `SELECT account_id AS account FROM operations.${totals} ORDER BY 1`,
        );
        expect(counted.rows.map(({ account }) => account)).to.deep.equal(['active', 'resting']);
      }
    });

  it('of idle accounts with many places are deleted in steps', async () => {
    await db.query('TRUNCATE operations.velocity_reservations, operations.velocity_totals');
    await db.query(
      `INSERT INTO operations.velocity_reservations SELECT 'p' || n, 'a' || n % 3, 'x', now() - interval '4 hours' FROM generate_series(1, 450) n`,
    );
    const left = async () => [await oldRows(db).deleteIdlePlaces(), await count('operations.velocity_reservations')];
    expect(await left()).to.deep.equal([true, 250]);
    expect(await left()).to.deep.equal([true, 50]);
    expect(await left()).to.deep.equal([false, 0]);
  });

  it('of an account with a decision in progress are kept until the next run', async () => {
    await db.query(PLACES[0]?.insert ?? '', ['deciding', 4 * HOUR]);
    await db.transaction(async (tx) => {
      await tx.query("SELECT pg_advisory_xact_lock(hashtextextended('velocity deciding', 0))");
      await oldRows(db).deleteIdlePlaces();
      expect(await count('operations.velocity_reservations')).to.equal(1);
    });
    await oldRows(db).deleteIdlePlaces();
    expect(await count('operations.velocity_reservations')).to.equal(0);
  });
});
