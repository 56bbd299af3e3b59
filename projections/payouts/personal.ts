// Searches requested payouts of all accounts for a person (rule L1), and lists old ones for their erasure (rule L3).

import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { PersonalPayouts, Place } from '../../application/ports/personalData.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import type { Payout, PayoutId } from '../../domain/payout/payout.ts';
import { mentions } from '../engine/mentions.ts';

/** Payouts per statement. */
const PAGE = 1_000;
const FIRST: Place<string> = { createdAt: '0001-01-01T00:00:00.000Z' as Timestamp, id: '' };

interface Row {
  readonly id: PayoutId;
  readonly state: string;
  readonly is_found: boolean;
}

export const personalPayouts = (db: Sql): PersonalPayouts => ({
  mentioning: (person) => {
    const { condition, value } = mentions(person, '$3', ['state']);
    return pagesOf(
      PAGE,
      (last: Row | null) =>
        db.query<Row>(
          `SELECT id, CASE WHEN ${condition} THEN state ELSE '' END AS state, ${condition} AS is_found FROM rm_payouts.requested
           WHERE created_at IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`,
          [last?.id ?? '', PAGE, value],
        ),
      (rows) => rows.filter((row) => row.is_found).map(({ state }) => JSON.parse(state) as Payout),
    );
  },
  tenants: async () => {
    const { rows } = await db.query<{ account_id: AccountId; mode: Mode }>(
      'SELECT DISTINCT account_id, mode FROM rm_payouts.requested ORDER BY account_id, mode',
    );
    return rows.map(({ account_id: accountId, mode }) => ({ accountId, mode }));
  },
  createdBefore: async ({ accountId, mode }, before, after, limit) => {
    const { createdAt, id } = after ?? FIRST;
    const { rows } = await db.query<{ id: PayoutId; created_ms: number }>(
      `SELECT id, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms FROM rm_payouts.requested
       WHERE account_id = $1 AND mode = $2 AND created_at >= $3 AND (created_at > $3 OR id < $4) AND created_at < $5
       ORDER BY created_at, id DESC LIMIT $6`,
      [accountId, mode, createdAt, id, before, limit],
    );
    return rows.map((row) => ({ id: row.id, createdAt: fromMillis(row.created_ms) }));
  },
});
