// A charge never has two payable codes: the second connection is tried only if the first certainly created nothing (V7).
import { expect } from 'chai';
import { CreateChargeHandler, CreatePaymentHandler } from '../../../application/payments/create.ts';
import { InstrumentIssuer } from '../../../application/payments/issueInstruments.ts';
import { Settler, takePayment } from '../../../application/payments/settle.ts';
import {
  type InstrumentRequest,
  type PaymentProviders,
  ProviderUnavailable,
} from '../../../application/ports/paymentProvider.ts';
import { type ChargeBody, chargeRequest, paymentRequest } from '../../../domain/charge/request.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addMillis, MINUTE_MS, SECOND_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import { addConnection, removeConnection, switchConnection } from '../../../domain/providerConnection/decisions.ts';
import { systemStopwatch as stopwatch } from '../../../infrastructure/system/system.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { CREATED_AT, incoming } from '../../support/samples.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';
import { FakeProvider } from '../../world/fakeProvider.ts';
import { memoryTimers } from '../../world/memoryTimers.ts';

const BODY: ChargeBody = { amount: 1_234, payment_method: 'pix' };
const REFUSED = { kind: 'refused', reason: 'Invalid key.', providerErrorCode: '422' } as const;
const UNAVAILABLE = { kind: 'unavailable' } as const;
const velocity = { reserve: async () => 'reserved' as const };
type Gate = PromiseWithResolvers<void>;
let keys = 0;

describe('a charge with two connections', () => {
  let core: Core;
  let first: FakeProvider;
  let second: FakeProvider;
  /** The current order of the connections. It can change while charges are open. */
  let order: FakeProvider[];
  let isDisabled = false;
  const timers = memoryTimers();

  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    [first, second] = [new FakeProvider(), new FakeProvider()];
    for (const one of [first, second]) Object.assign(one, { connectionId: newId<ConnectionId>(), ownsExpiry: true });
    order = [first, second];
    isDisabled = false;
    core.clock.nowMs = toMillis(CREATED_AT);
  });

  const providers: PaymentProviders = {
    route: async () => order,
    of: async ({ connectionId }) => {
      if (isDisabled) return null;
      return [first, second].find((one) => one.connectionId === connectionId) ?? null;
    },
  };
  const ask = async (key: string, body = BODY): Promise<ExistingPayment> => {
    const { commands, accounts, clock } = core;
    const issuer = new InstrumentIssuer({ commands, accounts, providers, timers });
    const handler = new CreateChargeHandler({ commands, clock, stopwatch, providers, issuer, velocity });
    const answer = await handler.handle({
      account: core.account,
      mode: 'live',
      idempotencyKey: key,
      request: chargeRequest(body),
      baseUrl: 'https://pay.example.com',
      actor: 'key:test',
      requestId: 'req_1',
    });
    if (isRejection(answer)) throw new Error(answer.message);
    return answer.payment;
  };
  const newKey = () => `routed-${String(++keys).padStart(4, '0')}`;
  const outcomeOf = (work: Promise<unknown>) => work.then(() => null).catch((error: Error) => error);
  const eventsOf = (payment: ExistingPayment) => core.eventsOf(PAYMENT.stream(payment.charge.terms.paymentId));
  const issuedBy = (provider: FakeProvider) => provider.instruments.size;

  const isIssuedBy = async (provider: FakeProvider, payment: ExistingPayment, reroutes: number) => {
    const rerouted = Array.from({ length: reroutes }, () => 'ChargeRerouted');
    const types = (await eventsOf(payment)).map(({ type }) => type);
    expect(types).to.deep.equal(['ChargeCreated', ...rerouted, 'ChargePixIssued']);
    expect([payment.charge.terms.connectionId, issuedBy(provider)]).to.deep.equal([provider.connectionId, 1]);
  };
  /** Ends a connection. The registry of this process does not see it yet. */
  const end = async ({ connectionId }: FakeProvider, how: 'removed' | 'disabled') => {
    const id = connectionId as ConnectionId;
    const versions = { clientSecretVersion: 1, privateKeyVersion: 0, callbackSecretVersion: 1 };
    const work = { payments: 0, payouts: 0, callbacks: 0 };
    const ended = how === 'removed' ? removeConnection(work, CREATED_AT) : switchConnection('disabled', CREATED_AT);
    for (const decide of [addConnection(connectionTerms(id), versions, CREATED_AT), ended])
      await core.commands.execute(PROVIDER_CONNECTION, PROVIDER_CONNECTION.stream(id), decide, why('a' as never));
  };
  /** Does something once, after the next connection was chosen and before the charge is assigned to it. */
  const atAssignment = (meanwhile: () => Promise<void>) => {
    const { commands } = core;
    const record = commands.record.bind(commands);
    const recordLater = async (...assignment: Parameters<typeof record>) => {
      Object.assign(commands, { record });
      await meanwhile();
      return record(...assignment);
    };
    Object.assign(commands, { record: recordLater });
  };

  it('is issued by the first connection without asking the second', async () => {
    const payment = await ask(newKey());
    expect(payment.charge.terms.connectionId).to.equal(first.connectionId);
    expect([issuedBy(first), issuedBy(second), second.calls]).to.deep.equal([1, 0, []]);
  });

  for (const [name, outcome, failure] of [
    ['refused', REFUSED, { reason: REFUSED.reason, providerErrorCode: REFUSED.providerErrorCode }],
    ['unavailable', UNAVAILABLE, { reason: 'The provider could not be reached.', providerErrorCode: 'unavailable' }],
  ] as const)
    it(`is issued by the second connection and records the change if the first is ${name}; a repeat replays it`, async () => {
      first.next('issue', outcome);
      const key = newKey();
      const payment = await ask(key);
      expect(payment.charge.terms.connectionId).to.equal(second.connectionId);
      expect([issuedBy(first), issuedBy(second)]).to.deep.equal([0, 1]);
      const events = await eventsOf(payment);
      expect(events.map(({ type }) => type)).to.deep.equal(['ChargeCreated', 'ChargeRerouted', 'ChargePixIssued']);
      expect(events[1]?.data).to.deep.equal({ connectionId: second.connectionId, ...failure, at: CREATED_AT });
      expect(await ask(key)).to.deep.equal(payment);
      expect([issuedBy(first), issuedBy(second)]).to.deep.equal([0, 1]);
    });

  it('has only the second connection’s code if a repeat still asks the first in another process', async () => {
    const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const [failing, repeating, moving] = gates as [Gate, Gate, Gate];
    const [called, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const [issueFirst, issueSecond] = [first.issue.bind(first), second.issue.bind(second)];
    let calls = 0;
    first.issue = async (request) => {
      called.resolve();
      if (++calls === 1) return failing.promise.then(() => UNAVAILABLE);
      failing.resolve();
      return repeating.promise.then(() => issueFirst(request));
    };
    second.issue = async (request) => {
      moved.resolve();
      return moving.promise.then(() => issueSecond(request));
    };
    const key = newKey();
    const creating = ask(key);
    await called.promise;
    const repeat = outcomeOf(ask(key));
    await moved.promise;
    repeating.resolve();
    expect(await repeat).to.be.instanceOf(ProviderUnavailable);
    moving.resolve();
    const payment = await creating;
    expect([payment.charge.status, payment.charge.terms.connectionId]).to.deep.equal(['open', second.connectionId]);
    expect(await ask(key)).to.deep.equal(payment);
  });

  it('is settled through the second connection, even by a process that cached the first', async () => {
    const worker = core.anotherProcess();
    first.issue = async ({ paymentId }) => {
      await worker.load(PAYMENT, PAYMENT.stream(paymentId));
      return UNAVAILABLE;
    };
    const { terms } = (await ask(newKey())).charge;
    const { paymentId, accountId, mode, txid, amount } = terms;
    const pix = incoming({ providerPaymentId: `E${txid}`, amount });
    second.incomingPayments.set(txid, [pix]);
    const needs = { commands: worker, accounts: core.accounts, providers };
    const take = takePayment({
      ...needs,
      settler: new Settler(needs),
      issuer: new InstrumentIssuer({ ...needs, timers }),
      takeFacts: async () => undefined,
      takeReturns: async () => undefined,
      notificationWork: { handle: async () => true, afterMoney: async () => undefined },
    });
    const reference = pix.providerPaymentId;
    expect(await take({ tenant: { accountId, mode }, kind: 'payment', reference, paymentId })).to.equal(true);
    expect((await core.eventsOf(PAYMENT.stream(paymentId))).at(-1)?.type).to.equal('TransactionSettled');
  });

  it('fails if both connections refuse', async () => {
    first.next('issue', REFUSED);
    second.next('issue', REFUSED);
    expect((await ask(newKey())).charge.status).to.equal('failed');
  });

  describe('and the second goes out of use while the first one fails', () => {
    const third = Object.assign(new FakeProvider(), { connectionId: newId<ConnectionId>(), ownsExpiry: true });
    beforeEach(() => {
      order = [first, second, third];
      third.forget();
    });
    const issuedByThird = async (payment: ExistingPayment, reroutes: number) => {
      await isIssuedBy(third, payment, reroutes);
      expect(second.calls).to.deep.equal([]);
    };
    const failing = (meanwhile: () => unknown) => {
      first.issue = async () => {
        await meanwhile();
        return UNAVAILABLE;
      };
    };

    it('is issued by the third, and fails as after the last one if there is no third', async () => {
      failing(() => {
        order = [third];
      });
      await issuedByThird(await ask(newKey()), 1);
      order = [first, second];
      failing(() => {
        order = [first];
      });
      expect(await outcomeOf(ask(newKey()))).to.be.instanceOf(ProviderUnavailable);
      expect(second.calls).to.deep.equal([]);
    });

    for (const how of ['removed', 'disabled'] as const) {
      it(`does not call it if it was ${how}, even before the registry knows`, async () => {
        failing(() => end(second, how));
        await issuedByThird(await ask(newKey()), 1);
      });

      it(`waits for the first if it was ${how} and there is no third, even before the registry knows (V5)`, async () => {
        order = [first, second];
        const issue = first.issue.bind(first);
        failing(() => end(second, how));
        const key = newKey();
        expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
        first.issue = issue;
        await isIssuedBy(first, await ask(key), 0);
        expect(second.calls).to.deep.equal([]);
      });

      it(`does not call it if it is ${how} while the charge is assigned to it`, async () => {
        failing(() => atAssignment(() => end(second, how)));
        await issuedByThird(await ask(newKey()), 2);
      });
    }

    it('fails if it is removed while the charge is assigned to it, and there is no third', async () => {
      order = [first, second];
      failing(() => atAssignment(() => end(second, 'removed')));
      const payment = await ask(newKey());
      expect(payment.charge.status).to.equal('failed');
      const types = (await eventsOf(payment)).map(({ type }) => type);
      expect(types).to.deep.equal(['ChargeCreated', 'ChargeRerouted', 'ChargeFailed']);
      expect(second.calls).to.deep.equal([]);
    });

    it('waits for it if it is disabled while the charge is assigned to it, and there is no third (V5)', async () => {
      order = [first, second];
      failing(() => atAssignment(() => end(second, 'disabled')));
      const key = newKey();
      expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
      expect(second.calls).to.deep.equal([]);
      await isIssuedBy(second, await ask(key), 1);
    });
  });

  it('waits while its only connection is disabled, even before the registry knows (V3, V5)', async () => {
    order = [first];
    await end(first, 'disabled');
    const key = newKey();
    expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
    isDisabled = true;
    order = [];
    expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
    expect(first.calls).to.deep.equal([]);
    isDisabled = false;
    await isIssuedBy(first, await ask(key), 0);
  });

  it('fails if its only connection was removed before the registry knows', async () => {
    order = [first];
    await end(first, 'removed');
    expect((await ask(newKey())).charge.status).to.equal('failed');
    expect(first.calls).to.deep.equal([]);
  });

  it('is resumed only with the first connection after a lost answer, even if the default changed', async () => {
    first.next('issue', 'unknown');
    const key = newKey();
    expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
    expect(second.calls).to.deep.equal([]);
    order = [second, first];
    const payment = await ask(key);
    expect(payment.charge.terms.connectionId).to.equal(first.connectionId);
    expect([issuedBy(first), issuedBy(second), second.calls]).to.deep.equal([1, 0, []]);
  });

  it('fails without asking the second connection if a repeat after a lost answer is refused (V7)', async () => {
    first.next('issue', 'unknown');
    const key = newKey();
    expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
    first.instruments.clear();
    first.next('issue', REFUSED);
    expect((await ask(key)).charge.status).to.equal('failed');
    expect(second.calls).to.deep.equal([]);
  });

  it('is resumed with the recorded connection after a crash between the record and the call', async () => {
    const key = newKey();
    first.next('issue', async () => {
      throw new Error('killed');
    });
    expect((await outcomeOf(ask(key)))?.message).to.equal('killed');
    order = [second];
    expect((await ask(key)).charge.terms.connectionId).to.equal(first.connectionId);
    expect(second.calls).to.deep.equal([]);
  });

  it('is unavailable while its connection is disabled, and continues once it is enabled', async () => {
    first.next('issue', 'unknown');
    const key = newKey();
    expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
    isDisabled = true;
    const calls = first.calls.length;
    expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
    expect([first.calls.length, second.calls.length]).to.deep.equal([calls, 0]);
    isDisabled = false;
    expect((await ask(key)).charge.status).to.equal('open');
  });

  it('is replayed and resumed even if no connection accepts new charges (K3, K7)', async () => {
    const [done, cutOff] = [newKey(), newKey()];
    const payment = await ask(done);
    first.next('issue', 'unknown');
    expect(await outcomeOf(ask(cutOff))).to.be.instanceOf(ProviderUnavailable);
    order = [];
    expect(await ask(done)).to.deep.equal(payment);
    expect((await ask(cutOff)).charge.status).to.equal('open');
    expect((await outcomeOf(ask(newKey())))?.message).to.match(/^No payment provider/);
  });

  it('is replayed by POST /v1/payments as well if no connection accepts new payments (K3)', async () => {
    const { commands, clock } = core;
    const handler = new CreatePaymentHandler({ commands, clock, stopwatch, providers, velocity });
    const pay = async (idempotencyKey: string) => {
      const request = paymentRequest({ amount: 1_234, paymentMethods: ['PIX'], idempotencyKey });
      const who = { account: core.account, mode: 'live', actor: 'key:test', requestId: 'req_1' } as const;
      const answer = await handler.handle({ ...who, idempotencyKey, request, baseUrl: 'https://pay.example.com' });
      return isRejection(answer) ? answer.code : answer;
    };
    const key = newKey();
    const made = await pay(key);
    order = [];
    expect(await pay(key)).to.deep.equal({ ...(made as object), replayed: true });
    expect(await pay(newKey())).to.equal('unprocessable_entity');
  });

  it('has the provider’s expiry, and is prolonged only if a resumed instrument is more than 90 seconds short (V8)', async () => {
    const shorten = (provider: FakeProvider, ms: number) => {
      for (const issued of provider.instruments.values())
        Object.assign(issued.instrument, { expiresAt: addMillis(issued.instrument.expiresAt, -ms) });
    };
    const prolonged = () => first.calls.filter((call) => call.startsWith('prolong'));
    for (const [ms, calls] of [
      [90 * SECOND_MS, 0],
      [90 * SECOND_MS + 1, 1],
    ] as const) {
      first.forget();
      first.next('issue', 'unknown');
      const key = newKey();
      expect(await outcomeOf(ask(key))).to.be.instanceOf(ProviderUnavailable);
      shorten(first, ms);
      const { pix } = (await ask(key)).charge.instruments;
      expect(prolonged()).to.have.length(calls);
      const asked = addMillis(CREATED_AT, 60 * MINUTE_MS);
      expect(pix?.expiresAt).to.equal(calls === 0 ? addMillis(asked, -ms) : asked);
    }
  });

  it('in live mode sends nothing of the metadata to the provider but the description', async () => {
    const seen: InstrumentRequest[] = [];
    const issue = first.issue.bind(first);
    first.issue = (request) => {
      seen.push(request);
      return issue(request);
    };
    await ask(newKey(), {
      ...BODY,
      description: 'Pedido 17',
      metadata: { sandbox_provider: 'rejected', cupom: 'BF20' },
    });
    expect(seen.map(({ note, debtor, sandbox }) => ({ note, debtor, sandbox }))).to.deep.equal([
      { note: 'Pedido 17', debtor: null, sandbox: null },
    ]);
    expect(JSON.stringify(seen)).to.not.match(/sandbox_provider|rejected|cupom|BF20/);
  });
});
