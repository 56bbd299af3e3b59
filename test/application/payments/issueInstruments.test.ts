// Issuing instruments for several methods when acquirers don’t answer or refuse, and after crashes (K7, P4).

import { expect } from 'chai';
import { takeAcquirerFacts } from '../../../application/payments/acquirerOutcomes.ts';
import { InstrumentIssuer } from '../../../application/payments/issueInstruments.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { ProviderNotifications } from '../../../application/ports/providerNotifications.ts';
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { fromMillis, MINUTE_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { recordCancelled, requestCancel } from '../../../domain/payment/cancel.ts';
import { createCharge } from '../../../domain/payment/create.ts';
import type { PaymentEvent, PaymentState } from '../../../domain/payment/payment.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { CREATED_AT, incoming, plain, terms } from '../../support/samples.ts';
import { settleNotification } from '../../support/settleNotification.ts';
import { sampleInstrument } from '../../world/instruments.ts';
import { memoryTimers } from '../../world/memoryTimers.ts';

const NOW = CREATED_AT;
const REFUSAL = { kind: 'refused', reason: 'no such merchant', providerErrorCode: 'declined' } as const;
const NOT_CONFIRMED = { reason: 'The provider never confirmed the charge.', providerErrorCode: 'not_confirmed' };
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('issuing instruments on Postgres', () => {
  let core: Core;
  let issuer: InstrumentIssuer;
  const { timers, ...port } = memoryTimers();
  before(async () => {
    core = await openCore();
    const { commands, accounts, provider: providers } = core;
    issuer = new InstrumentIssuer({ commands, accounts, providers, timers: port });
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(NOW);
    core.provider.forget();
    timers.clear();
  });
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  const wanted = async (methods: readonly PaymentMethod[], api: 'charges' | 'payments' = 'payments') => {
    const [paymentId, txid] = [newId<PaymentId>(), newId<string>()];
    const decide = createCharge({
      terms: terms({ accountId: core.account.accountId, paymentId, txid, methods, api }),
      fingerprintUnder: () => 'hash',
      fingerprintVersion: 1,
      instrument: null,
      keyParam: 'idempotencyKey',
    });
    const stream = PAYMENT.stream(paymentId);
    await core.commands.execute(PAYMENT, stream, decide, why(core.account.accountId), { creates: true });
    return { id: paymentId, txid };
  };
  /** Returns the events after the creation as `<type> <method>`. */
  const told = async (id: PaymentId) =>
    (await core.eventsOf(PAYMENT.stream(id))).slice(1).map((event) => {
      if (event.type === 'ChargeInstrumentIssued') return `issued ${event.data.instrument.method}`;
      if (event.type === 'ChargeInstrumentRefused') return `refused ${event.data.method}`;
      return event.type === 'ChargePixIssued' ? 'issued PIX' : event.type;
    });
  const issues = () => core.provider.calls.filter((call) => call.startsWith('issue '));

  describe('issueAll', () => {
    it('asks for every method and records all instruments at once, the Pix first', async () => {
      const { id, txid } = await wanted(['CREDIT_CARD', 'BOLETO', 'PIX']);
      await issuer.issueAll(id);
      expect(await told(id)).to.deep.equal(['issued PIX', 'issued CREDIT_CARD', 'issued BOLETO']);
      expect(issues()).to.deep.equal([`issue ${txid} CREDIT_CARD`, `issue ${txid} BOLETO`, `issue ${txid}`]);
    });
    it('gives each method its own expiry (P5) and the acquirer’s reference', async () => {
      const { id, txid } = await wanted(['PIX', 'CREDIT_CARD', 'MULTIBANCO', 'CRYPTO']);
      await issuer.issueAll(id);
      const expiries = (await core.eventsOf(PAYMENT.stream(id))).flatMap((event) => {
        if (event.type === 'ChargePixIssued') return [['PIX', event.data.txid, event.data.expiresAt]];
        if (event.type !== 'ChargeInstrumentIssued') return [];
        const { method, reference, expiresAt } = event.data.instrument;
        return [[method, reference, expiresAt]];
      });
      expect(expiries).to.deep.equal([
        ['PIX', txid, '2026-11-21T14:00:00.000Z'],
        ['CREDIT_CARD', `CREDIT_CARD-${txid}`, '2026-11-21T13:30:00.000Z'],
        ['MULTIBANCO', `MULTIBANCO-${txid}`, '2026-11-24T23:59:59.999Z'],
        ['CRYPTO', `CRYPTO-${txid}`, '2026-11-21T14:00:00.000Z'],
      ]);
    });
    for (const [late, lifeBegins] of [
      [5_000, 0],
      [5_001, 5_001],
      [60_000, 60_000],
    ] as const)
      it(`starts the lifetime of a local instrument after ${lifeBegins} ms if it is issued ${late} ms late`, async () => {
        const { id } = await wanted(['PIX']);
        core.clock.nowMs += late;
        core.provider.issueLocally = (request) => sampleInstrument(request, 'fake');
        await issuer.issueAll(id).finally(() => Reflect.deleteProperty(core.provider, 'issueLocally'));
        const [, issued] = await core.eventsOf(PAYMENT.stream(id));
        const expiresAt = fromMillis(toMillis(NOW) + lifeBegins + 60 * MINUTE_MS);
        expect((issued as { data: object }).data).to.include({ expiresAt });
      });
    it('keeps the first instruments and asks no provider when repeated', async () => {
      const { id } = await wanted(['BOLETO', 'PIX']);
      await issuer.issueAll(id);
      core.provider.calls.length = 0;
      await issuer.issueAll(id);
      expect(await told(id)).to.deep.equal(['issued PIX', 'issued BOLETO']);
      expect(core.provider.calls).to.deep.equal([]);
    });
    it('records the known instruments, and finds the unknown one when repeated without issuing it twice', async () => {
      const { id, txid } = await wanted(['CREDIT_CARD', 'BOLETO']);
      core.provider.next('issue', 'unknown'); // the card’s instrument
      expect(await thrown(issuer.issueAll(id))).to.be.instanceOf(UnknownAtProvider);
      expect(await told(id)).to.deep.equal(['issued BOLETO']);
      await issuer.issueAll(id);
      expect(await told(id)).to.deep.equal(['issued BOLETO', 'issued CREDIT_CARD']);
      expect(issues()).to.deep.equal([`issue ${txid} CREDIT_CARD`, `issue ${txid} BOLETO`]);
    });
    it('issues an instrument when repeated if the provider was unavailable', async () => {
      const { id, txid } = await wanted(['CREDIT_CARD']);
      core.provider.next('issue', { kind: 'unavailable' });
      expect(await thrown(issuer.issueAll(id))).to.be.instanceOf(UnknownAtProvider);
      await issuer.issueAll(id);
      expect(await told(id)).to.deep.equal(['issued CREDIT_CARD']);
      expect(issues()).to.deep.equal([`issue ${txid} CREDIT_CARD`, `issue ${txid} CREDIT_CARD`]);
    });
    it('does not issue an instrument if the lookup fails, because it may already exist', async () => {
      const { id } = await wanted(['CREDIT_CARD']);
      core.provider.next('findInstrument', 'unknown');
      expect(await thrown(issuer.issueAll(id))).to.be.instanceOf(UnknownAtProvider);
      expect([await told(id), issues()]).to.deep.equal([[], []]);
    });
    it('keeps the other instruments if one is refused', async () => {
      const { id } = await wanted(['CREDIT_CARD', 'BOLETO']);
      core.provider.next('issue', REFUSAL);
      await issuer.issueAll(id);
      expect(await told(id)).to.deep.equal(['refused CREDIT_CARD', 'issued BOLETO']);
    });
    it('fails the charge with the reason if its only instrument is refused', async () => {
      const { id } = await wanted(['CREDIT_CARD']);
      core.provider.next('issue', REFUSAL);
      await issuer.issueAll(id);
      const { reason, providerErrorCode } = REFUSAL;
      expect((await core.eventsOf(PAYMENT.stream(id))).slice(1)).to.deep.equal([
        { type: 'ChargeFailed', data: { reason, providerErrorCode, at: NOW } },
      ]);
    });
    it('records the issued instruments when repeated after a crash, without issuing them again', async () => {
      const { id } = await wanted(['CREDIT_CARD', 'BOLETO']);
      core.spies.beforeAppend = () => Promise.reject(new EventStoreUnavailable('killed'));
      expect(await thrown(issuer.issueAll(id))).to.be.instanceOf(EventStoreUnavailable);
      core.spies.beforeAppend = null;
      expect([await told(id), issues().length]).to.deep.equal([[], 2]);
      await issuer.issueAll(id);
      expect([await told(id), issues().length]).to.deep.equal([['issued CREDIT_CARD', 'issued BOLETO'], 2]);
    });
    it('records every instrument once if run twice concurrently', async () => {
      const { id } = await wanted(['CREDIT_CARD', 'BOLETO', 'PIX']);
      await Promise.all([issuer.issueAll(id), issuer.issueAll(id)]);
      expect(await told(id)).to.deep.equal(['issued PIX', 'issued CREDIT_CARD', 'issued BOLETO']);
    });
    it('asks no provider for a payment that was paid by the first instrument', async () => {
      const { id, txid } = await wanted(['BOLETO', 'PIX']);
      core.provider.next('issue', { kind: 'unavailable' }); // the boleto
      expect(await thrown(issuer.issueAll(id))).to.be.instanceOf(UnknownAtProvider);
      const { commands, accounts, provider: providers } = core;
      await new Settler({ commands, accounts, providers }).settle(
        id,
        plain(incoming({ providerPaymentId: `E-${txid}` })),
      );
      core.provider.calls.length = 0;
      await issuer.issueAll(id);
      await issuer.resume(id);
      await issuer.resumeFor(id, 'BOLETO');
      expect([await told(id), core.provider.calls]).to.deep.equal([['issued PIX', 'TransactionSettled'], []]);
    });
    it('asks no provider for a cancelled or unknown payment', async () => {
      const { id } = await wanted(['CREDIT_CARD']);
      for (const decide of [requestCancel(NOW), recordCancelled({ returnIdOf: (one) => one, by: 'merchant' }, NOW)])
        await core.commands.execute<PaymentState, PaymentEvent, string>(
          PAYMENT,
          PAYMENT.stream(id),
          decide,
          why(core.account.accountId),
        );
      await issuer.issueAll(id);
      await issuer.issueAll(newId<PaymentId>());
      expect([await told(id), core.provider.calls]).to.deep.equal([['ChargeCancelRequested', 'ChargeCancelled'], []]);
    });
  });

  describe('resume', () => {
    const afterMinutes = (minutes: number) => {
      core.clock.nowMs = toMillis(NOW) + minutes * MINUTE_MS;
      return fromMillis(core.clock.nowMs);
    };
    it('looks for and issues the instruments of a payment within its time', async () => {
      const { id } = await wanted(['CREDIT_CARD', 'BOLETO']);
      afterMinutes(8);
      await issuer.resume(id);
      expect(await told(id)).to.deep.equal(['issued CREDIT_CARD', 'issued BOLETO']);
    });
    it('records the existing instruments and refuses the missing ones when the time is over', async () => {
      const { id } = await wanted(['CREDIT_CARD', 'BOLETO']);
      core.provider.next('issue', 'unknown');
      core.spies.beforeAppend = () => Promise.reject(new EventStoreUnavailable('killed'));
      await thrown(issuer.issueAll(id)); // The answer for the card and the record are lost. The boleto is issued.
      core.spies.beforeAppend = null;
      core.provider.instruments.delete(
        [...core.provider.instruments.keys()].find((key) => key.endsWith('CREDIT_CARD'))!,
      );
      core.provider.calls.length = 0;
      afterMinutes(9);
      await issuer.resume(id);
      expect(await told(id)).to.deep.equal(['refused CREDIT_CARD', 'issued BOLETO']);
      expect(issues()).to.deep.equal([]);
    });
    it('fails a payment without known instruments when the time is over (K7)', async () => {
      const { id } = await wanted(['CREDIT_CARD', 'BOLETO']);
      const at = afterMinutes(9);
      core.provider.next('findInstrument', 'unknown');
      await issuer.resume(id);
      await issuer.resume(id);
      expect((await core.eventsOf(PAYMENT.stream(id))).slice(1)).to.deep.equal([
        { type: 'ChargeInstrumentRefused', data: { method: 'CREDIT_CARD', ...NOT_CONFIRMED, at } },
        { type: 'ChargeFailed', data: { ...NOT_CONFIRMED, at } },
      ]);
    });
    it('records the existing instrument of a charge', async () => {
      const { id, txid } = await wanted(['PIX'], 'charges');
      core.provider.next('issue', 'unknown');
      await thrown(issuer.issueAll(id));
      afterMinutes(1);
      await issuer.resume(id);
      expect([await told(id), issues()]).to.deep.equal([['issued PIX'], [`issue ${txid}`]]);
    });
    it('fails a charge that the provider does not know', async () => {
      const { id } = await wanted(['PIX'], 'charges');
      const at = afterMinutes(1);
      await issuer.resume(id);
      expect((await core.eventsOf(PAYMENT.stream(id))).slice(1)).to.deep.equal([
        { type: 'ChargeFailed', data: { ...NOT_CONFIRMED, at } },
      ]);
      expect(issues()).to.deep.equal([]);
    });
    it('keeps a charge open while the provider does not answer, until its time is over', async () => {
      const { id } = await wanted(['PIX'], 'charges');
      afterMinutes(8.99);
      core.provider.next('findInstrument', 'unknown');
      await issuer.resume(id);
      expect(await told(id)).to.deep.equal([]);
      const [account, dueAt] = [core.account.accountId, afterMinutes(9)];
      expect([...timers.values()]).to.deep.equal([
        {
          account,
          mode: 'test',
          kind: 'resumeIssuing',
          key: id,
          payload: { paymentId: id },
          group: null,
          dueAt,
          onlyLater: true,
        },
      ]);
      core.provider.next('findInstrument', 'unknown');
      await issuer.resume(id);
      expect(await told(id)).to.deep.equal(['ChargeFailed']);
    });
    it('resumes a single method until it is known, whatever happens to the others', async () => {
      const { id, txid } = await wanted(['BOLETO', 'CREDIT_CARD']);
      core.provider.next('issue', 'unknown'); // the boleto’s instrument
      await issuer.resumeFor(id, 'CREDIT_CARD');
      expect(await told(id)).to.deep.equal(['issued CREDIT_CARD']);
      core.provider.next('findInstrument', 'unknown');
      expect(await thrown(issuer.resumeFor(id, 'BOLETO'))).to.be.instanceOf(UnknownAtProvider);
      core.provider.next('findInstrument', 'unknown');
      expect(await thrown(issuer.resumeFor(id, null))).to.be.instanceOf(UnknownAtProvider);
      await issuer.resumeFor(id, 'BOLETO');
      expect(await told(id)).to.deep.equal(['issued CREDIT_CARD', 'issued BOLETO']);
      expect(issues()).to.deep.equal([`issue ${txid} BOLETO`, `issue ${txid} CREDIT_CARD`]);
    });
    it('asks no provider and reads nothing for a known method or an ended charge', async () => {
      const { id } = await wanted(['CREDIT_CARD', 'BOLETO']);
      core.provider.next('issue', REFUSAL);
      await issuer.issueAll(id);
      core.provider.calls.length = 0;
      const read: string[] = [];
      core.spies.onRead = (stream) => void read.push(stream);
      for (const method of ['CREDIT_CARD', 'BOLETO', null] as const) await issuer.resumeFor(id, method);
      expect([core.provider.calls, read]).to.deep.equal([[], []]);
    });
    it('throws for a single method after a crash before the record, and records it when repeated', async () => {
      const { id } = await wanted(['CREDIT_CARD']);
      core.spies.beforeAppend = () => Promise.reject(new EventStoreUnavailable('killed'));
      expect(await thrown(issuer.resumeFor(id, 'CREDIT_CARD'))).to.be.instanceOf(EventStoreUnavailable);
      core.spies.beforeAppend = null;
      await issuer.resumeFor(id, 'CREDIT_CARD');
      expect([await told(id), issues().length]).to.deep.equal([['issued CREDIT_CARD'], 1]);
    });
    it('asks no provider if all instruments exist', async () => {
      const { id } = await wanted(['PIX', 'BOLETO']);
      await issuer.issueAll(id);
      core.provider.calls.length = 0;
      afterMinutes(1);
      await issuer.resume(id);
      expect([await told(id), core.provider.calls]).to.deep.equal([['issued PIX', 'issued BOLETO'], []]);
    });
  });

  describe('notifications of a payment whose creation was interrupted', () => {
    /** Handles a notification of this kind. */
    const notified = (paymentId: PaymentId, kind: 'payment' | 'fact', reference: string): Promise<void> => {
      const { commands, accounts, provider: providers } = core;
      const tenant = { accountId: core.account.accountId, mode: 'test' as const };
      const notifications = {
        find: async () => ({ tenant, kind, reference, paymentId }),
        markHandled: async () => undefined,
      } as unknown as ProviderNotifications;
      const settler = new Settler({ commands, accounts, providers });
      const takeFacts = takeAcquirerFacts({ commands, providers });
      const resumeIssuing = issuer.resumeFor.bind(issuer);
      return settleNotification({
        commands: core.commands,
        notifications,
        providers,
        settler,
        takeFacts,
        takeCases: async () => undefined,
        resumeIssuing,
      })({
        ...tenant,
        reference,
      });
    };
    /** Returns a payment whose instrument exists at the provider, but whose answer was lost and not recorded. */
    const cutOff = async (method: PaymentMethod, api: 'charges' | 'payments') => {
      const payment = await wanted([method], api);
      core.provider.next('issue', 'unknown');
      await thrown(issuer.issueAll(payment.id));
      expect(await told(payment.id)).to.deep.equal([]);
      return payment;
    };
    for (const api of ['charges', 'payments'] as const) {
      it(`record the instrument before a Pix, so that it settles instead of being returned (${api})`, async () => {
        const { id, txid } = await cutOff('PIX', api);
        core.provider.incomingPayments.set(txid, [incoming({ providerPaymentId: `E-${txid}` })]);
        await notified(id, 'payment', `E-${txid}`);
        await notified(id, 'payment', `E-${txid}`);
        expect(await told(id)).to.deep.equal(['issued PIX', 'TransactionSettled']);
      });
      it(`decide nothing about a Pix while the instrument is unknown (${api})`, async () => {
        const { id, txid } = await cutOff('PIX', api);
        core.provider.incomingPayments.set(txid, [incoming({ providerPaymentId: `E-${txid}` })]);
        core.provider.next('findInstrument', 'unknown');
        expect(await thrown(notified(id, 'payment', `E-${txid}`))).to.be.instanceOf(UnknownAtProvider);
        expect(await told(id)).to.deep.equal([]);
      });
    }
    it('record the instrument before a card payment in progress', async () => {
      const { id, txid } = await cutOff('CREDIT_CARD', 'payments');
      core.provider.facts.set(txid, [{ kind: 'processing', method: 'CREDIT_CARD', reason: null, at: NOW }]);
      await notified(id, 'fact', `${txid}:1`);
      expect(await told(id)).to.deep.equal(['issued CREDIT_CARD', 'TransactionProcessing']);
    });
  });
});
