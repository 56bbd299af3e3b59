// The expiry of charges when the provider knows better, or does not say (rules M4, I8a).

import { expect } from 'chai';
import { expireCharge } from '../../../application/payments/expiry.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { recordIssuances } from '../../../domain/payment/create.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { at, CREATED_AT, EXPIRES_AT, incoming, SETTLED_AT } from '../../support/samples.ts';
import { crypto } from '../../world/instruments.ts';

const OPEN = ['ChargeCreated', 'ChargePixIssued'];
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('the expiry of charges, on Postgres', () => {
  let core: Core;
  let settler: Settler;
  let pixes = 0;
  before(async () => {
    core = await openCore();
    const { commands, accounts, provider: providers } = core;
    settler = new Settler({ commands, accounts, providers });
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
  });

  const historyOf = (id: PaymentId) => core.eventsOf(PAYMENT.stream(id));
  const typesOf = async (id: PaymentId) => (await historyOf(id)).map(({ type }) => type);
  /** A charge, and a Pix for it in the provider's books. */
  const paid = async (pix: Partial<IncomingPayment> = {}): Promise<PaymentId> => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid });
    core.provider.incomingPayments.set(txid, [incoming({ providerPaymentId: `E${String(++pixes)}`, ...pix })]);
    return id;
  };
  const expire = (paymentId: PaymentId, dueAt?: Timestamp, method?: PaymentMethod) => {
    const { commands, accounts } = core;
    return expireCharge({ commands, accounts, settler })({ paymentId, ...(method && { method }) }, dueAt);
  };
  it('asks the provider first, then expires at the very expiry, once', async () => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid });
    core.clock.nowMs = toMillis(at('14:07:00'));
    await expire(id);
    await expire(id);
    expect((await historyOf(id)).slice(2)).to.deep.equal([{ type: 'ChargeExpired', data: { at: EXPIRES_AT } }]);
    expect(core.provider.calls).to.deep.equal([`paymentsOf ${txid}`]);
  });
  it('stays pending while the provider does not say; the repeat expires', async () => {
    const id = await core.openCharge({ txid: newId<string>() });
    core.clock.nowMs = toMillis(EXPIRES_AT);
    core.provider.next('paymentsOf', 'unknown');
    expect(await thrown(expire(id))).to.be.instanceOf(UnknownAtProvider);
    expect(await typesOf(id)).to.deep.equal(OPEN);
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'ChargeExpired']);
  });
  it('settles what was paid in time and heard of only now', async () => {
    const id = await paid();
    core.clock.nowMs = toMillis(at('15:00:00'));
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'TransactionSettled']);
  });
  it('sends back what was paid too late, and expires', async () => {
    const id = await paid({ paidAt: at('14:00:01') });
    core.clock.nowMs = toMillis(at('15:00:00'));
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'TransactionPaymentRejected', 'ChargeExpired']);
  });
  it('by a clock that is a little behind the one that found it due: it is due', async () => {
    const id = await core.openCharge({ txid: newId<string>() });
    core.clock.nowMs = toMillis(EXPIRES_AT) - 4_000;
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'ChargeExpired']);
  });
  describe('of a payment whose instruments end within the same seconds (I8a)', () => {
    const SECOND_LAST = at('13:59:57');
    /** The Pix code ends at 13:59:57, the crypto address at 14:00:00. */
    const two = async (): Promise<PaymentId> => {
      const id = await core.openCharge(
        { txid: newId<string>(), methods: ['PIX', 'CRYPTO'], api: 'payments' },
        SECOND_LAST,
      );
      const issuance = { method: 'CRYPTO', instrument: crypto({ expiresAt: EXPIRES_AT }) } as const;
      const decide = recordIssuances([issuance], CREATED_AT);
      await core.commands.execute(PAYMENT, PAYMENT.stream(id), decide, why(core.account.accountId));
      return id;
    };
    const ends = async (id: PaymentId) => (await historyOf(id)).slice(3);
    it('the first one’s timer ends nothing: the payment ends with the last, and not before it', async () => {
      const id = await two();
      core.clock.nowMs = toMillis(SECOND_LAST);
      await expire(id);
      core.clock.nowMs = toMillis(EXPIRES_AT) - 1;
      await expire(id);
      expect([await ends(id), core.provider.calls]).to.deep.equal([[], []]);
      core.clock.nowMs = toMillis(EXPIRES_AT);
      await expire(id, undefined, 'CRYPTO');
      expect(await ends(id)).to.deep.equal([{ type: 'ChargeExpired', data: { at: EXPIRES_AT } }]);
    });
    it('the first one’s timer, worked off after the last expiry, ends it', async () => {
      const id = await two();
      core.clock.nowMs = toMillis(EXPIRES_AT);
      await expire(id);
      expect(await ends(id)).to.deep.equal([{ type: 'ChargeExpired', data: { at: EXPIRES_AT } }]);
    });
    it('a test clock that jumped over both leaves it to the last one’s timer (X5)', async () => {
      const id = await two();
      core.clock.nowMs = toMillis(at('15:00:00'));
      await expire(id, SECOND_LAST);
      expect(await ends(id)).to.deep.equal([]);
      await expire(id, EXPIRES_AT, 'CRYPTO');
      expect(await ends(id)).to.deep.equal([{ type: 'ChargeExpired', data: { at: EXPIRES_AT } }]);
    });
  });
  it('before its time is nothing', async () => {
    const id = await core.openCharge({ txid: newId<string>() });
    core.clock.nowMs = toMillis(CREATED_AT);
    await expire(id);
    expect(await typesOf(id)).to.deep.equal(OPEN);
  });
});
