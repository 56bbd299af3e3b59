// With ERASE_AFTER_RETENTION, data whose retention has passed is erased, in bounded turns that continue where the last one ended (rule L3).
import { expect } from 'chai';
import { eraseAfterRetention, PER_RUN } from '../../../../application/privacy/retention.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';

describe('erasure after the retention (L3)', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({ retentionYears: 0 });
  });
  after(() => gateway.close());

  const run = (more: object = {}) =>
    eraseAfterRetention({ ...gateway.gateway.needs, erasesAfterRetention: true, ...more });
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

  it('erases what has ended, looks again at what has not, and does nothing while it is off', async () => {
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

  it('erases nothing before its time', async () => {
    const merchant = await Merchant.open(gateway);
    const id = await paid(merchant);
    await gateway.untilProjected();
    await run({ retentionYears: 1 });
    expect(await erasedAmong([id])).to.deep.equal([]);
  });

  it('a turn is bounded, and the next one goes on', async () => {
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
});
