// The hourly limit of refunds, while the remainder of the payment changes or requests are rejected (M7b).
import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import { metadataForProcess } from '../../../application/core/eventMetadata.ts';
import { Settler } from '../../../application/payments/settle.ts';
import type { RefundGuard } from '../../../application/ports/refundGuard.ts';
import { requestRefund } from '../../../application/refunds/requestRefund.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addMillis, MINUTE_MS } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { assertExists } from '../../../domain/payment/payment.ts';
import { releaseRefund } from '../../../domain/payment/refund.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { refundGuard } from '../../../infrastructure/refunds/refundGuard.ts';
import { type Core, newId, openCore } from '../../support/core.ts';
import { at, incoming, plain } from '../../support/samples.ts';
import { useDatabase } from '../../world/postgres.ts';

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

describe('the hourly limit of refunds', () => {
  let core: Core;
  let guard: RefundGuard;
  let db: PgPool;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  before(async () => {
    core = await openCore();
    guard = refundGuard(db);
  });
  after(() => core.close());
  beforeEach(() => db.query('TRUNCATE operations.refund_reservations, operations.refund_totals'));

  const paid = async (): Promise<PaymentId> => {
    const { commands, accounts, provider: providers } = core;
    const txid = newId<string>();
    const paymentId = await core.openCharge({ mode: 'live', txid });
    await new Settler({ commands, accounts, providers }).settle(
      paymentId,
      plain(incoming({ providerPaymentId: `E${txid}` })),
    );
    return paymentId;
  };
  interface Asked {
    readonly paymentId: PaymentId;
    readonly key: string;
    readonly countPerHour: number;
    readonly minutes?: number;
    readonly reserve?: RefundGuard['reserve'];
  }
  /** Requests a refund of the whole payment in a process of its own. Returns its outcome. */
  const ask = async ({ paymentId, key: idempotencyKey, countPerHour, minutes = 0, reserve = guard.reserve }: Asked) => {
    const { account, clock } = core;
    const commands = core.anotherProcess();
    const settings = { ...account.settings, refundVelocity: { countPerHour, sumPerHour: null } };
    const { realNow } = new Accounts(commands, clock, DECLARED_SETTINGS);
    const now = async () => addMillis(at('15:00:00'), minutes * MINUTE_MS);
    const needs = {
      ...{ commands, providers: { of: async () => ({ paysOut: false }) }, providerConnections: {} },
      accounts: { get: async () => ({ ...account, settings }), now, realNow },
      refundGuard: { ...guard, reserve },
    };
    const by = { account, mode: 'live', actor: 'key:a', requestId: 'r' };
    const body = { idempotencyKey, strategy: 'devolution' };
    const done = await requestRefund(needs as never)({ ...by, paymentId, body } as never);
    return isRejection(done) ? done.code : 'reserved';
  };

  it('does not count a refund that is rejected because another process refunded the payment first', async () => {
    const paymentId = await paid();
    let other = '';
    const reserve: RefundGuard['reserve'] = async (wish) => {
      other = await ask({ paymentId, key: 'key-of-other', countPerHour: 2 });
      return guard.reserve(wish);
    };
    const refused = await ask({ paymentId, key: 'key-of-this', countPerHour: 2, reserve });
    expect([other, refused]).to.deep.equal(['reserved', 'refund_amount_exceeds_remaining']);
    expect(await ask({ paymentId: await paid(), key: 'key-of-next', countPerHour: 2 })).to.equal('reserved');
    const beyond = await ask({ paymentId: await paid(), key: 'key-beyond', countPerHour: 2 });
    expect(beyond).to.equal('fraud.account_velocity_exceeded');
  });

  it('counts a refund from the repeat that stored it, if the first request was cut off', async () => {
    const [first, next] = [await paid(), await paid()];
    const reserve: RefundGuard['reserve'] = async (wish) => {
      await guard.reserve(wish);
      throw new Error('killed');
    };
    await ask({ paymentId: first, key: 'key-of-first', countPerHour: 1, reserve }).catch(() => undefined);
    const repeated = { paymentId: first, key: 'key-of-first', countPerHour: 1 };
    expect(await ask({ ...repeated, minutes: 59 })).to.equal('reserved');
    // A repeat of a stored refund is a replay, which counts no longer.
    expect(await ask({ ...repeated, minutes: 90 })).to.equal('reserved');
    const later = { paymentId: next, key: 'key-of-next', countPerHour: 1 };
    expect(await ask({ ...later, minutes: 118 })).to.equal('fraud.account_velocity_exceeded');
    expect(await ask({ ...later, minutes: 119 })).to.equal('reserved');
  });
});
