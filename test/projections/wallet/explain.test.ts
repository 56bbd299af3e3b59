// A statement reads the entries of its month and account, and an opening balance reads day totals, among 100,000 entries (architecture
// §6).
import { expect } from 'chai';
import type { AccountId, Tenant } from '../../../domain/kernel/ids.ts';
import { statementMonth } from '../../../domain/presentation/statement.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { dailyBalancesProjection } from '../../../projections/dailyBalances/projection.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { walletProjection } from '../../../projections/wallet/projection.ts';
import { statementViews } from '../../../projections/wallet/statements.ts';
import { useDatabase } from '../../world/postgres.ts';
import { plansOf, rowsRead } from '../engine/plans.ts';

const tenantOf = (number: number): Tenant => ({ accountId: `a${number}` as AccountId, mode: 'live' });
const NOVEMBER = statementMonth('2026-11')!;
const ACCOUNTS = 20;
/** One account has 60,000 entries and the others 40,000 together, spread evenly over the ten months up to November. */
const ENTRIES = 100_000;
const MONTHS = 10;
const OF_FIRST_MONTH = 6_000;
const ACCOUNT = `CASE WHEN n % 5 < 3 THEN 'a0' ELSE 'a' || 1 + n % ${ACCOUNTS} END`;
const AT = `timestamptz '2026-11-30T12:00:00Z' - (n % 30 || ' days')::interval - (n / ${ENTRIES / MONTHS} || ' months')::interval`;
const FILL = [
  `INSERT INTO rm_wallet.entries (stream, revision, account_id, mode, currency, at, ledger_accounts, amounts)
    SELECT 'payment-' || n, 2, ${ACCOUNT}, 'live', 'BRL', ${AT}, '{provider_clearing,merchant_available}', '{-100,100}'
    FROM generate_series(0, ${ENTRIES - 1}) n`,
  `INSERT INTO rm_daily_balances.daily_movements (account_id, mode, currency, ledger_account, day, credits, debits, postings)
    SELECT account_id, mode, currency, 'merchant_available', to_char(at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD'), sum(amounts[2]), 0, count(*)
    FROM rm_wallet.entries GROUP BY 1, 2, 3, 4, 5`,
  'ANALYZE',
];

describe('queries of 100,000 ledger entries', () => {
  let db: PgPool;
  useDatabase('suite', 1, (opened) => {
    db = opened;
  });
  before(async () => {
    await createSchema(db, walletProjection, liveSchema('wallet'));
    await createSchema(db, dailyBalancesProjection, liveSchema('dailyBalances'));
    for (const statement of FILL) await db.query(statement);
  });

  const firstPageOf = async (of: Parameters<typeof statementViews>[0], tenant: Tenant) => {
    for await (const page of statementViews(of).movements(tenant, 'BRL', NOVEMBER)) return page;
    return [];
  };

  it('read at most twice the entries of a page of a statement', async () => {
    expect(await firstPageOf(db, tenantOf(0))).to.have.length(500);
    // The page, and the entries of its last instant.
    expect(rowsRead(await plansOf(db, (of) => firstPageOf(of, tenantOf(0))))).to.be.within(500, 1_000);
  });

  it('read each entry of a whole month at most three times', async () => {
    let count = 0;
    const all = async (of: Parameters<typeof statementViews>[0]) => {
      for await (const page of statementViews(of).movements(tenantOf(0), 'BRL', NOVEMBER)) count += page.length;
    };
    const read = rowsRead(await plansOf(db, all));
    expect(count).to.equal(OF_FIRST_MONTH);
    expect(read).to.be.within(OF_FIRST_MONTH, 3 * OF_FIRST_MONTH);
  });

  it('read no entries of a large account for a small one', async () => {
    const count = (await statementViews(db).summary(tenantOf(4), 'BRL', NOVEMBER, 1_000)).movements?.length ?? 0;
    expect(count).to.equal(500);
    const nodes = await plansOf(db, (of) => statementViews(of).summary(tenantOf(4), 'BRL', NOVEMBER, 1_000));
    // Movements and kinds, and at most one row per day.
    expect(rowsRead(nodes)).to.be.within(2 * count, 2 * count + MONTHS * 31);
  });

  it('read days, not entries, for an opening balance', async () => {
    const { available } = await statementViews(db).opening(tenantOf(0), 'BRL', NOVEMBER);
    expect(available).to.equal((60_000 - OF_FIRST_MONTH) * 100);
    const read = rowsRead(await plansOf(db, (of) => statementViews(of).opening(tenantOf(0), 'BRL', NOVEMBER)));
    expect(read).to.be.within(1, MONTHS * 31);
  });
});
