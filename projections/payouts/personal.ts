// Searches requested payouts of all accounts for a person (rule L1), and lists old ones for their erasure (rule L3).

import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { PersonalPayouts, Place } from '../../application/ports/personalData.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import type { Payout, PayoutId } from '../../domain/payout/payout.ts';
import { mentions } from '../engine/mentions.ts';
import { tenantsAfter } from '../engine/tenants.ts';
import { FIRST } from '../payments/personal.ts';

/** Payouts per statement. */
const PAGE = 1_000;

interface Row {
  readonly id: PayoutId;
  readonly state: string;
  readonly is_found: boolean;
}

export const personalPayouts = (db: Sql): PersonalPayouts => ({
  mentioning: (person, after) => {
    const { condition, value } = mentions(person, '$3', ['state']);
    return pagesOf(
      PAGE,
      (last: Row | null) =>
        db.query<Row>(
          `SELECT id, CASE WHEN ${condition} THEN state ELSE '' END AS state, ${condition} AS is_found FROM rm_payouts.requested
           WHERE created_at IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`,
          [last?.id ?? after?.id ?? '', PAGE, value],
        ),
      (rows) => rows.filter((row) => row.is_found).map(({ state }) => JSON.parse(state) as Payout),
    );
  },
  tenantsAfter: (after, limit) => tenantsAfter(db, 'rm_payouts.requested', after, limit),
  createdBefore: async ({ accountId, mode }, before, after, limit) => {
    const { createdAt, id } = after ?? FIRST;
    const { rows } = await db.query<Place<PayoutId>>(
      `SELECT id, ${asTimestamp('created_at')} AS "createdAt" FROM rm_payouts.requested
       WHERE account_id = $1 AND mode = $2 AND created_at >= $3 AND (created_at > $3 OR id < $4) AND created_at < $5
       ORDER BY created_at, id DESC LIMIT $6`,
      [accountId, mode, createdAt, id, before, limit],
    );
    return rows;
  },
});
