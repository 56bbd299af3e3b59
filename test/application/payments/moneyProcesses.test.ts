// Settlement, expiry and returns when providers don’t answer, and after crashes between any two steps.

import { expect } from 'chai';
import { takeAcquirerFacts } from '../../../application/payments/acquirerOutcomes.ts';
import { payments } from '../../../application/payments/capability.ts';
import { release } from '../../../application/payments/fundsRelease.ts';
import { reviewHeld } from '../../../application/payments/heldPayments.ts';
import { returnPayment, sendBack } from '../../../application/payments/rejectedPaymentReturn.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import { PayloadsFailed } from '../../../application/ports/jobs.ts';
import { UnknownAtProvider, unlessUnknown } from '../../../application/ports/paymentProvider.ts';
import type {
  NotificationKey,
  ProviderNotification,
  ProviderNotifications,
} from '../../../application/ports/providerNotifications.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { DAY_MS, MINUTE_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { settleIncomingPayment } from '../../../domain/payment/settle.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { incoming, LOCKED_TO, plain, SETTLED_AT, SOMEBODY_ELSE } from '../../support/samples.ts';
import { settleNotification } from '../../support/settleNotification.ts';

/** The table of notifications, in memory. */
class Told implements ProviderNotifications {
  readonly rows = new Map<string, ProviderNotification>();
  readonly handled: string[] = [];
  async store(notification: ProviderNotification): Promise<boolean> {
    const isNew = !this.rows.has(notification.reference);
    if (isNew) this.rows.set(notification.reference, notification);
    return isNew;
  }
  async unreported(keys: readonly NotificationKey[]): Promise<readonly boolean[]> {
    return keys.map(({ reference }) => !this.rows.has(reference));
  }
  async find({ reference }: NotificationKey): Promise<ProviderNotification | null> {
    return this.rows.get(reference) ?? null;
  }
  async markHandled({ reference }: NotificationKey, outcome: 'settled' | 'not_confirmed'): Promise<void> {
    this.handled.push(`${reference} ${outcome}`);
  }
  async startJob(): Promise<void> {}
  wake(): void {}
  async *unhandled(): AsyncGenerator<readonly []> {
    yield [];
  }
}
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('the money processes on Postgres', () => {
  let core: Core;
  let settler: Settler;
  let told: Told;
  let pixes = 0;
  before(async () => {
    core = await openCore();
    const { commands, accounts, provider: providers } = core;
    settler = new Settler({ commands, accounts, providers });
  });
  after(() => core.close());
  beforeEach(() => {
    told = new Told();
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.calls.length = 0;
    core.provider.returns.clear();
  });
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  const historyOf = (id: PaymentId) => core.eventsOf(PAYMENT.stream(id));
  const typesOf = async (id: PaymentId) => (await historyOf(id)).map(({ type }) => type);
  const OPEN = ['ChargeCreated', 'ChargePixIssued'];
  /** Returns a charge that has a Pix at the provider. */
  const paid = async (
    pix: Partial<IncomingPayment> = {},
    lock: string | null = null,
  ): Promise<{ id: PaymentId; providerPaymentId: string }> => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid, expectedPayerTaxId: lock });
    const providerPaymentId = `E${String(++pixes)}`;
    core.provider.incomingPayments.set(txid, [incoming({ providerPaymentId, ...pix })]);
    return { id, providerPaymentId };
  };
  const killedOn = (type: string) => {
    core.spies.beforeAppend = async (_stream, events) => {
      if (events.some((event) => event.type === type)) throw new EventStoreUnavailable('killed');
    };
  };

  describe('settlement', () => {
    const needs = () => {
      const { commands, provider: providers } = core;
      const takeFacts = takeAcquirerFacts({ commands, providers });
      return {
        commands,
        notifications: told,
        providers,
        settler,
        takeFacts,
        takeCases: async () => undefined,
        resumeIssuing: async () => undefined,
      };
    };
    const settle = async ({ id, providerPaymentId }: { id: PaymentId; providerPaymentId: string }) => {
      const tenant = { accountId: core.account.accountId, mode: 'test' as const };
      await told.store({ tenant, kind: 'payment', reference: providerPaymentId, paymentId: id });
      return settleNotification(needs())({ ...tenant, reference: providerPaymentId });
    };
    it('asks the provider and credits the confirmed payment, once', async () => {
      const pix = await paid();
      await settle(pix);
      await settle(pix);
      expect(await typesOf(pix.id)).to.deep.equal([...OPEN, 'TransactionSettled']);
      expect(core.provider.calls).to.deep.equal([
        `findPayment ${pix.providerPaymentId}`,
        `findPayment ${pix.providerPaymentId}`,
      ]);
    });
    it('records nothing while the provider does not answer, and settles when repeated', async () => {
      const pix = await paid();
      core.provider.next('findPayment', 'unknown');
      expect(await thrown(settle(pix))).to.be.instanceOf(UnknownAtProvider);
      expect([await typesOf(pix.id), told.handled]).to.deep.equal([OPEN, []]);
      await settle(pix);
      expect(await typesOf(pix.id)).to.deep.equal([...OPEN, 'TransactionSettled']);
      expect(told.handled).to.deep.equal([`${pix.providerPaymentId} settled`]);
    });
    it('credits nothing that the provider does not confirm', async () => {
      const id = await core.openCharge();
      await settle({ id, providerPaymentId: 'E-forged' });
      expect([await typesOf(id), told.handled]).to.deep.equal([OPEN, ['E-forged not_confirmed']]);
    });
    it('uses the provider’s amount, not the notification’s', async () => {
      const pix = await paid({ amount: toMinor(1) });
      await settle(pix);
      expect(await typesOf(pix.id)).to.deep.equal([...OPEN, 'TransactionPaymentRejected']);
    });
    it('settles once when repeated after a crash before the record', async () => {
      const pix = await paid();
      killedOn('TransactionSettled');
      expect(await thrown(settle(pix))).to.be.instanceOf(EventStoreUnavailable);
      core.spies.beforeAppend = null;
      expect([await typesOf(pix.id), told.handled]).to.deep.equal([OPEN, []]);
      await settle(pix);
      expect(await typesOf(pix.id)).to.deep.equal([...OPEN, 'TransactionSettled']);
    });
    it('settles once if run concurrently', async () => {
      const pix = await paid();
      await Promise.all(Array.from({ length: 5 }, () => settle(pix)));
      expect(await typesOf(pix.id)).to.deep.equal([...OPEN, 'TransactionSettled']);
    });
    describe('of a locked charge whose payer the bank does not identify', () => {
      const nameless = () => paid({ payer: { name: 'X', document: null } }, LOCKED_TO);
      const CHECKS = [
        ['match', 'TransactionSettled'],
        ['mismatch', 'TransactionPaymentRejected'],
        ['unknown', 'TransactionHeld'],
      ] as const;
      for (const [check, type] of CHECKS)
        it(`records ${type} once if the provider’s payer check returns ${check}`, async () => {
          const pix = await nameless();
          core.provider.payers.set(pix.providerPaymentId, check);
          await settle(pix);
          core.provider.payers.set(pix.providerPaymentId, 'match'); // A later result does not change the decision.
          await settle(pix);
          expect(await typesOf(pix.id)).to.deep.equal([...OPEN, type]);
          expect(core.provider.calls).to.include(`checkPayer ${pix.providerPaymentId}`);
        });
      it('checks the payer if the document is masked', async () => {
        for (const [check, type] of CHECKS) {
          const pix = await paid({ payer: { name: 'X', document: '***.911.111-**' } }, LOCKED_TO);
          core.provider.payers.set(pix.providerPaymentId, check);
          await settle(pix);
          expect(await typesOf(pix.id)).to.deep.equal([...OPEN, type]);
        }
      });
      it('does not check the payer if the bank reports the document or the charge has no payer lock', async () => {
        const named = await paid({}, LOCKED_TO);
        const unlocked = await paid({ payer: { name: 'X', document: null } });
        for (const pix of [named, unlocked]) await settle(pix);
        expect(core.provider.calls.filter((call) => call.startsWith('checkPayer'))).to.deep.equal([]);
        for (const { id } of [named, unlocked])
          expect(await typesOf(id)).to.deep.equal([...OPEN, 'TransactionSettled']);
      });
    });
    it('does nothing for an unknown notification', async () => {
      await settleNotification(needs())({ accountId: core.account.accountId, mode: 'test', reference: 'E-none' });
      expect([core.provider.calls, told.handled]).to.deep.equal([[], []]);
    });
  });

  describe('returns', () => {
    type Payload = { readonly paymentId: PaymentId; readonly providerPaymentId: string };
    type Rejected = { readonly id: PaymentId; readonly providerPaymentId: string; readonly payload: Payload };
    const rejected = async (): Promise<Rejected> => {
      const { id, providerPaymentId } = await paid({ payer: { name: 'X', document: SOMEBODY_ELSE } }, LOCKED_TO);
      const arrived = incoming({ providerPaymentId, payer: { name: 'X', document: SOMEBODY_ELSE } });
      expect(await settler.settle(id, plain(arrived))).to.equal('refunded');
      return { id, providerPaymentId, payload: { paymentId: id, providerPaymentId } };
    };
    const refusals: (Tenant & { readonly reason: string })[] = [];
    const alerts = {
      returnRefused: (tenant: Tenant, refused: { readonly reason: string }) =>
        void refusals.push({ ...tenant, ...refused }),
    };
    const back = (payload: Payload) => {
      const { commands, accounts, provider: providers } = core;
      return sendBack({ commands, accounts, providers, alerts })(payload);
    };
    beforeEach(() => void refusals.splice(0));
    const REJECTED = [...OPEN, 'TransactionPaymentRejected'];
    const UNANSWERED = [...REJECTED, 'TransactionReturnOutcomeUnknown'];
    const REFUSED = { kind: 'refused', reason: 'The balance is too low.' } as const;

    it('return the full amount by its end-to-end id, once', async () => {
      const { id, providerPaymentId, payload } = await rejected();
      await back(payload);
      await back(payload);
      expect(await typesOf(id)).to.deep.equal([...REJECTED, 'TransactionPaymentReturned']);
      expect([...core.provider.returns.values()]).to.deep.equal([{ providerPaymentId, amount: 12_345 }]);
      expect(core.provider.calls).to.have.length(1);
    });
    it('record an unknown outcome once, and reuse the return id when repeated', async () => {
      const { id, payload } = await rejected();
      for (const _ of [1, 2]) {
        core.provider.next('returnPayment', 'unknown');
        expect(await thrown(back(payload))).to.be.instanceOf(UnknownAtProvider);
        expect(await typesOf(id)).to.deep.equal(UNANSWERED);
      }
      await back(payload);
      expect(await typesOf(id)).to.deep.equal([...UNANSWERED, 'TransactionPaymentReturned']);
      expect(core.provider.returns.size).to.equal(1);
      expect(new Set(core.provider.calls).size).to.equal(1);
    });
    it('are recorded once when repeated after a crash between the return and its record', async () => {
      const { id, providerPaymentId, payload } = await rejected();
      killedOn('TransactionPaymentReturned');
      expect(await thrown(back(payload))).to.be.instanceOf(EventStoreUnavailable);
      core.spies.beforeAppend = null;
      expect([await typesOf(id), core.provider.returns.size]).to.deep.equal([REJECTED, 1]);
      await back(payload);
      expect(await typesOf(id)).to.deep.equal([...REJECTED, 'TransactionPaymentReturned']);
      expect([...core.provider.returns.values()]).to.deep.equal([{ providerPaymentId, amount: 12_345 }]);
      expect(core.provider.calls).to.have.length(2);
    });
    it('accept the refusal of a repeat only after 10 minutes, because the first order may be its cause (V9)', async () => {
      const { id, payload } = await rejected();
      core.provider.next('returnPayment', { kind: 'unknown' });
      expect(await thrown(back(payload))).to.be.instanceOf(UnknownAtProvider);
      const sentAt = core.clock.nowMs;
      for (const ms of [1_000, 10 * MINUTE_MS - 1]) {
        core.clock.nowMs = sentAt + ms;
        core.provider.next('returnPayment', REFUSED);
        expect(await thrown(back(payload))).to.be.instanceOf(UnknownAtProvider);
        expect([await typesOf(id), refusals.length]).to.deep.equal([UNANSWERED, 0]);
      }
      core.clock.nowMs = sentAt + 10 * MINUTE_MS;
      core.provider.next('returnPayment', REFUSED);
      await back(payload);
      expect([await typesOf(id), refusals.length]).to.deep.equal([[...UNANSWERED, 'TransactionReturnRefused'], 1]);
    });
    it('accept a refusal that the provider lists at once, even after a lost answer', async () => {
      const { id, payload } = await rejected();
      core.provider.next('returnPayment', { kind: 'unknown' });
      expect(await thrown(back(payload))).to.be.instanceOf(UnknownAtProvider);
      core.provider.next('returnPayment', { ...REFUSED, isListed: true });
      await back(payload);
      expect(await typesOf(id)).to.deep.equal([...UNANSWERED, 'TransactionReturnRefused']);
    });
    it('don’t accept an early refusal of the repeat after a kill before the first answer was recorded (V9)', async () => {
      const { id, payload } = await rejected();
      core.provider.next('returnPayment', REFUSED);
      const { commands, accounts, provider: providers } = core;
      const handler = payments.jobs
        ?.find(({ kind }) => kind === returnPayment)
        ?.handler({ commands, accounts, providers, alerts } as never);
      const running = handler?.run([payload], null, true, new AbortController().signal);
      expect(await thrown(running ?? Promise.resolve())).to.be.instanceOf(PayloadsFailed);
      expect(await typesOf(id)).to.deep.equal(UNANSWERED);
    });
    it('don’t accept a refusal of the first order that took 3 seconds (V9)', async () => {
      for (const [ms, last] of [
        [2_999, 'TransactionReturnRefused'],
        [3_000, 'TransactionReturnOutcomeUnknown'],
      ] as const) {
        const { id, payload } = await rejected();
        core.provider.next('returnPayment', REFUSED);
        const { commands, accounts, provider } = core;
        const slow = {
          returnPayment: (...of: Parameters<typeof provider.returnPayment>) => {
            core.clock.nowMs += ms;
            return provider.returnPayment(...of);
          },
        };
        const providers = { of: async () => slow } as never;
        await sendBack({ commands, accounts, providers, alerts })(payload).catch(unlessUnknown);
        expect((await typesOf(id)).at(-1)).to.equal(last);
      }
    });
    it('count the 10 minutes from the first order, even with a disabled connection, and again for a new id', async () => {
      const { id, payload } = await rejected();
      const disabled = { of: async () => null, route: async () => [] };
      const { commands, accounts } = core;
      const idle = sendBack({ commands, accounts, providers: disabled, alerts })(payload);
      expect(await thrown(idle)).to.be.instanceOf(UnknownAtProvider);
      expect(await typesOf(id)).to.deep.equal(REJECTED);
      core.clock.nowMs += 120 * MINUTE_MS;
      for (const answer of [{ kind: 'unknown' } as const, REFUSED]) {
        core.provider.next('returnPayment', answer);
        expect(await thrown(back(payload))).to.be.instanceOf(UnknownAtProvider);
      }
      core.clock.nowMs += 10 * MINUTE_MS;
      core.provider.next('returnPayment', REFUSED);
      await back(payload);
      await reviewHeld(core)(id, 'return', { actor: 'operator:ana', requestId: null });
      for (const answer of [{ kind: 'unknown' } as const, REFUSED]) {
        core.provider.next('returnPayment', answer);
        expect(await thrown(back(payload))).to.be.instanceOf(UnknownAtProvider);
      }
      const AGAIN = ['TransactionReturnRefused', 'TransactionReturnRetried', 'TransactionReturnOutcomeUnknown'];
      expect(await typesOf(id)).to.deep.equal([...UNANSWERED, ...AGAIN]);
    });
    it('record and alert about a refusal once, and are not requested again', async () => {
      const { id, providerPaymentId, payload } = await rejected();
      core.provider.next('returnPayment', { kind: 'refused', reason: 'account closed' });
      await back(payload);
      await back(payload);
      expect((await historyOf(id)).slice(3)).to.deep.equal([
        {
          type: 'TransactionReturnRefused',
          data: { providerPaymentId, amount: 12_345, currency: 'BRL', reason: 'account closed', at: SETTLED_AT },
        },
      ]);
      expect(core.provider.calls).to.have.length(1);
      const { accountId } = core.account;
      expect(refusals).to.deep.equal([
        { accountId, mode: 'test', paymentId: id, providerPaymentId, reason: 'account closed' },
      ]);
    });
    it('use a new return id each time an operator retries a refused one', async () => {
      const { id, providerPaymentId, payload } = await rejected();
      for (const _ of [1, 2]) {
        core.provider.next('returnPayment', { kind: 'refused', reason: 'account closed' });
        await back(payload);
        const reviewed = await reviewHeld(core)(id, 'return', { actor: 'operator:ana', requestId: null });
        expect(isRejection(reviewed) || reviewed.isNew).to.equal(true);
      }
      await back(payload);
      const ASKED = ['TransactionReturnRefused', 'TransactionReturnRetried'];
      expect(await typesOf(id)).to.deep.equal([...REJECTED, ...ASKED, ...ASKED, 'TransactionPaymentReturned']);
      expect(new Set(core.provider.calls).size).to.equal(3);
      expect([...core.provider.returns.values()]).to.deep.equal([{ providerPaymentId, amount: 12_345 }]);
      expect(refusals).to.have.length(2);
    });
    it('record a refusal when repeated after a crash before its record', async () => {
      const { id, payload } = await rejected();
      const refuse = () => core.provider.next('returnPayment', { kind: 'refused', reason: 'account closed' });
      killedOn('TransactionReturnRefused');
      refuse();
      expect(await thrown(back(payload))).to.be.instanceOf(EventStoreUnavailable);
      core.spies.beforeAppend = null;
      refuse();
      await back(payload);
      expect([await typesOf(id), refusals.length]).to.deep.equal([[...REJECTED, 'TransactionReturnRefused'], 1]);
    });
    it('support a provider payment id that contains colons', async () => {
      const { id } = await paid({}, LOCKED_TO);
      const providerPaymentId = 'acquirer:payment:7';
      await settler.settle(id, plain(incoming({ providerPaymentId, payer: { name: 'X', document: SOMEBODY_ELSE } })));
      await back({ paymentId: id, providerPaymentId });
      expect(await typesOf(id)).to.deep.equal([...REJECTED, 'TransactionPaymentReturned']);
      expect([...core.provider.returns.values()]).to.deep.equal([{ providerPaymentId, amount: 12_345 }]);
    });
    it('never return a settled payment', async () => {
      const { id, providerPaymentId } = await paid();
      await settler.settle(id, plain(incoming({ providerPaymentId })));
      await back({ paymentId: id, providerPaymentId });
      expect([await typesOf(id), core.provider.calls]).to.deep.equal([[...OPEN, 'TransactionSettled'], []]);
    });
  });

  describe('releases of funds', () => {
    const run = (id: PaymentId) => release({ commands: core.commands, accounts: core.accounts })({ paymentId: id });
    /** Settles a payment on an account that holds Pix money for this many days. */
    const heldFor = async (holdDays: number): Promise<PaymentId> => {
      const { id, providerPaymentId } = await paid();
      const decide = settleIncomingPayment({
        incoming: incoming({ providerPaymentId }),
        isPlain: true,
        payerCheck: 'unknown',
        fees: core.account.settings.fees,
        holdDays: { ...core.account.settings.holdDays, PIX: holdDays },
        returnId: 'r',
        at: SETTLED_AT,
      });
      await core.commands.execute(PAYMENT, PAYMENT.stream(id), decide, why(core.account.accountId));
      return id;
    };
    it('wait for the end of the hold and are recorded once', async () => {
      const id = await heldFor(2);
      await run(id);
      expect(await typesOf(id)).to.deep.equal([...OPEN, 'TransactionSettled']);
      core.clock.nowMs += 2 * DAY_MS;
      await run(id);
      await run(id);
      const data = { amount: 12_212, currency: 'BRL', at: '2026-11-23T13:05:01.000Z' };
      expect((await historyOf(id)).slice(3)).to.deep.equal([{ type: 'TransactionFundsReleased', data }]);
    });
    it('do nothing for money available at once, and for unpaid or unknown charges', async () => {
      const items = [await heldFor(0), await core.openCharge(), newId<PaymentId>()];
      const head = await core.store.head();
      for (const id of items) await run(id);
      expect(await core.store.head()).to.equal(head);
    });
  });
});
