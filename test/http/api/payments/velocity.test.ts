// Hourly limits on live charges (contract.md Errors, rule E6). Live mode uses a fake bank here.

import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../../application/capabilities.ts';
import { metadataForProcess } from '../../../../application/core/eventMetadata.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { changeSettings, type SettingsChange } from '../../../../domain/account/settings.ts';
import type { ChargeEvent } from '../../../../domain/charge/charge.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { HOUR_MS } from '../../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { FakeProvider } from '../../../world/fakeProvider.ts';
import { newKey, type Reply, startedDatabase, type TestGateway, type TestTenant } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

const ANA = '123.456.789-09';
const ANA_DIGITS = '12345678909';
const BRUNO = '52998224725';
const CUSTOMER = 'fraud.customer_velocity_exceeded';
const ACCOUNT_CODE = 'fraud.account_velocity_exceeded';

describe('velocity guard (E6)', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let tenant: TestTenant;
  const bank = new FakeProvider();
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  before(async () => {
    database = await startedDatabase();
    gateway = await openReady({ database, liveProvider: bank, clock });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  beforeEach(async () => {
    tenant = await gateway.newTenant();
    bank.calls.length = 0;
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  type Options = { key?: string; idempotencyKey?: string; at?: TestGateway };
  const charge = (document: string | null = ANA, { key, idempotencyKey = newKey(), at = gateway }: Options = {}) =>
    at.charge(document === null ? {} : { customer: { document } }, { key: key ?? tenant.liveKey, idempotencyKey });
  const pay = (customerDocument: string): Promise<Reply> =>
    gateway.post(
      '/v1/payments',
      { amount: 100, currency: 'BRL', paymentMethods: ['PIX'], customerDocument, idempotencyKey: newKey() },
      { key: tenant.liveKey },
    );
  const charges = async (count: number, document: string | null = ANA, options: Options = {}) => {
    const replies = await Promise.all(Array.from({ length: count }, () => charge(document, options)));
    expect(replies.map(({ status, text }) => (status === 201 ? '' : text))).to.deep.equal(Array(count).fill(''));
    return replies.map(({ body }) => rawIdOf(body['id'] as string) as PaymentId);
  };
  const limit = async (velocity: SettingsChange['velocity'] & object) => {
    const { commands, accounts } = gateway.gateway;
    const why = metadataForProcess(
      'test',
      { accountId: tenant.accountId, mode: 'live' },
      tenant.accountId,
      tenant.accountId,
    );
    const decide = changeSettings({ velocity }, accounts.realNow(), DECLARED_SETTINGS.settings);
    await commands.execute(ACCOUNT, ACCOUNT.stream(tenant.accountId), decide, why);
  };
  const end = async (id: PaymentId, event: ChargeEvent) => {
    const why = metadataForProcess('test', { accountId: tenant.accountId, mode: 'live' }, id, id);
    const decide = () => ({ events: [event], reply: null });
    await gateway.gateway.commands.execute(PAYMENT, PAYMENT.stream(id), decide, why);
  };
  /** Returns the documents in the account’s reservations, oldest first. */
  const customers = async () => {
    const { rows } = await gateway.storage.operations.query<{ customer: string | null }>(
      'SELECT customer FROM operations.velocity_reservations WHERE account_id = $1 ORDER BY reserved_at',
      [tenant.accountId],
    );
    return rows.map(({ customer }) => customer);
  };
  const outcomes = (replies: readonly Reply[]) =>
    Object.fromEntries(
      [...Map.groupBy(replies, ({ status }) => status)].map(([status, all]) => [status, all.length] as const),
    );

  it('accepts 20 of 50 concurrent charges for one customer; others get 403, reach no bank and write nothing', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => charge()));
    expect(outcomes(replies)).to.deep.equal({ 201: 20, 403: 30 });
    for (const reply of replies) if (reply.status === 403) expectError(reply, 403, CUSTOMER);
    expect(bank.calls.filter((call) => call.startsWith('issue'))).to.have.length(20);
    const head = await gateway.storage.store.head();
    expectError(await charge(), 403, CUSTOMER);
    expect(await gateway.storage.store.head()).to.equal(head);
  });
  it('accepts 20 of 50 concurrent charges across two processes', async () => {
    const other = await openReady({ database, liveProvider: bank, clock, isAlone: false });
    try {
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, i) => charge(ANA, { at: i % 2 === 0 ? gateway : other })),
      );
      expect(outcomes(replies)).to.deep.equal({ 201: 20, 403: 30 });
      expect(other.faults).to.deep.equal([]);
    } finally {
      await other.close();
    }
  });
  it('compares documents by their digits and letters, on both routes', async () => {
    await limit({ customerPerHour: 3 });
    await charges(1, '123.456.789-09');
    await charges(1, '12345678909');
    expect((await pay('123 456 789 09')).status).to.equal(201);
    expectError(await charge('123.456.789-09'), 403, CUSTOMER);
    expectError(await pay('12345678909'), 403, CUSTOMER);
    await charges(1, BRUNO);
    await charges(1, null);
  });
  it('counts each account’s live mode separately', async () => {
    await limit({ customerPerHour: 1 });
    const test = tenant.testKey;
    await charges(3, ANA, { key: test });
    await charges(1);
    expectError(await charge(), 403, CUSTOMER);
    await charges(3, ANA, { key: test });
    const other = await gateway.newTenant();
    await charges(2, ANA, { key: other.liveKey });
  });
  it('counts all charges of an account, with and without a document', async () => {
    await limit({ accountPerHour: 3 });
    await charges(1, null);
    await charges(1, ANA);
    await charges(1, BRUNO);
    for (const document of [null, ANA, '390.533.447-05']) expectError(await charge(document), 403, ACCOUNT_CODE);
    expectError(await pay(ANA), 403, ACCOUNT_CODE);
    await limit({ customerPerHour: 1 });
    expectError(await charge(ANA), 403, CUSTOMER);
    await limit({ accountPerHour: 4 });
    await charges(1, null);
  });
  it('never rejects replays and resumed creations; a rejected key stays free (K5)', async () => {
    await limit({ customerPerHour: 1 });
    const [made, refused] = [newKey(), newKey()];
    const first = await charge(ANA, { idempotencyKey: made });
    expect(first.status).to.equal(201);
    expectError(await charge(ANA, { idempotencyKey: refused }), 403, CUSTOMER);
    const again = await charge(ANA, { idempotencyKey: made });
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).to.deep.equal([
      201,
      first.text,
      'true',
    ]);
    expectError(await charge(BRUNO, { idempotencyKey: made }), 409, 'idempotency_key_reused', 'Idempotency-Key');
    const free = await charge(BRUNO, { idempotencyKey: refused });
    expect([free.status, free.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);

    await limit({ customerPerHour: 2 });
    const cutOff = newKey();
    bank.next('issue', 'unknown');
    expectError(await charge(ANA, { idempotencyKey: cutOff }), 503, 'service_unavailable');
    expect((await charge(ANA, { idempotencyKey: cutOff })).status).to.equal(201);
    expectError(await charge(ANA), 403, CUSTOMER);
  });
  it('counts 20 concurrent requests with one key once', async () => {
    await limit({ customerPerHour: 2 });
    const idempotencyKey = newKey();
    const replies = await Promise.all(Array.from({ length: 20 }, () => charge(ANA, { idempotencyKey })));
    expect(outcomes(replies)).to.deep.equal({ 201: 20 });
    await charges(1);
    expectError(await charge(), 403, CUSTOMER);
  });
  it('ignores charges that expired, were canceled, or failed at the bank', async () => {
    await limit({ customerPerHour: 3, accountPerHour: 4 });
    const [expired, cancelled, open] = (await charges(3)) as [PaymentId, PaymentId, PaymentId];
    expectError(await charge(), 403, CUSTOMER);
    const at = gateway.gateway.accounts.realNow();
    await end(expired, { type: 'ChargeExpired', data: { at } });
    await charges(1);
    expectError(await charge(), 403, CUSTOMER);
    await end(cancelled, { type: 'ChargeCancelled', data: { by: 'merchant', at } });
    bank.next('issue', { kind: 'refused', reason: 'No.', providerErrorCode: 'declined' });
    const failed = await charge();
    expect([failed.status, failed.body['status']]).to.deep.equal([201, 'failed']);
    await charges(1);
    expectError(await charge(), 403, CUSTOMER);
    await charges(1, BRUNO);
    expectError(await charge(BRUNO), 403, ACCOUNT_CODE);
    expect(await eventTypes(gateway, PAYMENT.stream(open))).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
  });
  it('accepts 20 of 50 concurrent charges after 20 others have expired', async () => {
    const at = gateway.gateway.accounts.realNow();
    const ids = await charges(20);
    await Promise.all(ids.map((id) => end(id, { type: 'ChargeExpired', data: { at } })));
    const replies = await Promise.all(Array.from({ length: 50 }, () => charge()));
    expect(outcomes(replies)).to.deep.equal({ 201: 20, 403: 30 });
  });
  it('uses a sliding hour', async () => {
    await limit({ customerPerHour: 2 });
    const start = clock.nowMs;
    try {
      await charges(1);
      clock.nowMs = start + HOUR_MS / 2;
      await charges(1);
      clock.nowMs = start + HOUR_MS - 1;
      expectError(await charge(), 403, CUSTOMER);
      clock.nowMs = start + HOUR_MS;
      await charges(1);
      expectError(await charge(), 403, CUSTOMER);
    } finally {
      clock.nowMs = start;
    }
  });
  /** Takes a place, and stores nothing. Returns the key. */
  const neverStored = async (): Promise<string> => {
    const idempotencyKey = newKey();
    const { store } = gateway.storage;
    const append = store.append;
    store.append = async () => {
      throw new Error('the log is away');
    };
    try {
      expectError(await charge(ANA, { idempotencyKey }), 500, 'internal_error');
    } finally {
      store.append = append;
    }
    expect(gateway.faults.splice(0)).to.have.length(1);
    return idempotencyKey;
  };
  it('repeats a creation that was never stored in its own place, even late and with full limits', async () => {
    await limit({ customerPerHour: 2, accountPerHour: 2 });
    const start = clock.nowMs;
    const lost = await neverStored();
    await charges(1);
    clock.nowMs = start + 10 * 60_000;
    try {
      expect((await charge(ANA, { idempotencyKey: lost })).status).to.equal(201);
      expectError(await charge(), 403, CUSTOMER);
      expectError(await charge(BRUNO), 403, ACCOUNT_CODE);
    } finally {
      clock.nowMs = start;
    }
  });
  it('frees the place of a creation after a minute if it was never stored', async () => {
    await limit({ customerPerHour: 1 });
    const start = clock.nowMs;
    const lost = await neverStored();
    expectError(await charge(), 403, CUSTOMER);
    clock.nowMs = start + 61_000;
    try {
      await charges(1);
      expectError(await charge(ANA, { idempotencyKey: lost }), 403, CUSTOMER);
    } finally {
      clock.nowMs = start;
    }
  });
  it('keeps customers’ documents for two hours, then deletes them with the account’s next charge', async () => {
    const start = clock.nowMs;
    await charges(2);
    try {
      clock.nowMs = start + 2 * HOUR_MS;
      await charges(1, BRUNO);
      expect(await customers()).to.deep.equal([ANA_DIGITS, ANA_DIGITS, BRUNO]);
      clock.nowMs += 1;
      await charges(1, null);
      expect(await customers()).to.deep.equal([BRUNO, null]);
    } finally {
      clock.nowMs = start;
    }
  });
  it('forgets the customer’s document when the charge is erased (L2)', async () => {
    bank.next('issue', { kind: 'refused', reason: 'No.', providerErrorCode: 'declined' });
    const { id } = (await charge()).body;
    expect(await customers()).to.deep.equal([ANA_DIGITS]);
    const headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
    const body = { payment: id, reason: 'request 17', despiteRetention: true };
    const erased = await gateway.call('POST', '/ops/v1/privacy/erase', { key: null, headers, body });
    expect(erased.status, erased.text).to.equal(200);
    const look = async () => ((await customers())[0] === null ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.equal(true);
  });
  it('is not consulted without a bank for live mode, which returns 422 (E5)', async () => {
    const bare = await openReady({ database, clock, isAlone: false });
    try {
      await limit({ customerPerHour: 1 });
      await charges(1);
      expectError(await charge(ANA, { at: bare }), 422, 'unprocessable_entity');
    } finally {
      await bare.close();
    }
  });
});
