// What acquirers report about a payment besides money, and the notifications of it.

import { expect } from 'chai';
import { takeProviderCases } from '../../../application/disputes/takeProviderCases.ts';
import { takeAcquirerFacts } from '../../../application/payments/acquirerOutcomes.ts';
import { InstrumentIssuer } from '../../../application/payments/issueInstruments.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import type { AcquirerFact, ProviderCase } from '../../../application/ports/paymentProvider.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { ProviderNotification } from '../../../application/ports/providerNotifications.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { createCharge, recordIssuances } from '../../../domain/payment/create.ts';
import { assertExists } from '../../../domain/payment/payment.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { at, CREATED_AT, incoming, SETTLED_AT, terms } from '../../support/samples.ts';
import { settleNotification } from '../../support/settleNotification.ts';
import { boleto, card } from '../../world/instruments.ts';
import { memoryTimers } from '../../world/memoryTimers.ts';

const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );
const fact = (kind: AcquirerFact['kind'], over: Partial<AcquirerFact> = {}): AcquirerFact => ({
  kind,
  method: 'CREDIT_CARD',
  reason: null,
  at: at('13:04:00'),
  ...over,
});

const CHARGEBACK: ProviderCase = {
  providerCaseId: 'bank-1',
  type: 'chargeback',
  amount: null,
  method: null,
  reason: 'fraud',
  payer: { name: null, document: null },
  responseDeadline: null,
  openedAt: at('16:00:00'),
  rulings: [],
};

describe('acquirer reports, on Postgres', () => {
  let core: Core;
  let take: (id: PaymentId) => Promise<void>;
  let settler: Settler;
  let issuer: InstrumentIssuer;
  let cards = 0;
  before(async () => {
    core = await openCore();
    const { commands, accounts, provider: providers } = core;
    take = takeAcquirerFacts({ commands, providers });
    settler = new Settler({ commands, accounts, providers });
    issuer = new InstrumentIssuer({ commands, accounts, providers, timers: memoryTimers() });
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
  });
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  /** Returns a payment by card, or by card and boleto. `issued` lists the methods whose instruments are recorded. */
  const open = async (
    methods: readonly ('CREDIT_CARD' | 'BOLETO')[] = ['CREDIT_CARD'],
    issued: readonly ('CREDIT_CARD' | 'BOLETO')[] = methods,
  ) => {
    const [paymentId, txid] = [newId<PaymentId>(), newId<string>()];
    const create = createCharge({
      terms: terms({ accountId: core.account.accountId, paymentId, txid, methods, api: 'payments' }),
      fingerprintUnder: () => 'hash',
      fingerprintVersion: 1,
      instrument: null,
      keyParam: 'idempotencyKey',
    });
    const bound = { CREDIT_CARD: card(), BOLETO: boleto() };
    const issue = recordIssuances(
      issued.map((method) => ({ method, instrument: bound[method] })),
      CREATED_AT,
    );
    const because = why(core.account.accountId);
    await core.commands.execute(PAYMENT, PAYMENT.stream(paymentId), create, because, { creates: true });
    await core.commands.execute(PAYMENT, PAYMENT.stream(paymentId), issue, because);
    return { id: paymentId, txid, issued: 1 + issued.length };
  };
  type Opened = Awaited<ReturnType<typeof open>>;
  const approved = async (...how: Parameters<typeof open>) => {
    const opened = await open(...how);
    const arrived = incoming({ method: 'CREDIT_CARD', providerPaymentId: `card-${String(++cards)}` });
    core.provider.incomingPayments.set(opened.txid, [arrived]);
    return { ...opened, arrived };
  };
  const told = async ({ id, issued }: Opened) => (await core.eventsOf(PAYMENT.stream(id))).slice(issued);
  const typesOf = async (opened: Opened) => (await told(opened)).map(({ type }) => type);
  const statusOf = async ({ id }: Opened) =>
    transactionStatus(assertExists((await core.commands.load(PAYMENT, PAYMENT.stream(id))).state));

  describe('takeAcquirerFacts', () => {
    it('asks the provider and applies its facts in order, once', async () => {
      const one = await open(['CREDIT_CARD', 'BOLETO']);
      core.provider.facts.set(one.txid, [
        fact('processing'),
        fact('refused', { reason: 'insufficient funds', at: at('13:04:30') }),
      ]);
      await take(one.id);
      await take(one.id);
      expect(await told(one)).to.deep.equal([
        { type: 'TransactionProcessing', data: { method: 'CREDIT_CARD', at: at('13:04:00') } },
        {
          type: 'TransactionRefused',
          data: {
            method: 'CREDIT_CARD',
            reason: 'insufficient funds',
            providerErrorCode: 'declined',
            isFinal: false,
            at: at('13:04:30'),
          },
        },
      ]);
      expect(core.provider.calls).to.deep.equal([`factsOf ${one.txid}`, `factsOf ${one.txid}`]);
    });
    it('adds facts that are reported later', async () => {
      const one = await open();
      core.provider.facts.set(one.txid, [fact('processing')]);
      await take(one.id);
      core.provider.facts.set(one.txid, [fact('processing'), fact('refused')]);
      await take(one.id);
      expect(await typesOf(one)).to.deep.equal(['TransactionProcessing', 'TransactionRefused']);
      expect(await statusOf(one)).to.equal('REFUSED');
    });
    it('records a default reason if the acquirer gives none', async () => {
      const one = await open();
      core.provider.facts.set(one.txid, [fact('refused')]);
      await take(one.id);
      expect((await told(one)).map(({ data }) => (data as { reason: string }).reason)).to.deep.equal(['declined']);
    });
    it('does nothing without facts', async () => {
      const one = await open();
      await take(one.id);
      expect(await typesOf(one)).to.deep.equal([]);
    });
    it('records nothing while the provider does not answer, and applies the facts when repeated', async () => {
      const one = await open();
      core.provider.facts.set(one.txid, [fact('processing')]);
      core.provider.next('factsOf', 'unknown');
      expect(await thrown(take(one.id))).to.be.instanceOf(UnknownAtProvider);
      expect(await typesOf(one)).to.deep.equal([]);
      await take(one.id);
      expect(await typesOf(one)).to.deep.equal(['TransactionProcessing']);
    });
    it('applies the second of two facts when repeated after a crash between them', async () => {
      const one = await open();
      core.provider.facts.set(one.txid, [fact('processing'), fact('refused')]);
      core.spies.beforeAppend = async (_stream, events) => {
        if (events.some(({ type }) => type === 'TransactionRefused')) throw new EventStoreUnavailable('killed');
      };
      expect(await thrown(take(one.id))).to.be.instanceOf(EventStoreUnavailable);
      core.spies.beforeAppend = null;
      expect(await typesOf(one)).to.deep.equal(['TransactionProcessing']);
      await take(one.id);
      expect(await typesOf(one)).to.deep.equal(['TransactionProcessing', 'TransactionRefused']);
    });
    it('throws if the payment was never created', async () => {
      expect((await thrown(take(newId<PaymentId>()))).message).to.match(/never created/);
    });
  });

  describe('settleNotification', () => {
    const handled: string[] = [];
    beforeEach(() => void handled.splice(0));
    const notify = (one: Opened, over: Partial<ProviderNotification>) => {
      const notification: ProviderNotification = {
        tenant: { accountId: core.account.accountId, mode: 'test' },
        kind: 'fact',
        reference: 'fact-1',
        paymentId: one.id,
        ...over,
      };
      const notifications = {
        store: async () => true,
        unreported: async (keys: readonly unknown[]) => keys.map(() => true),
        find: async () => notification,
        startJob: async () => undefined,
        wake: () => undefined,
        markHandled: async (_key: unknown, outcome: string) => void handled.push(outcome),
        unhandled: async function* () {
          yield [];
        },
      };
      return settleNotification({
        commands: core.commands,
        notifications,
        providers: core.provider,
        settler,
        takeFacts: take,
        takeCases: takeProviderCases({ ...core, providers: core.provider, alerts: { disputeReport: () => undefined } }),
        resumeIssuing: (id, method) => issuer.resumeFor(id, method),
      })({ ...notification.tenant, reference: notification.reference });
    };

    it('applies the facts of a fact notification without looking for a payment', async () => {
      const one = await open();
      core.provider.facts.set(one.txid, [fact('processing')]);
      await notify(one, {});
      expect([await typesOf(one), handled]).to.deep.equal([['TransactionProcessing'], ['settled']]);
      expect(core.provider.calls).to.deep.equal([`factsOf ${one.txid}`]);
    });
    it('applies the facts of a card payment before it settles the payment', async () => {
      const one = await approved();
      core.provider.facts.set(one.txid, [fact('processing')]);
      await notify(one, { kind: 'payment', reference: one.arrived.providerPaymentId });
      expect(await typesOf(one)).to.deep.equal(['TransactionProcessing', 'TransactionSettled']);
      expect([await statusOf(one), handled]).to.deep.equal(['APPROVED', ['settled']]);
    });
    it('ignores facts that arrive after the payment was settled', async () => {
      const one = await approved();
      await notify(one, { kind: 'payment', reference: one.arrived.providerPaymentId });
      core.provider.facts.set(one.txid, [fact('processing'), fact('refused')]);
      await notify(one, {});
      expect(await typesOf(one)).to.deep.equal(['TransactionSettled']);
    });
    it('neither handles nor settles the notification while the facts are unknown', async () => {
      const one = await approved();
      core.provider.facts.set(one.txid, [fact('processing')]);
      core.provider.next('factsOf', 'unknown');
      const payment = { kind: 'payment', reference: one.arrived.providerPaymentId } as const;
      expect(await thrown(notify(one, payment))).to.be.instanceOf(UnknownAtProvider);
      expect([await typesOf(one), handled]).to.deep.equal([[], []]);
      await notify(one, payment);
      expect(await typesOf(one)).to.deep.equal(['TransactionProcessing', 'TransactionSettled']);
    });
    it('applies a chargeback that arrived before its card payment once the payment is settled', async () => {
      const one = await approved();
      core.provider.cases.set(one.txid, [CHARGEBACK]);
      await notify(one, { kind: 'case' });
      expect([await typesOf(one), handled]).to.deep.equal([[], ['settled']]);
      await notify(one, { kind: 'payment', reference: one.arrived.providerPaymentId });
      expect(await typesOf(one)).to.deep.equal([
        'TransactionSettled',
        'TransactionDisputeOpened',
        'TransactionDisputeUpdated',
      ]);
      expect(await statusOf(one)).to.equal('CHARGEBACK');
    });
    it('opens the chargeback when repeated after a crash between the settlement and the chargeback', async () => {
      const one = await approved();
      core.provider.cases.set(one.txid, [CHARGEBACK]);
      core.spies.beforeAppend = async (_stream, events) => {
        if (events.some(({ type }) => type === 'TransactionDisputeOpened')) throw new EventStoreUnavailable('killed');
      };
      const payment = { kind: 'payment', reference: one.arrived.providerPaymentId } as const;
      expect(await thrown(notify(one, payment))).to.be.instanceOf(EventStoreUnavailable);
      core.spies.beforeAppend = null;
      expect([await typesOf(one), handled]).to.deep.equal([['TransactionSettled'], []]);
      await notify(one, payment);
      expect(await typesOf(one)).to.deep.equal([
        'TransactionSettled',
        'TransactionDisputeOpened',
        'TransactionDisputeUpdated',
      ]);
    });
    it('resumes issuing first if a fact arrives before its instrument is recorded', async () => {
      const one = await open(['CREDIT_CARD'], []);
      core.provider.facts.set(one.txid, [fact('refused')]);
      core.provider.next('issue', 'unknown');
      expect(await thrown(notify(one, {}))).to.be.instanceOf(UnknownAtProvider);
      expect([await typesOf(one), handled]).to.deep.equal([[], []]);
      await notify(one, {});
      expect(await typesOf(one)).to.deep.equal(['ChargeInstrumentIssued', 'TransactionRefused']);
      expect(handled).to.deep.equal(['settled']);
    });
    it('does not wait for other methods if the payment’s method has its instrument', async () => {
      const one = await approved(['CREDIT_CARD', 'BOLETO'], ['CREDIT_CARD']);
      await notify(one, { kind: 'payment', reference: one.arrived.providerPaymentId });
      expect(await typesOf(one)).to.deep.equal(['TransactionSettled']);
      expect(core.provider.calls.filter((call) => call.startsWith('issue '))).to.deep.equal([]);
    });
    it('does not ask for facts of a Pix', async () => {
      const txid = newId<string>();
      const id = await core.openCharge({ txid });
      core.provider.incomingPayments.set(txid, [incoming({ providerPaymentId: 'E-pix' })]);
      await notify({ id, txid, issued: 2 }, { kind: 'payment', reference: 'E-pix' });
      expect(core.provider.calls).to.deep.equal(['findPayment E-pix']);
      expect(await typesOf({ id, txid, issued: 2 })).to.deep.equal(['TransactionSettled']);
    });
  });
});
