import { expect } from 'chai';
import { CreateChargeHandler } from '../../../application/payments/create.ts';
import { InstrumentIssuer } from '../../../application/payments/issueInstruments.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import { ProviderUnavailable } from '../../../application/ports/paymentProvider.ts';
import type { Stopwatch } from '../../../application/ports/system.ts';
import type { VelocityGuard } from '../../../application/ports/velocityGuard.ts';
import { type ChargeBody, chargeRequest } from '../../../domain/charge/request.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { addSeconds, MINUTE_MS, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { expire } from '../../../domain/payment/lifecycle.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { type Core, openCore, why } from '../../support/core.ts';
import { CREATED_AT } from '../../support/samples.ts';
import { memoryTimers } from '../../world/memoryTimers.ts';

const BODY: ChargeBody = { amount: 1_234, payment_method: 'pix', metadata: { order: 'A-1' } };
let keys = 0;
const newKey = () => `order-${String(++keys).padStart(4, '0')}`;
type Answer = { payment: ExistingPayment; replayed: boolean } | Rejection;
const created = (answer: Answer) => {
  if (isRejection(answer)) throw new Error(answer.message);
  return answer;
};
/** A guard without limits. The guard itself is tested in test/http/api/payments/velocity.test.ts. */
const velocity = { reserve: async () => 'reserved' as const };
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('createCharge with a provider that must be asked', () => {
  let core: Core;
  let handler: CreateChargeHandler;
  let issuer: InstrumentIssuer;
  const timers = memoryTimers();
  const pauses: { ms: number; end: () => void }[] = [];
  const stopwatch: Stopwatch = {
    elapsedMs: () => 0,
    pause: (ms) => new Promise<void>((end) => void pauses.push({ ms, end })),
  };
  before(async () => {
    core = await openCore();
    const { commands, accounts, clock, provider } = core;
    issuer = new InstrumentIssuer({ commands, accounts, providers: provider, timers });
    handler = new CreateChargeHandler({ commands, clock, stopwatch, providers: provider, issuer, velocity });
  });
  after(() => core.close());
  beforeEach(() => {
    core.provider.calls.length = 0;
    pauses.length = 0;
    core.clock.nowMs = toMillis(CREATED_AT);
  });
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  const ask = (idempotencyKey: string, body = BODY): Promise<Answer> =>
    handler.handle({
      account: core.account,
      mode: 'test',
      request: chargeRequest(body),
      idempotencyKey,
      baseUrl: 'https://pay.example.com',
      actor: 'key:0123456789abcdef',
      requestId: 'req_1',
    });
  const typesOf = async (id: PaymentId) => (await core.eventsOf(PAYMENT.stream(id))).map(({ type }) => type);
  const paymentIdOf = (answer: Answer) => created(answer).payment.charge.terms.paymentId;
  /** Returns an object that holds the id of the last charge written. */
  const catchIntent = (): { id: PaymentId | null } => {
    const seen: { id: PaymentId | null } = { id: null };
    core.spies.beforeAppend = async (stream) => {
      seen.id = stream.slice('payment-'.length) as PaymentId;
    };
    return seen;
  };

  it('stores the charge before it asks the provider (K7)', async () => {
    const before: string[] = [];
    const intent = catchIntent();
    core.provider.next('issue', async () => void before.push(...(await typesOf(intent.id as PaymentId))));
    const answer = created(await ask(newKey()));
    expect(before).to.deep.equal(['ChargeCreated']);
    expect([answer.replayed, answer.payment.charge.status]).to.deep.equal([false, 'open']);
    expect(await typesOf(paymentIdOf(answer))).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
  });

  it('returns the original and issues one instrument when repeated', async () => {
    const key = newKey();
    const first = created(await ask(key));
    const again = created(await ask(key));
    expect(again).to.deep.equal({ payment: first.payment, replayed: true });
    expect(core.provider.calls.filter((call) => call.startsWith('issue'))).to.have.length(1);
  });

  it('replays the original response after the charge expired (K3)', async () => {
    const key = newKey();
    const first = created(await ask(key));
    const id = paymentIdOf(first);
    const late = addSeconds(CREATED_AT, 3_600);
    await core.commands.execute(PAYMENT, PAYMENT.stream(id), expire(late), why(core.account.accountId));
    expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued', 'ChargeExpired']);
    expect(created(await ask(key))).to.deep.equal({ payment: first.payment, replayed: true });
  });

  it('rejects a repeat with other content and writes nothing', async () => {
    const key = newKey();
    const id = paymentIdOf(await ask(key));
    const answer = await ask(key, { ...BODY, amount: 1_235 });
    expect(isRejection(answer) && answer.code).to.equal('idempotency_key_reused');
    expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
  });

  it('replays the original without asking the velocity guard (E6)', async () => {
    const asked: string[] = [];
    const { commands, clock, provider: providers } = core;
    const guard = {
      reserve: async ({ paymentId }: { paymentId: PaymentId }) => (asked.push(paymentId) > 1 ? 'account' : 'reserved'),
    };
    const guarded = new CreateChargeHandler({
      commands,
      clock,
      stopwatch,
      providers,
      issuer,
      velocity: guard as VelocityGuard,
    });
    const askLive = (idempotencyKey: string) =>
      guarded.handle({
        account: core.account,
        mode: 'live',
        request: chargeRequest(BODY),
        idempotencyKey,
        baseUrl: 'https://pay.example.com',
        actor: 'key:0123456789abcdef',
        requestId: 'req_1',
      });
    const key = newKey();
    const first = created(await askLive(key));
    const refused = await askLive(newKey());
    expect(isRejection(refused) && refused.code).to.equal('fraud.account_velocity_exceeded');
    expect(created(await askLive(key))).to.deep.equal({ payment: first.payment, replayed: true });
    expect(asked).to.have.length(2);
  });

  it('creates one charge for concurrent requests, and replays it to those that waited (K4)', async () => {
    const key = newKey();
    const answers = (await Promise.all([ask(key), ask(key), ask(key)])).map(created);
    expect(answers.map(({ replayed }) => replayed)).to.deep.equal([false, true, true]);
    expect(answers[1]?.payment).to.deep.equal(answers[0]?.payment);
    expect(core.provider.calls.filter((call) => call.startsWith('issue'))).to.have.length(1);
  });

  it('rejects a concurrent request after 10 seconds of waiting (K4)', async () => {
    const key = newKey();
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    core.provider.next('issue', () => gate);
    const first = ask(key);
    // The wait starts once the route is known. The stopwatch is stopped here, and the test ends the wait.
    const second = ask(key);
    await new Promise(setImmediate);
    expect(pauses.map(({ ms }) => ms)).to.deep.equal([10_000]);
    pauses[0]?.end();
    const answer = await second;
    expect(isRejection(answer) && [answer.code, answer.param]).to.deep.equal([
      'idempotency_request_in_progress',
      'Idempotency-Key',
    ]);
    release();
    const id = paymentIdOf(await first);
    expect(created(await ask(key)).replayed).to.equal(true);
    expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
  });

  it('fails the charge if the provider refuses, and replays that', async () => {
    const key = newKey();
    core.provider.next('issue', { kind: 'refused', reason: 'No.', providerErrorCode: 'declined' });
    const first = created(await ask(key));
    expect(first.payment.charge.status).to.equal('failed');
    expect(created(await ask(key))).to.deep.equal({ payment: first.payment, replayed: true });
    expect(core.provider.calls.filter((call) => call.startsWith('issue'))).to.have.length(1);
  });

  it('records nothing if the outcome is unknown; a repeat looks for the instrument first and finds it', async () => {
    const key = newKey();
    const intent = catchIntent();
    core.provider.next('issue', 'unknown');
    expect(await thrown(ask(key))).to.be.instanceOf(ProviderUnavailable);
    const id = intent.id as PaymentId;
    expect(await typesOf(id)).to.deep.equal(['ChargeCreated']);
    const resumed = created(await ask(key));
    expect([resumed.replayed, resumed.payment.charge.status], 'its first answer is no replay').to.deep.equal([
      false,
      'open',
    ]);
    expect(created(await ask(key))).to.deep.equal({ payment: resumed.payment, replayed: true });
    expect(core.provider.calls.map((call) => call.split(' ')[0])).to.deep.equal(['issue', 'findInstrument']);
    expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
  });

  it('records nothing if the provider is unavailable; a repeat issues the instrument', async () => {
    const key = newKey();
    core.provider.next('issue', { kind: 'unavailable' });
    expect(await thrown(ask(key))).to.be.instanceOf(ProviderUnavailable);
    expect(created(await ask(key)).payment.charge.status).to.equal('open');
    expect(core.provider.calls.map((call) => call.split(' ')[0])).to.deep.equal(['issue', 'findInstrument', 'issue']);
  });

  it('finds the same instrument when repeated after a crash between the provider’s answer and its record', async () => {
    const key = newKey();
    let id: PaymentId | null = null;
    core.spies.beforeAppend = async (stream, events) => {
      id = stream.slice('payment-'.length) as PaymentId;
      if (events[0]?.type === 'ChargePixIssued') throw new EventStoreUnavailable('killed');
    };
    expect(await thrown(ask(key))).to.be.instanceOf(EventStoreUnavailable);
    core.spies.beforeAppend = null;
    expect(await typesOf(id as unknown as PaymentId)).to.deep.equal(['ChargeCreated']);
    expect(created(await ask(key)).payment.charge.status).to.equal('open');
    expect(core.provider.calls.filter((call) => call.startsWith('issue'))).to.have.length(1);
    expect(await typesOf(id as unknown as PaymentId)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
  });

  describe('resumed by the watchdog without a repeat', () => {
    const cutOff = async (): Promise<PaymentId> => {
      const intent = catchIntent();
      core.provider.next('issue', 'unknown');
      await thrown(ask(newKey()));
      core.spies.beforeAppend = null;
      return intent.id as PaymentId;
    };
    it('finds the instrument once', async () => {
      const id = await cutOff();
      await issuer.resume(id);
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
    });
    it('fails a charge that the provider does not know', async () => {
      const id = await cutOff();
      core.provider.instruments.clear();
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargeFailed']);
    });
    it('keeps asking while the provider does not answer, and fails the charge after 9 minutes of account time', async () => {
      const id = await cutOff();
      core.clock.nowMs += 9 * MINUTE_MS - 1;
      core.provider.next('findInstrument', 'unknown');
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated']);
      core.clock.nowMs += 1;
      core.provider.next('findInstrument', 'unknown');
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargeFailed']);
    });
  });

  describe('repeated while the provider is unavailable (K7)', () => {
    const away = async (key: string) => {
      core.provider.next('issue', { kind: 'unavailable' });
      expect(await thrown(ask(key))).to.be.instanceOf(ProviderUnavailable);
    };
    const begun = async (): Promise<{ key: string; id: PaymentId }> => {
      const [key, intent] = [newKey(), catchIntent()];
      await away(key);
      core.spies.beforeAppend = null;
      return { key, id: intent.id as PaymentId };
    };
    const pass = (seconds: number): void => {
      core.clock.nowMs += seconds * 1_000;
    };

    it('counts the watchdog’s minute from the last repeat', async () => {
      const { key, id } = await begun();
      pass(50);
      await away(key);
      pass(10); // the timer of the first minute, and the queue’s retries
      await issuer.resume(id);
      pass(49.999);
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated']);
      pass(0.001);
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargeFailed']);
    });
    it('ends within 10 minutes, by the watchdog or by a repeat, however often it is repeated', async () => {
      const { key, id } = await begun();
      const other = await begun();
      for (let seconds = 30; seconds < 9 * 60; seconds += 30) {
        pass(30);
        await away(key);
        await away(other.key);
        await issuer.resume(id);
      }
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated']);
      pass(30);
      expect(timers.timers.get(id)?.dueAt).to.equal(addSeconds(CREATED_AT, 9 * 60));
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargeFailed']);
      core.provider.next('issue', { kind: 'unavailable' });
      expect(created(await ask(other.key)).payment.charge.status).to.equal('failed');
    });
    it('gives an instrument that a repeat issued its full lifetime', async () => {
      const { key, id } = await begun();
      pass(300);
      await ask(key);
      const [, issued] = await core.eventsOf(PAYMENT.stream(id));
      expect(issued).to.deep.include({ type: 'ChargePixIssued' });
      const at = addSeconds(CREATED_AT, 300);
      expect((issued as { data: object }).data).to.include({ at, expiresAt: addSeconds(at, 3_600) });
    });
  });

  describe('with an instrument whose creation was reported late (K7)', () => {
    /** The instrument’s hour started when the charge was created, but the provider’s answer was lost. */
    const lost = async () => {
      const [key, intent] = [newKey(), catchIntent()];
      core.provider.next('issue', 'unknown');
      await thrown(ask(key));
      core.spies.beforeAppend = null;
      core.clock.nowMs += 59_000;
      core.provider.calls.length = 0;
      pauses.length = 0;
      return { key, id: intent.id as PaymentId };
    };
    const at = addSeconds(CREATED_AT, 59);
    /** Returns the expiry of the only instrument at the provider. */
    const providersEnd = () => [...core.provider.instruments.values()].at(-1)?.instrument.expiresAt as Timestamp;
    for (const by of ['a repeat', 'the watchdog'] as const)
      it(`prolongs the instrument to its full lifetime when ${by} finds it`, async () => {
        const { key, id } = await lost();
        await (by === 'a repeat' ? ask(key) : issuer.resume(id));
        const [, issued] = await core.eventsOf(PAYMENT.stream(id));
        expect((issued as { data: object }).data).to.include({ at, expiresAt: addSeconds(at, 3_600) });
        expect(providersEnd() >= addSeconds(at, 3_600), 'the provider’s is not earlier').to.equal(true);
        expect(core.provider.calls.map((call) => call.split(' ')[0])).to.deep.equal(['findInstrument', 'prolong']);
      });
    it('stays open if the outcome of the prolongation is unknown, and prolongs it when repeated', async () => {
      const { key, id } = await lost();
      core.provider.next('prolong', { kind: 'unavailable' });
      expect(await thrown(ask(key))).to.be.instanceOf(ProviderUnavailable);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated']);
      await ask(key);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
    });
    it('uses the provider’s expiry if the provider refuses to prolong it', async () => {
      const { key, id } = await lost();
      core.provider.next('prolong', { kind: 'refused', reason: 'No.', providerErrorCode: 'declined' });
      await ask(key);
      const [, issued] = await core.eventsOf(PAYMENT.stream(id));
      expect((issued as { data: object }).data).to.include({ at, expiresAt: providersEnd() });
    });
    it('fails the charge if the outcome of the prolongation is still unknown at the end of its time', async () => {
      const { id } = await lost();
      core.clock.nowMs = toMillis(addSeconds(CREATED_AT, 540));
      core.provider.next('prolong', 'unknown');
      await issuer.resume(id);
      expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargeFailed']);
    });
    it('fails the charge if the provider refuses to prolong an instrument that has already expired', async () => {
      const [key, intent] = [newKey(), catchIntent()];
      const shortLived = { ...BODY, expires_in: 60 };
      core.provider.next('issue', 'unknown');
      await thrown(ask(key, shortLived));
      core.spies.beforeAppend = null;
      core.clock.nowMs = toMillis(providersEnd());
      core.provider.next('prolong', { kind: 'refused', reason: 'No.', providerErrorCode: 'declined' });
      expect(created(await ask(key, shortLived)).payment.charge.status).to.equal('failed');
      expect(await typesOf(intent.id as PaymentId)).to.deep.equal(['ChargeCreated', 'ChargeFailed']);
    });
  });

  it('rejects a charge in a mode without a provider with unprocessable_entity and writes nothing (E5)', async () => {
    const { commands, clock } = core;
    const providers = { route: async () => [], of: async () => null };
    const alone = new CreateChargeHandler({ commands, clock, stopwatch, issuer, providers, velocity });
    const head = await core.store.head();
    const answer = await alone.handle({
      account: core.account,
      mode: 'live',
      request: chargeRequest(BODY),
      idempotencyKey: newKey(),
      baseUrl: 'https://pay.example.com',
      actor: 'key:0123456789abcdef',
      requestId: 'req_1',
    });
    expect(isRejection(answer) && answer.code).to.equal('unprocessable_entity');
    expect(await core.store.head()).to.equal(head);
  });
});
