// Hourly limits on the count and sum of live refunds (rule M7b). Live mode uses a fake bank here.

import { expect } from 'chai';
import { changeAccountSettings } from '../../../../application/accounts/changeAccountSettings.ts';
import { metadataForProcess } from '../../../../application/core/eventMetadata.ts';
import type { AccountSettings } from '../../../../domain/account/account.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { HOUR_MS } from '../../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { incoming, settled } from '../../../support/samples.ts';
import { FakeProvider } from '../../../world/fakeProvider.ts';
import { newKey, type Reply, startedDatabase, type TestGateway, type TestTenant } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import type { TestDatabase } from '../../../world/postgres.ts';
import type { Refund } from '../../../world/refundDesk.ts';

const CODE = 'fraud.account_velocity_exceeded';

describe('refund limits (M7b)', () => {
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
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const limit = async (countPerHour: number | null, sumPerHour: number | null = null) => {
    const refundVelocity: AccountSettings['refundVelocity'] = {
      countPerHour,
      sumPerHour: sumPerHour === null ? null : toMinor(sumPerHour),
    };
    await changeAccountSettings(gateway.gateway)(
      tenant.accountId,
      { refundVelocity },
      { actor: 'operator:test', requestId: null },
    );
  };
  let pixes = 0;
  /** Creates and settles a charge, live by default. Returns its ID. */
  const paid = async (amount = 1_000, { currency = 'BRL', key = tenant.liveKey } = {}): Promise<PaymentId> => {
    const made = await gateway.charge({ amount }, { key, idempotencyKey: newKey() });
    expect(made.status, made.text).to.equal(201);
    const id = rawIdOf(made.body['id'] as string) as PaymentId;
    const payment = incoming({ providerPaymentId: `E${String(++pixes)}`, amount: toMinor(amount) });
    const event = settled({ incoming: payment, currency, at: gateway.gateway.accounts.realNow() });
    const mode = key === tenant.testKey ? 'test' : 'live';
    const why = metadataForProcess('test', { accountId: tenant.accountId, mode }, id, id);
    const decide = () => ({ events: [event], reply: null });
    await gateway.gateway.commands.execute(PAYMENT, PAYMENT.stream(id), decide, why);
    return id;
  };
  interface Options {
    readonly key?: string;
    readonly idempotencyKey?: string;
    readonly at?: TestGateway;
  }
  const refund = (id: PaymentId, amount?: number, options: Options = {}): Promise<Reply<Refund>> => {
    const { key = tenant.liveKey, idempotencyKey = newKey(), at = gateway } = options;
    const body = { idempotencyKey, strategy: 'devolution', ...(amount !== undefined && { amount }) };
    return at.post<Refund>(`/v1/payments/${id}/refund`, body, { key });
  };
  const made = async (id: PaymentId, amount?: number, options: Options = {}): Promise<Refund> => {
    const reply = await refund(id, amount, options);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  };
  const outcomes = (replies: readonly Reply<unknown>[]) =>
    Object.fromEntries(
      [...Map.groupBy(replies, ({ status }) => status)].map(([status, all]) => [status, all.length] as const),
    );

  it('are off by default and can be removed', async () => {
    const id = await paid();
    for (let i = 0; i < 3; i++) await made(id, 1);
    await limit(1);
    await made(id, 1);
    expectError(await refund(id, 1), 403, CODE);
    await limit(null);
    await made(id, 1);
  });
  it('accept up to the limit of 50 concurrent refunds; the rest write nothing', async () => {
    const id = await paid();
    await limit(7);
    const replies = await Promise.all(Array.from({ length: 50 }, () => refund(id, 1)));
    expect(outcomes(replies)).to.deep.equal({ 201: 7, 403: 43 });
    for (const reply of replies) if (reply.status === 403) expectError(reply, 403, CODE);
    const written = await eventTypes(gateway, PAYMENT.stream(id));
    expect(written.filter((type) => type === 'TransactionRefundReserved')).to.have.length(7);
  });
  it('40 concurrent refunds of several payments at two processes don’t exceed the sum', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => paid()));
    await limit(null, 100);
    const other = await openReady({ database, liveProvider: bank, clock, isAlone: false });
    try {
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          refund(ids[i % 4] as PaymentId, 13, { at: i % 2 === 0 ? gateway : other }),
        ),
      );
      expect(outcomes(replies)).to.deep.equal({ 201: 7, 403: 33 });
      expect(other.faults).to.deep.equal([]);
    } finally {
      await other.close();
    }
  });
  it('count the exact sum per currency, and the remaining amount if none is given', async () => {
    const [id, euros] = [await paid(), await paid(1_000, { currency: 'EUR' })];
    await limit(null, 1_500);
    await made(id, 999);
    expectError(await refund(euros, 1_001), 400, 'refund_amount_exceeds_remaining', 'amount');
    await made(euros);
    await made(id); // the last 1
    const more = await paid(501);
    expectError(await refund(more), 403, CODE);
    await made(more, 500);
    expectError(await refund(more, 1), 403, CODE);
  });
  it('of 0 reject every refund, by count and by sum', async () => {
    const id = await paid();
    await limit(0);
    expectError(await refund(id, 1), 403, CODE);
    await limit(null, 0);
    expectError(await refund(id, 1), 403, CODE);
  });
  it('never reject a replay; a rejected key stays free (K5)', async () => {
    const [id, first, second] = [await paid(), newKey(), newKey()];
    await limit(1);
    const before = await refund(id, 5, { idempotencyKey: first });
    expectError(await refund(id, 5, { idempotencyKey: second }), 403, CODE);
    await limit(0);
    const again = await refund(id, 5, { idempotencyKey: first });
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).to.deep.equal([
      201,
      before.text,
      'true',
    ]);
    expectError(await refund(id, 6, { idempotencyKey: first }), 409, 'idempotency_key_reused', 'idempotencyKey');
    // This holds after its place in that hour has expired.
    clock.nowMs += HOUR_MS;
    try {
      expect((await refund(id, 5, { idempotencyKey: first })).text).to.equal(before.text);
    } finally {
      clock.nowMs -= HOUR_MS;
    }
    await limit(2);
    await made(id, 7, { idempotencyKey: second });
    expectError(await refund(id, 1), 403, CODE);
  });
  it('count 20 concurrent requests with one key once', async () => {
    const [id, idempotencyKey] = [await paid(), newKey()];
    await limit(2, 10);
    const replies = await Promise.all(Array.from({ length: 20 }, () => refund(id, 5, { idempotencyKey })));
    expect(outcomes(replies)).to.deep.equal({ 201: 20 });
    await made(id, 5);
    expectError(await refund(id, 1), 403, CODE);
  });
  it('count failed refunds, but none rejected for another reason', async () => {
    const id = await paid();
    await limit(2);
    for (let i = 0; i < 3; i++) expectError(await refund(id, 1_001), 400, 'refund_amount_exceeds_remaining', 'amount');
    bank.refundOutcome = { kind: 'refused', reason: 'No.' };
    const { id: refundId } = await made(id, 1_000);
    const ended = await pollUntil(gateway.gateway.projected, 20_000, async () => {
      const { body } = await gateway.get<{ data: readonly Refund[] }>(`/v1/payments/${id}/refunds`, {
        key: tenant.liveKey,
      });
      return body.data.find((one) => one.id === refundId && one.status === 'FAILED') ?? null;
    });
    bank.refundOutcome = { kind: 'processing' };
    expect(ended).to.not.equal(null);
    await made(id, 1);
    expectError(await refund(id, 1), 403, CODE);
  });
  it('count each account’s live mode separately', async () => {
    await limit(1);
    const [id, test] = [await paid(), await paid(1_000, { key: tenant.testKey })];
    for (let i = 0; i < 3; i++) await made(test, 1, { key: tenant.testKey });
    await made(id, 1);
    expectError(await refund(id, 1), 403, CODE);
    const first = tenant;
    tenant = await gateway.newTenant();
    await limit(1);
    await made(await paid(), 1);
    tenant = first;
    expectError(await refund(id, 1), 403, CODE);
  });
  it('use a sliding hour and delete earlier reservations', async () => {
    const id = await paid();
    await limit(2);
    const start = clock.nowMs;
    try {
      await made(id, 1);
      clock.nowMs = start + HOUR_MS / 2;
      await made(id, 1);
      clock.nowMs = start + HOUR_MS - 1;
      expectError(await refund(id, 1), 403, CODE);
      clock.nowMs = start + HOUR_MS;
      await made(id, 1);
      expectError(await refund(id, 1), 403, CODE);
      clock.nowMs = start + 4 * HOUR_MS;
      await made(id, 1);
    } finally {
      clock.nowMs = start;
    }
    const { rows } = await gateway.storage.operations.query(
      'SELECT FROM operations.refund_reservations WHERE account_id = $1',
      [tenant.accountId],
    );
    expect(rows).to.have.length(1);
  });
  it('keep the place of a refund that was never stored, under its key and for any amount', async () => {
    const [id, lost] = [await paid(), newKey()];
    await limit(1, 100);
    const { store } = gateway.storage;
    const append = store.append;
    store.append = async () => {
      throw new Error('the log is away');
    };
    try {
      expectError(await refund(id, 10, { idempotencyKey: lost }), 500, 'internal_error');
    } finally {
      store.append = append;
    }
    expect(gateway.faults.splice(0)).to.have.length(1);
    expectError(await refund(id, 1), 403, CODE);
    expectError(await refund(id, 101, { idempotencyKey: lost }), 403, CODE);
    await made(id, 100, { idempotencyKey: lost });
  });
});
