// The order of checks on a payout request (Y4), and the hourly limits on live payouts (M7b).
import { expect } from 'chai';
import { changeAccountSettings } from '../../../../application/accounts/changeAccountSettings.ts';
import { metadataForProcess } from '../../../../application/core/eventMetadata.ts';
import type { SettingsChange } from '../../../../domain/account/settings.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { HOUR_MS } from '../../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { PAYOUT } from '../../../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../../../domain/payout/payout.ts';
import { incoming, settled } from '../../../support/samples.ts';
import { onBothStores } from '../../../world/bothStores.ts';
import { FakeProvider } from '../../../world/fakeProvider.ts';
import { FakeRail } from '../../../world/fakeRail.ts';
import { newKey, type Reply, type TestGateway, type TestTenant } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { type PayoutBody, PIX_KEY } from '../../../world/payoutDesk.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { migratedDatabase, type TestDatabase } from '../../../world/postgres.ts';

const BY = { actor: 'operator:test', requestId: null };
const VELOCITY = 'fraud.account_velocity_exceeded';
const OTHER_KEY = '12345678909';

onBothStores('refused payouts', (log) => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let withoutRail: TestGateway;
  let tenant: TestTenant;
  const rail = new FakeRail();
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  before(async () => {
    database = await migratedDatabase();
    const shared = { database, liveProvider: new FakeProvider(), clock, ...log() };
    gateway = await openReady({ ...shared, livePayoutRail: rail });
    withoutRail = await openReady({
      ...shared,
      isAlone: false,
      roles: { serves: true, projects: false, works: false },
    });
  });
  after(async () => {
    await withoutRail.close();
    await gateway.close();
    await database.drop();
  });
  beforeEach(async () => {
    tenant = await gateway.newTenant();
    await earn();
    // A new account allows no live destination.
    await settings({ cashoutDestinations: [PIX_KEY] });
  });
  afterEach(() => expect([...gateway.faults, ...withoutRail.faults]).to.deep.equal([]));

  let pixes = 0;
  /** Creates a live charge of 100,000 and settles it. Returns its ID. */
  const earn = async (): Promise<PaymentId> => {
    const made = await gateway.charge({ amount: 100_000 }, { key: tenant.liveKey, idempotencyKey: newKey() });
    expect(made.status, made.text).to.equal(201);
    const id = rawIdOf(made.body['id'] as string) as PaymentId;
    const payment = incoming({ providerPaymentId: `E${String(++pixes)}`, amount: toMinor(100_000) });
    const event = settled({ incoming: payment, at: gateway.gateway.accounts.realNow() });
    const why = metadataForProcess('test', { accountId: tenant.accountId, mode: 'live' }, id, id);
    const decide = () => ({ events: [event], reply: null });
    await gateway.gateway.commands.execute(PAYMENT, PAYMENT.stream(id), decide, why);
    return id;
  };
  const settings = (change: SettingsChange) => changeAccountSettings(gateway.gateway)(tenant.accountId, change, BY);
  const ask = (body: Body = {}, idempotencyKey = newKey(), at = gateway): Promise<Reply<PayoutBody>> =>
    at.post<PayoutBody>(
      '/v1/payouts',
      { amount: 10, destination: { pix_key: PIX_KEY }, ...body },
      { key: tenant.liveKey, idempotencyKey },
    );
  const made = async (body: Body = {}, idempotencyKey = newKey()): Promise<PayoutBody> => {
    const reply = await ask(body, idempotencyKey);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  };

  it('include all destinations, also of refunds, while the account’s list is empty (M7a)', async () => {
    const id = await earn();
    const refund = () => {
      const body = { idempotencyKey: newKey(), amount: 10, destinationKey: PIX_KEY };
      return gateway.post(`/v1/payments/${id}/refund`, body, { key: tenant.liveKey });
    };
    await settings({ cashoutDestinations: [] });
    expectError(await ask(), 422, 'destination_not_allowed', 'destination.pix_key');
    expectError(await refund(), 422, 'REFUND_NOT_SUPPORTED');
    await settings({ cashoutDestinations: [PIX_KEY] });
    await made();
    expect((await refund()).status).to.equal(201);
  });
  it('are checked for shape, idempotency, rail, destination, limits and funds, in this order (Y4)', async () => {
    const used = newKey();
    await made({ amount: 11 }, used);
    const fresh = newKey();
    await settings({ cashoutDestinations: [OTHER_KEY], payoutCount: 0, payoutSum: toMinor(0) });
    const tooMuch = 99_999_999_999;
    // Each row fixes the fault of the row before.
    const rows: readonly (readonly [ErrorCode, number, string | undefined, () => Promise<Reply<unknown>>])[] = [
      ['invalid_amount', 400, 'amount', () => ask({ amount: tooMuch + 1 }, used, withoutRail)],
      ['idempotency_key_reused', 409, 'Idempotency-Key', () => ask({ amount: tooMuch }, used, withoutRail)],
      ['unprocessable_entity', 422, undefined, () => ask({ amount: tooMuch }, fresh, withoutRail)],
      ['destination_not_allowed', 422, 'destination.pix_key', () => ask({ amount: tooMuch }, fresh)],
    ];
    for (const [code, status, param, send] of rows) expectError(await send(), status, code, param);
    const allowed = { destination: { pix_key: OTHER_KEY } };
    expectError(await ask({ amount: tooMuch, ...allowed }, fresh), 403, VELOCITY);
    await settings({ payoutCount: null });
    expectError(await ask({ amount: tooMuch, ...allowed }, fresh), 403, VELOCITY);
    await settings({ payoutSum: null });
    expectError(await ask({ amount: tooMuch, ...allowed }, fresh), 422, 'insufficient_funds', 'amount');
    const { id } = await made(allowed, fresh);
    expect((await eventTypes(gateway, PAYOUT.stream(rawIdOf(id) as PayoutId)))[0]).to.equal('PayoutRequested');
    expect((await ask({ amount: 11 }, used, withoutRail)).headers.get('idempotent-replayed')).to.equal('true');
  });

  it('above the limit of count or sum get 403, also under concurrency, until the hour has passed', async () => {
    await settings({ payoutCount: 3 });
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask()));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([...Array(3).fill(201), ...Array(5).fill(403)]);
    await settings({ payoutCount: null, payoutSum: toMinor(100) });
    expectError(await ask({ amount: 71 }), 403, VELOCITY);
    await made({ amount: 70 });
    expectError(await ask({ amount: 1 }), 403, VELOCITY);
    clock.nowMs += HOUR_MS + 1;
    await made({ amount: 100 });
    expectError(await ask({ amount: 1 }), 403, VELOCITY);
  });

  it('leave failed payouts in the count, but not replays, those without funds, and those in test mode', async () => {
    await settings({ payoutCount: 2 });
    expectError(await ask({ amount: 1_000_000 }), 422, 'insufficient_funds', 'amount');
    rail.answer = { kind: 'refused', reason: 'No.' };
    const key = newKey();
    const { id } = await made({}, key);
    const look = async () => {
      const { body } = await gateway.get<PayoutBody>(`/v1/payouts/${id}`, { key: tenant.liveKey });
      return body.status === 'failed' ? body : null;
    };
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.not.equal(null);
    rail.answer = { kind: 'processing' };
    expect((await made({}, key)).id).to.equal(id);
    await made();
    expectError(await ask(), 403, VELOCITY);
    expect((await made({}, key)).id).to.equal(id);
    const test = { key: tenant.testKey, idempotencyKey: newKey() };
    const body = { amount: 10, destination: { pix_key: PIX_KEY } };
    expectError(await gateway.post('/v1/payouts', body, test), 422, 'insufficient_funds', 'amount');
  });

  it('of a suspended account wait; approved ones continue after the reopening', async () => {
    const { platform, whenIdle } = gateway.gateway.services;
    await settings({ payoutApprovalAbove: toMinor(0) });
    const { id } = await made();
    await platform.suspendAccount(tenant.accountId, BY);
    const approve = { ...BY, userId: null };
    await platform.reviewPayoutOfAny(rawIdOf(id) as PayoutId, { verdict: 'approved' }, approve);
    expect(await gateway.gateway.reacted.caughtUp(10_000)).to.equal(true);
    await whenIdle(tenant.accountId, 2_000);
    const stream = PAYOUT.stream(rawIdOf(id) as PayoutId);
    expect(await eventTypes(gateway, stream)).to.deep.equal(['PayoutRequested', 'PayoutApproved']);
    expect(rail.orders.has(rawIdOf(id))).to.equal(false);
    expectError(await ask(), 401, 'unauthorized');
    rail.answer = { kind: 'confirmed', endToEndId: 'E1' };
    await platform.reopenAccount(tenant.accountId, BY);
    const isPaid = async () => ((await eventTypes(gateway, stream)).at(-1) === 'PayoutPaid' ? true : null);
    expect(await gateway.gateway.services.untilSeen(20_000, isPaid)).to.equal(true);
    rail.answer = { kind: 'processing' };
  });
});
