import { ACCOUNT } from '../../../domain/account/account.ts';
import { seedMonth } from '../../../infrastructure/demo/seed/seedMonth.ts';
import { verify } from '../../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { runWords } from '../../support/cli.ts';
import { TestGateway } from '../../world/gateway.ts';
import { migratedDatabase } from '../../world/postgres.ts';

describe('seed', () => {
  it('runs', async function () {
    this.timeout(300_000);
    const database = await migratedDatabase();
    const gateway = await TestGateway.open({ database });
    const t = performance.now();
    const done = await seedMonth({
      baseUrl: gateway.baseUrl,
      onProgress: () => undefined,
      openShop: async ({ settings }) => {
        const { accountId, testKey } = await gateway.newTenant();
        const id = ACCOUNT.idPrefix + accountId;
        const { err, code } = await runWords(
          database.connectionString,
          'account',
          'settings',
          id,
          ...settings,
          '--rate-limit',
          'none',
        );
        if (code !== 0) throw new Error(err);
        return { accountId: id, testApiKey: testKey };
      },
    });
    console.log((performance.now() - t) / 1000, process.cpuUsage(), done);
    await gateway.untilProjected();
    const q = async (s: string) => console.log(s, (await gateway.storage.reads.query(s)).rows);
    await q(
      `SELECT currency, transaction_status, paid_with, count(*), sum(amount) FROM analytics.payments GROUP BY 1,2,3 ORDER BY 1,2,3`,
    );
    await q(`SELECT status, method, count(*), sum(amount) FROM analytics.refunds GROUP BY 1,2 ORDER BY 1`);
    await q(
      `SELECT type, status, money_outcome, count(*), sum(amount) FROM analytics.disputes GROUP BY 1,2,3 ORDER BY 1`,
    );
    await q(`SELECT kind, status, count(*), sum(amount), sum(fee) FROM analytics.payouts GROUP BY 1,2 ORDER BY 1`);
    await q(
      `SELECT event_type, status, count(*), max(attempts), min(attempts), min(last_status_code) FROM analytics.deliveries GROUP BY 1,2 ORDER BY 1`,
    );
    await q(
      `SELECT kind, currency, count(*), sum(provider_fee), sum(platform_fee), sum(merchant_fee) FROM analytics.fees GROUP BY 1,2 ORDER BY 1`,
    );
    await q(
      `SELECT currency, sum(created) c, sum(paid), sum(paid_in_5_minutes), sum(paid_in_an_hour), sum(kept), sum(expired), sum(disputed), sum(refunded_amount) FROM analytics.funnel_by_day GROUP BY 1`,
    );
    await q(
      `SELECT currency, ledger_account, sum(credits-debits), count(*) FROM analytics.daily_balances GROUP BY 1,2 ORDER BY 1,2`,
    );
    console.log((await verify(PROJECTIONS, gateway.storage, gateway.storage.openSession)).differences);
    await gateway.close();
    await database.drop();
  });
});
