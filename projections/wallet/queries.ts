// Queries of the balances of one account and mode, and of the postings of one stream.

import type { DisputesRest, LedgerReads, LedgerSums } from '../../application/ports/readModels/ledger.ts';
import type { CurrencyBalance, KeptPosting, Release, WalletViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

interface Row {
  currency: string;
  available: number;
  pending: number;
  retained: number;
  next_release_ms: number | null;
  next_release_amount: number | null;
}

/** Returns the balances of all currencies ever used, in alphabetical order. */
export const findBalances = async (db: Sql, { accountId, mode }: Tenant): Promise<readonly CurrencyBalance[]> => {
  const { rows } = await db.query<Row>({
    name: 'find_balances',
    text: `SELECT b.currency, b.available, b.pending, b.retained, h.next_release_ms, h.next_release_amount FROM (
        SELECT currency,
          coalesce(sum(amount) FILTER (WHERE ledger_account = 'merchant_available'), 0)::bigint AS available,
          coalesce(sum(amount) FILTER (WHERE ledger_account = 'merchant_pending'), 0)::bigint AS pending,
          coalesce(sum(amount) FILTER (WHERE ledger_account = 'merchant_retained'), 0)::bigint AS retained
        FROM rm_wallet.balances WHERE account_id = $1 AND mode = $2 GROUP BY currency) b
      LEFT JOIN LATERAL (
        SELECT (extract(epoch FROM release_at) * 1000)::bigint AS next_release_ms, sum(amount)::bigint AS next_release_amount
        FROM rm_wallet.held_tranches WHERE account_id = $1 AND mode = $2 AND currency = b.currency
        GROUP BY release_at ORDER BY release_at LIMIT 1) h ON true
      ORDER BY b.currency`,
    values: [accountId, mode],
  });
  return rows.map(({ currency, available, pending, retained, next_release_ms: ms, next_release_amount: amount }) => ({
    currency,
    available,
    pending,
    retained,
    nextRelease: ms === null || amount === null ? null : { at: fromMillis(ms), amount },
  }));
};

export const walletViews = (db: Sql): WalletViews => ({
  balances: (tenant) => findBalances(db, tenant),
  releases: async ({ accountId, mode }, limit) => {
    const { rows } = await db.query<Release>(
      `SELECT to_char(release_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') AS day, currency, sum(amount)::bigint AS amount,
         count(*)::integer AS payments
       FROM rm_wallet.held_tranches WHERE account_id = $1 AND mode = $2 GROUP BY 1, 2 ORDER BY 1, 2 LIMIT $3`,
      [accountId, mode, limit],
    );
    return rows;
  },
  postings: async (stream) => {
    const { rows } = await db.query<KeptPosting>(
      `SELECT revision, line, ledger_account AS account, currency, amount FROM rm_wallet.postings
     WHERE stream = $1 ORDER BY revision, line`,
      [stream],
    );
    return rows;
  },
});

const sumsOf = async (db: Sql): Promise<LedgerSums> => {
  const { rows: sums } = await db.query<LedgerSums['sums'][number]>(
    'SELECT currency, sum(amount)::bigint AS sum, count(*) AS postings FROM rm_wallet.postings GROUP BY currency ORDER BY currency',
  );
  const { rows: entries } = await db.query<LedgerSums['entries'][number]>(
    'SELECT stream, payment_id, revision, sum(amount)::bigint AS sum FROM rm_wallet.postings GROUP BY stream, payment_id, revision, currency HAVING sum(amount) <> 0 LIMIT 100',
  );
  const { rows: balances } = await db.query<LedgerSums['balances'][number]>(
    `SELECT account_id, mode, currency, ledger_account, coalesce(b.amount, 0)::bigint AS balance, coalesce(p.amount, 0)::bigint AS postings
     FROM rm_wallet.balances b FULL JOIN (
       SELECT account_id, mode, currency, ledger_account, sum(amount) AS amount FROM rm_wallet.postings GROUP BY 1, 2, 3, 4) p
     USING (account_id, mode, currency, ledger_account) WHERE b.amount IS DISTINCT FROM p.amount LIMIT 100`,
  );
  return { sums, entries, balances };
};

export const ledgerReads = (db: Sql): LedgerReads => ({
  sums: () => sumsOf(db),
  disputesRests: async (tenant) => {
    const { rows } = await db.query<DisputesRest>(
      `SELECT account_id, mode, currency, amount::bigint AS rest FROM rm_wallet.balances
       WHERE ledger_account = 'disputes' AND amount <> 0 AND ($1::text IS NULL OR (account_id = $1 AND mode = $2))
       ORDER BY account_id, mode, currency LIMIT 1000`,
      [tenant?.accountId ?? null, tenant?.mode ?? null],
    );
    return rows;
  },
});
