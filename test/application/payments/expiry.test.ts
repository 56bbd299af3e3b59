// The expiry of charges when the provider has a payment or does not answer (rules M4, I8a).

import { expect } from 'chai';
import { takeAcquirerFacts } from '../../../application/payments/acquirerOutcomes.ts';
import { expireCharge } from '../../../application/payments/expiry.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { type Issuance, recordIssuances } from '../../../domain/payment/create.ts';
import { erasePayment } from '../../../domain/payment/erase.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import {
  at,
  CREATED_AT,
  EXPIRES_AT,
  incoming,
  LOCKED_TO,
  plain,
  SETTLED_AT,
  SOMEBODY_ELSE,
} from '../../support/samples.ts';
import { boleto, card, crypto } from '../../world/instruments.ts';

const OPEN = ['ChargeCreated', 'ChargePixIssued'];
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('the expiry of charges on Postgres', () => {
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
  /** Returns a charge that has a Pix at the provider. */
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
  it('asks the provider first and then records the expiry time, once', async () => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid });
    core.clock.nowMs = toMillis(at('14:07:00'));
    await expire(id);
    await expire(id);
    expect((await historyOf(id)).slice(2)).to.deep.equal([{ type: 'ChargeExpired', data: { at: EXPIRES_AT } }]);
    expect(core.provider.calls).to.deep.equal([`paymentsOf ${txid}`]);
  });
  it('stays pending while the provider does not answer, and is recorded when repeated', async () => {
    const id = await core.openCharge({ txid: newId<string>() });
    core.clock.nowMs = toMillis(EXPIRES_AT);
    core.provider.next('paymentsOf', 'unknown');
    expect(await thrown(expire(id))).to.be.instanceOf(UnknownAtProvider);
    expect(await typesOf(id)).to.deep.equal(OPEN);
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'ChargeExpired']);
  });
  it('settles a timely payment that is reported only now', async () => {
    const id = await paid();
    core.clock.nowMs = toMillis(at('15:00:00'));
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'TransactionSettled']);
  });
  it('settles a timely Pix, although the card was declined after the Pix code had expired', async () => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid, methods: ['CREDIT_CARD', 'PIX'], api: 'payments' }, at('13:01:00'));
    const issue = recordIssuances([{ method: 'CREDIT_CARD', instrument: card() }], CREATED_AT);
    await core.commands.execute(PAYMENT, PAYMENT.stream(id), issue, why(core.account.accountId));
    const pix = incoming({ providerPaymentId: `E${String(++pixes)}`, paidAt: at('13:00:30') });
    core.provider.incomingPayments.set(txid, [pix]);
    core.provider.facts.set(txid, [{ kind: 'refused', method: 'CREDIT_CARD', reason: 'no', at: at('13:01:10') }]);
    await takeAcquirerFacts({ commands: core.commands, providers: core.provider })(id);
    core.clock.nowMs = toMillis(at('13:30:00'));
    await expire(id, undefined, 'CREDIT_CARD');
    expect((await typesOf(id)).slice(3)).to.deep.equal(['TransactionRefused', 'TransactionSettled']);
  });
  it('returns a Pix of a payer-locked charge that is reported after the charge expired and was erased', async () => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid, expectedPayerTaxId: LOCKED_TO });
    core.clock.nowMs = toMillis(EXPIRES_AT);
    await expire(id);
    const wish = { by: 'operator:ana', reason: 'A request.', retentionYears: 5, despiteRetention: true };
    const because = why(core.account.accountId);
    await core.commands.execute(PAYMENT, PAYMENT.stream(id), erasePayment(wish, EXPIRES_AT), because);
    const pix = incoming({ providerPaymentId: `E${String(++pixes)}`, payer: { name: 'X', document: SOMEBODY_ELSE } });
    expect(await settler.settle(id, plain(pix))).to.equal('returned');
    expect((await typesOf(id)).slice(3)).to.deep.equal(['PaymentPersonalDataErased', 'TransactionPaymentRejected']);
  });
  it('rejects a late payment and expires the charge', async () => {
    const id = await paid({ paidAt: at('14:00:01') });
    core.clock.nowMs = toMillis(at('15:00:00'));
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'TransactionPaymentRejected', 'ChargeExpired']);
  });
  it('tolerates a clock that is 4 seconds behind the one that found the charge due', async () => {
    const id = await core.openCharge({ txid: newId<string>() });
    core.clock.nowMs = toMillis(EXPIRES_AT) - 4_000;
    await expire(id);
    expect(await typesOf(id)).to.deep.equal([...OPEN, 'ChargeExpired']);
  });
  describe('while another instrument is being issued (I8a)', () => {
    /** Returns a payment whose Pix code expires at 13:01:00, and whose boleto is being issued. */
    const half = () =>
      core.openCharge({ txid: newId<string>(), methods: ['PIX', 'BOLETO'], api: 'payments' }, at('13:01:00'));
    const record = (id: PaymentId, issuance: Issuance) => {
      const decide = recordIssuances([issuance], at('13:09:00'));
      return core.commands.execute(PAYMENT, PAYMENT.stream(id), decide, why(core.account.accountId));
    };
    it('does not happen, and asks no provider', async () => {
      const id = await half();
      core.clock.nowMs = toMillis(at('13:01:01'));
      await expire(id);
      await record(id, { method: 'BOLETO', instrument: boleto() });
      await expire(id, undefined, 'BOLETO');
      expect([await typesOf(id), core.provider.calls]).to.deep.equal([[...OPEN, 'ChargeInstrumentIssued'], []]);
    });
    for (const [name, dueAt] of [
      ['', undefined],
      [', also if the test clock jumped over all of it (X5)', at('13:09:00')],
    ] as const)
      it(`happens when that instrument is refused after the last expiry${name}`, async () => {
        const id = await half();
        core.clock.nowMs = toMillis(at('13:09:00'));
        await expire(id, dueAt && at('13:01:00'));
        await record(id, { method: 'BOLETO', refused: { reason: 'no', providerErrorCode: 'declined' } });
        await expire(id, dueAt, 'BOLETO');
        const end = { type: 'ChargeExpired', data: { at: at('13:01:00') } };
        expect((await historyOf(id)).slice(3)).to.deep.equal([end]);
      });
    it('does not happen when that instrument is refused before the last expiry', async () => {
      const id = await half();
      core.clock.nowMs = toMillis(at('13:00:30'));
      await record(id, { method: 'BOLETO', refused: { reason: 'no', providerErrorCode: 'declined' } });
      await expire(id, undefined, 'BOLETO');
      expect(await typesOf(id)).to.deep.equal([...OPEN, 'ChargeInstrumentRefused']);
    });
  });
  describe('of instruments that expire within the same few seconds (I8a)', () => {
    const SECOND_LAST = at('13:59:57');
    /** Returns a payment whose Pix code expires at 13:59:57 and whose crypto address expires at 14:00:00. */
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
    it('happens at the last instrument’s expiry, not at the first one’s', async () => {
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
    it('happens by the first instrument’s timer if it runs after the last expiry', async () => {
      const id = await two();
      core.clock.nowMs = toMillis(EXPIRES_AT);
      await expire(id);
      expect(await ends(id)).to.deep.equal([{ type: 'ChargeExpired', data: { at: EXPIRES_AT } }]);
    });
    it('is left to the last instrument’s timer if the test clock jumped over both (X5)', async () => {
      const id = await two();
      core.clock.nowMs = toMillis(at('15:00:00'));
      await expire(id, SECOND_LAST);
      expect(await ends(id)).to.deep.equal([]);
      await expire(id, EXPIRES_AT, 'CRYPTO');
      expect(await ends(id)).to.deep.equal([{ type: 'ChargeExpired', data: { at: EXPIRES_AT } }]);
    });
  });
  it('does not happen before its time', async () => {
    const id = await core.openCharge({ txid: newId<string>() });
    core.clock.nowMs = toMillis(CREATED_AT);
    await expire(id);
    expect(await typesOf(id)).to.deep.equal(OPEN);
  });
});
