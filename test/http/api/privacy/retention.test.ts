// With ERASE_AFTER_RETENTION, data is erased after its retention, in bounded turns that resume where the last one ended (rule L3).
import { expect } from 'chai';
import { asTimestamp } from '../../../../application/ports/sql.ts';
import {
  eraseAfterRetention,
  PER_RUN,
  type RetentionTurns,
  TENANTS_PER_RUN,
} from '../../../../application/privacy/retention.ts';
import type { Tenant } from '../../../../domain/kernel/ids.ts';
import { addMillis, HOUR_MS, type Timestamp } from '../../../../domain/kernel/time.ts';
import { allTenants, tenantsAfter } from '../../../../projections/engine/tenants.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';
import { paymentStream, poison } from '../../../world/poison.ts';

describe('erasure after the retention (L3)', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({ retentionYears: 0 });
  });
  after(() => gateway.close());

  /** Runs two hours from now, because newer items are left for later. */
  const run = (more: object = {}, turns: RetentionTurns = new Map()) => {
    const { needs } = gateway.gateway;
    const clock = { now: () => needs.clock.now() + 2 * HOUR_MS };
    return eraseAfterRetention({ ...needs, clock, erasesAfterRetention: true, ...more }, turns);
  };
  const erasedAmong = async (ids: readonly string[]): Promise<readonly string[]> => {
    const { commands } = gateway.gateway;
    const { PAYMENT } = await import('../../../../domain/payment/aggregate.ts');
    const found: string[] = [];
    for (const id of ids) {
      const { state } = await commands.load(PAYMENT, PAYMENT.stream(rawIdOf(id) as never));
      if (state.charge.status !== 'absent' && state.charge.erasedAt !== undefined) found.push(id);
    }
    return found;
  };
  const paid = async (merchant: Merchant): Promise<string> => {
    const { id } = await merchant.charge({ customer: { name: 'Ana Souza' } });
    await merchant.pay(id);
    return id;
  };

  it('erases ended payments, defers open ones, and does nothing while it is disabled', async () => {
    const merchant = await Merchant.open(gateway);
    const first = await paid(merchant);
    const { id: open } = await merchant.charge({ customer: { name: 'Ana Souza' } });
    const last = await paid(merchant);
    await gateway.untilProjected();
    await run({ erasesAfterRetention: false });
    await run({ mayWork: () => false });
    expect(await erasedAmong([first, open, last])).to.deep.equal([]);
    await run();
    expect(await erasedAmong([first, open, last])).to.deep.equal([first, last]);
    await merchant.pay(open);
    await gateway.untilProjected();
    await run();
    expect(await erasedAmong([open]), 'it is looked at again later').to.deep.equal([]);
    await gateway.storage.operations.query("UPDATE operations.retention_deferred SET look_at = now() - interval '1 s'");
    await run();
    expect(await erasedAmong([open])).to.deep.equal([open]);
    const { rowCount } = await gateway.storage.operations.query('SELECT FROM operations.retention_deferred');
    expect(rowCount).to.equal(0);
  });

  it('erases nothing before the retention ends', async () => {
    const merchant = await Merchant.open(gateway);
    const id = await paid(merchant);
    await gateway.untilProjected();
    await run({ retentionYears: 1 });
    expect(await erasedAmong([id])).to.deep.equal([]);
  });

  it('erases a bounded number per turn and continues in the next one', async () => {
    const merchant = await Merchant.open(gateway);
    const ids = [await paid(merchant), await paid(merchant), await paid(merchant)];
    await gateway.untilProjected();
    const { personalPayments } = gateway.gateway.needs;
    const asked: number[] = [];
    const counted = {
      ...personalPayments,
      createdBefore: (...args: Parameters<typeof personalPayments.createdBefore>) => {
        asked.push(args[3]);
        return personalPayments.createdBefore(args[0], args[1], args[2], Math.min(args[3], 2));
      },
    };
    await run({ personalPayments: counted });
    expect(asked.every((limit) => limit <= PER_RUN)).to.equal(true);
    const once = await erasedAmong(ids);
    await run({ personalPayments: counted });
    expect([once.length, await erasedAmong(ids)]).to.deep.equal([2, ids]);
  });

  it('covers a bounded number of tenants per turn and stays with one that has more', async () => {
    const length = 2 * TENANTS_PER_RUN + 50;
    const all = Array.from({ length }, (_, n) => ({ accountId: String(n).padStart(4, '0'), mode: 'test' }) as Tenant);
    const looked: string[] = [];
    let of300 = 2 * PER_RUN;
    const personalPayments = {
      tenantsAfter: async (after: Tenant | null, limit: number) =>
        all.filter(({ accountId }) => accountId > (after?.accountId ?? '')).slice(0, limit),
      createdBefore: async ({ accountId }: Tenant, _before: unknown, _after: unknown, limit: number) => {
        looked.push(accountId);
        if (accountId !== '0300') return [];
        const places = Array.from({ length: Math.min(of300, limit) }, () => ({ id: 'none', createdAt: '' }));
        of300 -= places.length;
        return places;
      },
    };
    const retentionProgress = {
      due: async () => [],
      lookedAt: async () => null,
      setLookedAt: async () => undefined,
      forget: async () => undefined,
    };
    const commands = { execute: async () => ({ reply: 'erased' }) };
    const personalPayouts = { tenantsAfter: async () => [] };
    const turns: RetentionTurns = new Map();
    const turn = async () => {
      looked.length = 0;
      const accounts = { now: async () => '2026-11-01T00:00:00.000Z' };
      await run({ personalPayments, personalPayouts, retentionProgress, commands, accounts }, turns);
      return [looked[0], looked.at(-1), looked.length];
    };
    expect(await turn()).to.deep.equal(['0000', '0199', 200]);
    expect(await turn()).to.deep.equal(['0200', '0300', 101]);
    expect(await turn()).to.deep.equal(['0300', '0300', 1]);
    expect(await turn()).to.deep.equal(['0300', '0449', 150]);
    expect(await turn()).to.deep.equal(['0000', '0199', 200]);
  });

  /** Returns the times before which items were created that a run at noon on 2 November 2031 looks at. */
  const lookedBefore = async (retentionYears: number): Promise<readonly unknown[]> => {
    const asked: unknown[] = [];
    const personalPayments = {
      tenantsAfter: async () => [{ accountId: '0000', mode: 'test' }],
      createdBefore: async (_tenant: Tenant, before: unknown) => {
        asked.push(before);
        return [];
      },
    };
    const clock = { now: () => Date.parse('2031-11-02T12:00:00.000Z') };
    await run({ personalPayments, clock, retentionYears });
    return asked;
  };
  it('looks at items a day after their years have passed, because they end after their creation', async () => {
    expect(await lookedBefore(5)).to.deep.equal(['2026-11-01T12:00:00.000Z']);
  });
  it('looks at items an hour after their creation if no years must pass, because their rows may appear out of order', async () => {
    expect(await lookedBefore(0)).to.deep.equal(['2031-11-02T11:00:00.000Z']);
  });

  it('finds payments created before an instant, but not at it', async () => {
    const id = rawIdOf(await paid(await Merchant.open(gateway)));
    await gateway.untilProjected();
    const { rows } = await gateway.storage.reads.query<Tenant & { createdAt: Timestamp }>(
      `SELECT account_id AS "accountId", mode, ${asTimestamp('created_at')} AS "createdAt" FROM rm_payments.payments WHERE id = $1`,
      [id],
    );
    const [payment] = rows as [Tenant & { createdAt: Timestamp }];
    const { personalPayments } = gateway.gateway.needs;
    const found = async (before: Timestamp) =>
      (await personalPayments.createdBefore(payment, before, null, 10)).map((one) => one.id);
    expect(await found(payment.createdAt)).to.deep.equal([]);
    expect(await found(addMillis(payment.createdAt, 1))).to.deep.equal([id]);
  });

  it('finds each tenant once', async () => {
    await Merchant.open(gateway).then(paid);
    await gateway.untilProjected();
    const { reads } = gateway.storage;
    const { rows } = await reads.query<Tenant>(
      'SELECT DISTINCT account_id AS "accountId", mode FROM rm_payments.payments ORDER BY 1, 2',
    );
    expect(rows.length).to.be.above(1);
    const table = 'rm_payments.payments';
    const found: Tenant[] = [];
    for await (const tenant of allTenants(reads, table)) found.push(tenant);
    expect(found).to.deep.equal(rows);
    const one = await tenantsAfter(reads, table, null, 1);
    expect([...one, ...(await tenantsAfter(reads, table, one[0] as Tenant, 1_000))]).to.deep.equal(rows);
  });

  it('defers unreadable payments, goes on with the others, and then fails', async () => {
    const merchants = [await Merchant.open(gateway), await Merchant.open(gateway)];
    merchants.sort((a, b) => (a.tenant.accountId < b.tenant.accountId ? -1 : 1)); // in the order of their turns
    const [sick, well] = [merchants[0]!, merchants[1]!];
    const unreadable = await paid(sick);
    const others = [await paid(sick), await paid(well)];
    await gateway.untilProjected();
    await poison(gateway, sick.tenant, paymentStream(unreadable));
    const ended = () =>
      run().then(
        () => 'done',
        ({ name }: Error) => name,
      );
    expect([await ended(), await erasedAmong(others)]).to.deep.equal(['StreamUnreadable', others]);
    expect(await ended()).to.equal('done');
    const later = [await paid(sick), await paid(well)];
    await gateway.untilProjected();
    await gateway.storage.operations.query("UPDATE operations.retention_deferred SET look_at = now() - interval '1 s'");
    expect([await ended(), await erasedAmong(later)]).to.deep.equal(['StreamUnreadable', later]);
    const { rows } = await gateway.storage.operations.query('SELECT id FROM operations.retention_deferred');
    expect(rows).to.deep.equal([{ id: rawIdOf(unreadable) }]);
  });
});
