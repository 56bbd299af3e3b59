// Reserves money for payouts in Postgres, with one database function under the wallet's lock (ADR 0013).
import type { PayoutFunds, Reservation } from '../../application/ports/payoutFunds.ts';
import type { SqlPool } from '../../application/ports/sql.ts';

type Outcome = Awaited<ReturnType<PayoutFunds['reserve']>>;

/** Maximum number of reservations per query. */
const RESERVATIONS_MAX = 1_000;

const IN_LEDGER = `EXISTS (SELECT FROM rm_wallet.entries e WHERE e.stream = 'payout-' || r.payout_id)`;

export const payoutFunds = (db: SqlPool): PayoutFunds => ({
  reserve: async ({ payoutId, accountId, mode, currency, amount, fee, at, countPerHour, sumPerHour, after }) => {
    const { rows } = await db.query<{ outcome: Outcome }>({
      name: 'reserve_payout',
      text: 'SELECT operations.reserve_payout($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS outcome',
      values: [payoutId, accountId, mode, currency, amount, fee, at, countPerHour, sumPerHour, after],
    });
    return (rows[0] as (typeof rows)[number]).outcome;
  },
  forgetPosted: async () => {
    await db.query(`DELETE FROM operations.payout_reservations r WHERE ${IN_LEDGER}`);
  },
  olderThan: async (ageMs) => {
    const { rows } = await db.query<Reservation>(
      `SELECT r.payout_id AS "payoutId", r.account_id AS "accountId", r.mode, r.token::text AS token
       FROM operations.payout_reservations r WHERE r.reserved_at < now() - $1 * interval '1 ms' AND NOT ${IN_LEDGER}
       ORDER BY r.reserved_at LIMIT ${RESERVATIONS_MAX}`,
      [ageMs],
    );
    return rows;
  },
  release: async ({ payoutId, accountId, token }) => {
    await db.query('SELECT operations.release_payout($1, $2, $3::uuid)', [payoutId, accountId, token]);
  },
});
