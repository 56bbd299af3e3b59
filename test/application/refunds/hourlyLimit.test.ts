// The hourly limit of refunds, while the remainder of the payment changes (M7b).
import { expect } from 'chai';
import { metadataForProcess } from '../../../application/core/eventMetadata.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { requestRefund } from '../../../application/refunds/requestRefund.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { assertExists } from '../../../domain/payment/payment.ts';
import { releaseRefund } from '../../../domain/payment/refund.ts';
import { type Core, newId, openCore } from '../../support/core.ts';
import { at, incoming, plain } from '../../support/samples.ts';

describe('a refund of the whole remainder', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());

  it('takes no more than was counted, although another refund failed meanwhile', async () => {
    const { commands, accounts, provider, account } = core;
    const paymentId = await core.openCharge({ mode: 'live', txid: newId() });
    const stream = PAYMENT.stream(paymentId);
    await new Settler({ commands, accounts, providers: provider }).settle(paymentId, plain(incoming()));
    const counted: number[] = [];
    let meanwhile = async (): Promise<void> => undefined;
    const refundGuard = {
      reserve: async ({ amount }: { readonly amount: number }) => {
        counted.push(amount);
        await meanwhile();
        return 'reserved' as const;
      },
    };
    const settings = { ...account.settings, refundVelocity: { countPerHour: null, sumPerHour: 12_345 } };
    const needs = {
      ...{ commands, providers: { of: async () => ({ paysOut: false }) }, providerConnections: {}, refundGuard },
      accounts: { get: async () => ({ ...account, settings }), now: async () => at('15:00:00') },
    };
    const ask = async (idempotencyKey: string, amount?: number) => {
      const body = { idempotencyKey, strategy: 'devolution', ...(amount !== undefined && { amount }) };
      const by = { account, mode: 'live', actor: 'key:a', requestId: 'r' };
      const done = await requestRefund(needs as never)({ ...by, paymentId, body } as never);
      if (isRejection(done)) throw new Error(done.message);
      return done.refund;
    };
    const first = await ask('a', 12_000);
    meanwhile = async () => {
      const { terms } = assertExists((await commands.load(PAYMENT, stream)).state).charge;
      const metadata = metadataForProcess('test', terms, paymentId, 'x');
      await commands.record(PAYMENT, stream, releaseRefund(first.refundId, 'refused', at('15:00:00')), metadata);
    };
    expect([(await ask('b')).amount, counted]).to.deep.equal([345, [12_000, 345]]);
    meanwhile = async () => undefined;
    expect([(await ask('c')).amount, counted.at(-1)]).to.deep.equal([12_000, 12_000]);
  });
});
