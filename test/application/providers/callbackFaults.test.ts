// Callbacks when the institution does not answer, after crashes, handled concurrently, and with malformed bodies.

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { changeAccountSettings } from '../../../application/accounts/changeAccountSettings.ts';
import { StreamUnreadable } from '../../../application/core/commandHandler.ts';
import type { TakeReturns } from '../../../application/disputes/takeReturns.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { handleCallback, startOwnReturns } from '../../../application/providers/handleCallback.ts';
import type { PaymentId, StreamName } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import type { StoredSecret } from '../../../domain/providerConnection/secrets.ts';
import { sealBody } from '../../../infrastructure/providers/callbackBodies.ts';
import { newId } from '../../support/core.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { CallbackDesk, type Connected, type LiveCharge, newEndToEndId } from '../../world/callbackDesk.ts';
import { FakeRail } from '../../world/fakeRail.ts';
import { newKey, testKeyring } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import { pollUntil } from '../../world/pollUntil.ts';
import { NO_SCHEDULES } from '../../world/withoutWorld.ts';

const MINUTE_MS = 60_000;
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('faulty callbacks', () => {
  let desk: CallbackDesk;
  before(async () => {
    desk = await CallbackDesk.open([{}, {}], { startSchedule: NO_SCHEDULES });
  });
  after(() => desk.close());
  beforeEach(async () => {
    await desk.gateway.storage.operations.query('DELETE FROM operations.provider_callbacks');
    desk.provider.forget();
  });

  /** Stores a callback without its job, as if the process had crashed. Returns the callback’s id. */
  const lost = async (body: object): Promise<string> => {
    const { operations } = desk.gateway.storage;
    const bytes = Buffer.from(JSON.stringify(body));
    const callback = { connection_id: desk.first.id, body_hash: createHash('sha256').update(bytes).digest() };
    const sealed = sealBody(testKeyring(), callback, bytes);
    const { rows } = await operations.query<{ id: number }>(
      `INSERT INTO operations.provider_callbacks (connection_id, body_hash, raw, key_id, sealed)
       VALUES ($1, $2, $3, $4, $5) RETURNING id`,
      [callback.connection_id, callback.body_hash, sealed.raw, sealed.key_id, sealed.sealed],
    );
    return String(rows[0]?.id);
  };
  const handle = (callbackId: string, returnsOf: readonly TakeReturns[] = []) =>
    handleCallback(desk.needs, returnsOf)({ connectionId: desk.first.id, callbackId });
  const told = (charge: LiveCharge, endToEndId: string) => ({ pix: [{ endToEndId, txid: charge.txid }] });

  it('are found by the watchdog after a crash before their job', async () => {
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    await lost(told(charge, endToEndId));
    expect(await desk.watch()).to.not.include('providerCallback');
    await desk.age(2 * MINUTE_MS);
    expect(await desk.watch()).to.include('providerCallback');
    expect(await desk.untilHandled()).to.deep.equal([['handled']]);
    await desk.untilReceived(charge, `${endToEndId} settled`);
  });

  it('wait while the institution does not answer, and credit the payment once it does', async () => {
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    const id = await lost(told(charge, endToEndId));
    desk.provider.next('findPayment', 'unknown');
    expect(await thrown(handle(id))).to.be.instanceOf(UnknownAtProvider);
    expect([await desk.outcomes(), await desk.received(charge)]).to.deep.equal([[[null]], []]);
    await handle(id);
    expect(await desk.outcomes()).to.deep.equal([['handled']]);
    await desk.untilReceived(charge, `${endToEndId} settled`);
    await handle(id);
    expect(await desk.received(charge)).to.deep.equal([`${endToEndId} settled`]);
  });

  it('wait until the removal of their connection is complete, so that its second count sees them (V5)', async () => {
    const id = await lost({ pix: [{ endToEndId: newEndToEndId() }] });
    let secrets: readonly StoredSecret[] = [{ kind: 'client', version: 1 }];
    const needs = {
      ...desk.needs,
      providerConnections: { open: async () => null, statusOf: async () => 'removed' as const },
      connectionVault: { stored: async () => secrets },
    };
    const attempt = () => handleCallback(needs, [])({ connectionId: desk.first.id, callbackId: id });
    expect(await thrown(attempt())).to.be.instanceOf(UnknownAtProvider);
    expect(await desk.outcomes()).to.deep.equal([[null]]);
    secrets = [];
    await attempt();
    expect(await desk.outcomes()).to.deep.equal([['notConfirmed', 'connection_removed']]);
  });

  it('of a batch are resumed without looking up the completed payments again', async () => {
    const charges = await Promise.all(Array.from({ length: 11 }, () => desk.charge()));
    const pix = charges.map((charge) => ({ endToEndId: desk.paid(charge), txid: charge.txid }));
    const id = await lost({ pix });
    const last = pix.at(-1)?.endToEndId;
    const find = desk.provider.findPayment.bind(desk.provider);
    desk.provider.findPayment = async (tenant, one) => (one === last ? { kind: 'unknown' } : find(tenant, one));
    expect(await thrown(handle(id))).to.be.instanceOf(UnknownAtProvider);
    desk.provider.findPayment = find;
    // Settlement looks up payments as well.
    for (const [n, charge] of charges.slice(0, 10).entries())
      await desk.untilReceived(charge, `${pix[n]?.endToEndId} settled`);
    desk.provider.calls.length = 0;
    await handle(id);
    await desk.untilReceived(charges[10] as LiveCharge, `${last} settled`);
    expect(new Set(desk.provider.calls)).to.deep.equal(new Set([`findPayment ${last}`]));
  });

  it('with ten unreadable payouts are handled to the end, then fail', async () => {
    const payouts = Array.from({ length: 11 }, () => newId<PayoutId>());
    const last = PAYOUT.stream(payouts.at(-1) as PayoutId);
    const id = await lost({ sent: payouts });
    const { commands } = desk.needs;
    const looked: StreamName[] = [];
    const load: typeof commands.load = async (aggregate, stream) => {
      looked.push(stream);
      if (stream !== last) throw new StreamUnreadable(stream);
      return commands.load(aggregate, stream);
    };
    const reading = { load } as typeof commands;
    const handled = handleCallback(
      { ...desk.needs, commands: reading },
      [],
    )({
      connectionId: desk.first.id,
      callbackId: id,
    });
    expect(await thrown(handled)).to.be.instanceOf(StreamUnreadable);
    expect(looked).to.include(last);
    expect(await desk.outcomes()).to.deep.equal([[null]]);
  });

  it('are credited once if handled concurrently', async () => {
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    const id = await lost(told(charge, endToEndId));
    await Promise.all(Array.from({ length: 4 }, () => handle(id)));
    await desk.untilReceived(charge, `${endToEndId} settled`);
    expect(await desk.outcomes()).to.deep.equal([['handled']]);
  });

  it('that the adapter can’t parse are kept and don’t delay others', async () => {
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    expect((await desk.call('poison')).status).to.equal(200);
    await desk.told({ endToEndId });
    expect(await desk.untilHandled()).to.deep.equal([['notUnderstood'], ['handled']]);
    await desk.untilReceived(charge, `${endToEndId} settled`);
  });

  it('with invalid ids are not looked up at the institution', async () => {
    const bad = ['', 'E1', `E${'\0'.repeat(31)}`, 'x'.repeat(100_000)];
    await lost({ pix: bad.map((endToEndId) => ({ endToEndId })), sent: ['none', '\0'] });
    await handle((await desk.ids())[0] ?? '');
    const invalid = bad.map(() => 'invalid_id');
    expect(await desk.outcomes()).to.deep.equal([['notConfirmed', ...invalid, 'unknown_id', 'unknown_id']]);
    expect(desk.provider.calls).to.deep.equal([]);
    expect((await desk.listed())[0]?.findings.map(({ reference }) => reference.length)).to.deep.equal([
      0, 2, 32, 64, 4, 1,
    ]);
  });

  it('for a charge that has ended return the payment', async () => {
    const charge = await desk.charge();
    const cancelled = await desk.gateway.post(
      `/v1/payments/${charge.paymentId}/cancel`,
      {},
      { key: desk.gateway.tenant.liveKey },
    );
    expect(cancelled.status, cancelled.text).to.equal(200);
    const endToEndId = desk.paid(charge);
    await desk.told({ endToEndId, txid: charge.txid });
    expect(await desk.untilHandled()).to.deep.equal([['handled']]);
    await desk.untilReceived(charge, `${endToEndId} returned`);
  });

  it('about returns start Quita’s own refunds and pass on every return', async () => {
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    await desk.told({ endToEndId });
    await desk.untilReceived(charge, `${endToEndId} settled`);
    const { tenant } = desk.gateway;
    const path = `/v1/payments/${charge.paymentId}/refund`;
    const reply = await desk.gateway.post<{ id: string; status: string }>(
      path,
      { amount: 100, strategy: 'devolution', idempotencyKey: newKey() },
      { key: tenant.liveKey },
    );
    expect(reply.status, reply.text).to.equal(201);
    const refundId = rawIdOf(reply.body.id);
    const { provider } = desk;
    expect(
      await pollUntil(desk.gateway.gateway.projected, 20_000, async () => provider.refunds.get(refundId) ?? null),
    ).to.not.equal(null);
    const at = parseTimestamp('2026-11-24T12:00:00.000Z');
    const order = provider.refunds.get(refundId)?.order;
    if (order === undefined) throw new Error('no order');
    provider.refunds.set(refundId, { order, outcome: { kind: 'confirmed', endToEndId: `D${endToEndId.slice(1)}` } });
    const own = { id: refundId, returnId: null, nature: 'ordinary' as const, status: 'done' as const };
    const returned = { ...own, amount: toMinor(100), requestedAt: at, settledAt: at, reason: null };
    const foreign = { ...returned, id: 'of-somebody-else', nature: 'medFraud' as const };
    const find = provider.findPayment.bind(provider);
    provider.findPayment = async (of, id) => {
      const found = await find(of, id);
      return found.kind === 'known' && found.value !== null
        ? { kind: 'known', value: { ...found.value, returns: [returned, foreign] } }
        : found;
    };
    const handed: [PaymentId, readonly string[]][] = [];
    const take: TakeReturns = async ({ paymentId }, { returns }) =>
      void handed.push([paymentId, returns.map((one) => one.id)]);
    await handle(await lost({ pix: [{ endToEndId, txid: charge.txid }], again: true }), [
      startOwnReturns(desk.needs),
      take,
    ]);
    provider.findPayment = find;
    expect(handed).to.deep.equal([[charge.paymentId, [refundId, 'of-somebody-else']]]);
    const look = async () => {
      const list = await desk.gateway.get<{ data: { status: string }[] }>(`/v1/payments/${charge.paymentId}/refunds`, {
        key: tenant.liveKey,
      });
      return list.body.data[0]?.status === 'REFUNDED' ? true : null;
    };
    expect(await pollUntil(desk.gateway.gateway.projected, 20_000, look)).to.equal(true);
  });

  it('of an institution that does not answer leave capacity for others, however many there are', async () => {
    const [other] = desk.others as readonly [Connected];
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    other.fake.provider.findPayment = async () => {
      asked.resolve();
      await answered.promise;
      return { kind: 'unknown' };
    };
    for (let n = 0; n < 40; n++)
      expect((await desk.call({ pix: [{ endToEndId: newEndToEndId() }] }, { connection: other })).status).to.equal(200);
    await asked.promise;
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    await desk.told({ endToEndId, txid: charge.txid });
    await desk.untilReceived(charge, `${endToEndId} settled`);
    expect((await desk.outcomes()).filter(([outcome]) => outcome === null)).to.have.length.at.least(40);
    answered.resolve();
  });

  it('about sent payments ask the connection of the payout, also if they arrive at another one', async () => {
    const rail = new FakeRail();
    desk.first.fake.rail = rail;
    const charge = await desk.charge(10_000);
    const endToEndId = desk.paid(charge, { amount: toMinor(10_000) });
    await desk.told({ endToEndId });
    await desk.untilReceived(charge, `${endToEndId} settled`);
    const key = desk.gateway.tenant.liveKey;
    await desk.gateway.untilProjected();
    const { gateway, tenant } = desk.gateway;
    const by = { actor: 'operator:test', requestId: null };
    await changeAccountSettings(gateway)(tenant.accountId, { cashoutDestinations: ['ana@example.com'] }, by);
    const order = { amount: 1_000, destination: { pix_key: 'ana@example.com' } };
    const requested = await desk.gateway.post<{ id: string }>('/v1/payouts', order, { key, idempotencyKey: newKey() });
    expect(requested.status, requested.text).to.equal(201);
    const payoutId = rawIdOf(requested.body.id);
    const { projected } = desk.gateway.gateway;
    expect(await pollUntil(projected, 20_000, async () => rail.orders.get(payoutId) ?? null)).to.not.equal(null);
    rail.orders.set(payoutId, { kind: 'confirmed', endToEndId: newEndToEndId() });
    const [other] = desk.others as readonly [Connected];
    expect((await desk.call({ sent: [payoutId, newId()] }, { connection: other })).status).to.equal(200);
    const outcomes = await desk.untilHandled();
    expect(outcomes.at(-1)).to.deep.equal(['unmatched', 'unknown_id']);
    const look = async () => {
      const { body } = await desk.gateway.get<{ status: string }>(`/v1/payouts/po_${payoutId}`, { key });
      return body.status === 'paid' ? true : null;
    };
    expect(await pollUntil(projected, 20_000, look)).to.equal(true);
  });
});
