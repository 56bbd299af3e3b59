// Provider connections, managed by operators over HTTP, with simulated institutions (rules V1, V5, V7).
import { expect } from 'chai';
import type { CallbackSecrets, ProviderCallbacks } from '../../../../application/ports/providerCallbacks.ts';
import type { ConnectionReads } from '../../../../application/ports/readModels/providers.ts';
import type { ConnectionId, MedCaseId, PaymentId } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { assertExists } from '../../../../domain/payment/payment.ts';
import { openLog } from '../../../../infrastructure/log/log.ts';
import type { ConnectionRegistry } from '../../../../infrastructure/providers/connections.ts';
import type { Simulator } from '../../../simulators/pixApi/startSimulator.ts';
import { ELSEWHERE, RECEIVER } from '../../../support/tls/certificates.ts';
import { type Added, ConnectionDesk, settingsFor } from '../../../world/connectionDesk.ts';
import { expectError, rawIdOf } from '../../../world/http.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { migratedDatabase, type TestDatabase } from '../../../world/postgres.ts';

const UNKNOWN = `pc_${'0'.repeat(26)}`;

describe('provider connections', () => {
  let desk: ConnectionDesk;
  let database: TestDatabase;
  let bank: Simulator;
  const logged: string[] = [];
  beforeEach(async () => {
    logged.length = 0;
    database = await migratedDatabase();
    desk = await ConnectionDesk.open({ database, log: openLog('info', { write: (line) => void logged.push(line) }) });
    bank = await desk.simulator();
  });
  afterEach(async () => {
    const { faults } = desk.gateway;
    await desk.close();
    await database.drop();
    expect(faults).to.deep.equal([]);
  });

  const connectionOf = async (chargeId: string) => {
    const { commands } = desk.gateway.gateway;
    const { state } = await commands.load(PAYMENT, PAYMENT.stream(rawIdOf(chargeId) as PaymentId));
    const { connectionId } = assertExists(state).charge.terms;
    return connectionId && `pc_${connectionId}`;
  };
  const created = async (key?: string) => {
    const reply = await desk.charge({}, key);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body.id;
  };

  it('issue live charges as soon as one is added; without one, live charges get 422', async () => {
    expectError(await desk.charge(), 422, 'unprocessable_entity');
    const { id, callbackUrl } = await desk.add(bank);
    expect(id).to.match(/^pc_[0-9a-z]{26}$/);
    expect(callbackUrl).to.match(new RegExp(`^${desk.gateway.baseUrl}/providers/${id}/[0-9a-f]{32}$`));
    const chargeId = await created();
    expect(await connectionOf(chargeId)).to.equal(id);
    expect(bank.calls('charge.create')).to.equal(1);
    const { body } = await desk.ask<{ data: object[] }>('GET');
    expect(body.data).to.deep.equal([await desk.show(id)]);
    expect(await desk.show(id)).to.deep.include({
      ...{ id, status: 'enabled', kind: 'pix', preset: 'generic', name: 'Banco', baseUrl: bank.baseUrl, order: 0 },
      ...{ accountId: null, methods: ['PIX'], certificate: null, hasCa: false, circuit: 'closed' },
      ...{ openPayments: 1, openPayouts: 0, previousCallbackUntil: null, allowPrivate: true },
    });
  });

  it('reveal no secret in responses, logs, events or the database', async () => {
    const secret = bank.clients[0]?.clientSecret as string;
    const { id, callbackUrl } = await desk.add(bank, { certificate: RECEIVER.cert, privateKey: RECEIVER.key });
    await created();
    const rotated = await desk.ask<{ callbackUrl: string }>('POST', `/${id}/callback-secret`);
    await desk.ask('POST', `/${id}/client-secret`, { clientSecret: 'outro-segredo-do-cliente' });
    const answers = [await desk.show(id), (await desk.ask('GET')).body];
    const { operations } = desk.gateway.storage;
    const { rows: tables } = await operations.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const dumped = await Promise.all(
      tables.map(({ name }) => operations.query<{ line: string }>(`SELECT t::text AS line FROM ${name} t`)),
    );
    const texts = [...logged, JSON.stringify(answers), ...dumped.flatMap(({ rows }) => rows.map(({ line }) => line))];
    const keyLine = RECEIVER.key.split('\n')[1] as string;
    const urls = [callbackUrl, rotated.body.callbackUrl].map((url) => url.split('/').at(-1) as string);
    for (const hidden of [secret, 'outro-segredo-do-cliente', keyLine, ...urls]) {
      const hex = Buffer.from(hidden).toString('hex');
      expect(texts.filter((text) => text.includes(hidden) || text.includes(hex))).to.deep.equal([]);
    }
    expect(texts.some((text) => text.includes('ProviderConnectionClientSecretRotated'))).to.equal(true);
  });

  it('reject invalid settings with the name of the setting', async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ preset: 'banco' }, 'preset'],
      [{ name: ' ' }, 'name'],
      [{ pixKey: '12345678900' }, 'pixKey'],
      [{ allowPrivate: false }, 'baseUrl'],
      [{ tokenUrl: 'https://169.254.169.254/token' }, 'tokenUrl'],
      [{ certificate: RECEIVER.cert, privateKey: ELSEWHERE.key }, 'privateKey'],
      [{ clientSecret: '' }, 'clientSecret'],
      [{ accountId: `acct_${'0'.repeat(26)}` }, 'accountId'],
    ];
    for (const [over, param] of wrong)
      expectError(await desk.ask('POST', '', { ...settingsFor(bank), ...over }), 400, 'invalid_connection', param);
    const { id } = await desk.add(bank);
    expectError(await desk.ask('PATCH', `/${id}`, { pixKey: 'x' }), 400, 'invalid_connection', 'pixKey');
    expectError(await desk.ask('PATCH', `/${id}`, { secret: 'x' }), 400, 'invalid_request', 'secret');
  });

  it('accept no new payments while draining, and continue existing ones', async () => {
    const { id } = await desk.add(bank);
    const chargeId = await created();
    const drained = await desk.ask('POST', `/${id}/drain`);
    expect([drained.status, drained.body.status]).to.deep.equal([200, 'draining']);
    expect((await desk.ask('POST', `/${id}/drain`)).body.status).to.equal('draining');
    await desk.untilRouted(0);
    expectError(await desk.charge(), 422, 'unprocessable_entity');
    const { tenant } = desk.gateway;
    const cancelled = await desk.gateway.post<{ status: string }>(
      `/v1/payments/${chargeId}/cancel`,
      {},
      { key: tenant.liveKey },
    );
    expect([cancelled.status, cancelled.body.status], cancelled.text).to.deep.equal([200, 'CANCELLED']);
    await desk.ask('POST', `/${id}/enable`);
    await desk.untilRouted(1);
    await created();
  });

  it('complete a creation that began before draining', async () => {
    const { id } = await desk.add(bank);
    bank.fault({ on: 'charge.create', kind: 'slow', ms: 1_500 });
    const creating = created();
    await bank.whenCalled('charge.create');
    expect((await desk.ask('POST', `/${id}/drain`)).body.status).to.equal('draining');
    expect(await connectionOf(await creating)).to.equal(id);
  });

  it('accept nothing from a suspended account, and continue its payments', async () => {
    const { id } = await desk.add(bank);
    const shop = await desk.gateway.newTenant();
    await created(shop.liveKey);
    const { platform } = desk.gateway.gateway.services;
    await platform.suspendAccount(shop.accountId, { actor: 'operator:test', requestId: null });
    expect((await desk.charge({}, shop.liveKey)).status).to.equal(401);
    const { charges } = bank.state().clients[0] as { charges: readonly { readonly txid: string }[] };
    expect(charges).to.have.length(1);
    bank.pay((charges[0] as { txid: string }).txid);
    const { callbackUrl } = (await desk.ask<Added>('POST', `/${id}/callback-secret`)).body;
    await desk.untilVersion(id, 2);
    const { endToEndId } = (bank.state().clients[0] as { received: readonly { endToEndId: string }[] }).received[0] as {
      endToEndId: string;
    };
    const pix = [{ endToEndId, txid: charges[0]?.txid }];
    const told = await fetch(callbackUrl, { method: 'POST', body: JSON.stringify({ pix }) });
    expect(told.status).to.equal(200);
    await desk.untilFinal(id);
  });

  it('are never called while disabled; doctor reports the waiting payments', async () => {
    const { id } = await desk.add(bank);
    const chargeId = await created();
    await desk.ask('POST', `/${id}/disable`);
    await desk.untilRouted(0);
    // A list query that was under way may still arrive.
    const calls = () => ({ ...bank.state().calls, 'pix.list': undefined });
    const before = calls();
    const { tenant, gateway } = desk.gateway;
    const cancelled = await desk.gateway.post(`/v1/payments/${chargeId}/cancel`, {}, { key: tenant.liveKey });
    expect(cancelled.status, cancelled.text).to.equal(503);
    expect(calls()).to.deep.equal(before);
    expect(await gateway.services.platform.connectionProblems()).to.deep.equal([
      `${id} (Banco) is disabled, and payments or payouts wait for it (1): provider enable or drain`,
    ]);
  });

  it('keep existing charges when another one becomes the default', async () => {
    const first = await desk.add(bank, { order: 5 });
    const old = await created();
    const other = await desk.simulator();
    const second = await desk.add(other, { order: 1 });
    await desk.untilRouted(2);
    const fresh = await created();
    expect(await Promise.all([old, fresh].map(connectionOf))).to.deep.equal([first.id, second.id]);
    const { tenant } = desk.gateway;
    for (const id of [old, fresh])
      expect((await desk.gateway.post(`/v1/payments/${id}/cancel`, {}, { key: tenant.liveKey })).status).to.equal(200);
    expect([bank.calls('charge.change'), other.calls('charge.change')]).to.deep.equal([1, 1]);
  });

  it('of an account are used by that account only, before shared ones', async () => {
    const mine = await desk.simulator();
    const all = await desk.add(bank, { order: 0 });
    const own = await desk.add(mine, { order: 9, accountId: `acct_${desk.gateway.tenant.accountId}` });
    await desk.untilRouted(2);
    const other = await desk.gateway.newTenant();
    const ids = [await created(), await created(other.liveKey)];
    expect(await Promise.all(ids.map(connectionOf))).to.deep.equal([own.id, all.id]);
  });

  it('fall back to the next one when the first certainly did nothing', async () => {
    const first = await desk.add(bank);
    const other = await desk.simulator();
    const second = await desk.add(other, { order: 1 });
    await desk.untilRouted(2);
    bank.fault({ on: 'charge.create', kind: '429', times: null });
    const id = await created();
    expect(await connectionOf(id)).to.equal(second.id);
    expect((await desk.show(first.id)).openPayments).to.equal(0);
    expect((await desk.show(second.id)).openPayments).to.equal(1);
  });

  it('are removed only after their payments are final', async () => {
    const { id } = await desk.add(bank);
    const chargeId = await created();
    expectError(await desk.ask('DELETE', `/${id}`), 400, 'connection_in_use');
    expect((await desk.show(id)).status).to.equal('draining');
    const { tenant } = desk.gateway;
    await desk.gateway.post(`/v1/payments/${chargeId}/cancel`, {}, { key: tenant.liveKey });
    for (const _ of ['once', 'twice']) expect((await desk.ask('DELETE', `/${id}`)).status).to.equal(204);
    expectError(await desk.ask('GET', `/${id}`), 404, 'not_found');
    expectError(await desk.ask('POST', `/${id}/enable`), 404, 'not_found');
    expect((await desk.ask('GET')).body).to.deep.equal({ data: [] });
    const { rows } = await desk.gateway.storage.operations.query('SELECT FROM operations.connection_secrets');
    expect(rows).to.have.length(0);
  });

  /** Adds a connection and settles one of its charges. */
  const settled = async () => {
    const { id, callbackUrl } = await desk.add(bank);
    const chargeId = await created();
    const { charges } = bank.state().clients[0] as { charges: readonly { readonly txid: string }[] };
    const txid = charges[0]?.txid as string;
    const told = async (endToEndId: string) => {
      const body = JSON.stringify({ pix: [{ endToEndId, txid }] });
      expect((await fetch(callbackUrl, { method: 'POST', body })).status).to.equal(200);
    };
    await told(bank.pay(txid));
    await desk.untilFinal(id);
    const payAgain = () => told(bank.pay(txid, { force: true }));
    return { id, chargeId, payAgain };
  };

  it('are not removed before their callbacks are handled, so that a second Pix goes back (M4, V5)', async () => {
    const { id, chargeId, payAgain } = await settled();
    bank.fault({ on: '*', kind: '503', times: null });
    await payAgain();
    const refused = await desk.ask('DELETE', `/${id}`);
    expectError(refused, 400, 'connection_in_use');
    expect(refused.text).to.include('The connection has callbacks that are not handled (1). Drain it');
    bank.clearFaults();
    const { commands, projected } = desk.gateway.gateway;
    const look = async () => {
      const { state } = await commands.load(PAYMENT, PAYMENT.stream(rawIdOf(chargeId) as PaymentId));
      const outcomes = assertExists(state).transaction.incomingPayments.map(({ outcome }) => outcome);
      return outcomes.join() === 'settled,returned' ? true : null;
    };
    expect(await pollUntil(projected, 20_000, look)).to.equal(true);
    await desk.untilFinal(id);
    expect((await desk.ask('DELETE', `/${id}`)).status).to.equal(204);
  });

  it('are not removed if a callback arrives after the first count, although its job begins meanwhile (M4, V5)', async () => {
    const { id, chargeId, payAgain } = await settled();
    const { commands, needs, projected } = desk.gateway.gateway;
    const { connections, providerCallbacks, providerConnections } = needs as unknown as {
      readonly connections: ConnectionReads;
      readonly providerCallbacks: ProviderCallbacks;
      readonly providerConnections: ConnectionRegistry;
    };
    const unhandledOf = connections.unhandled.bind(connections);
    const begin = providerCallbacks.unhandled.bind(providerCallbacks);
    const isRemoved = async () =>
      (await providerConnections.statusOf(rawIdOf(id) as ConnectionId)) === 'removed' ? true : null;
    const counts: number[] = [];
    Object.assign(connections, {
      unhandled: async (one: ConnectionId) => {
        const count = await unhandledOf(one);
        if (counts.push(count) === 1) await payAgain();
        return count;
      },
    });
    Object.assign(providerCallbacks, {
      unhandled: async (callback: string) => {
        if (counts.length === 1) await pollUntil(projected, 20_000, isRemoved);
        return begin(callback);
      },
    });
    expectError(await desk.ask('DELETE', `/${id}`), 400, 'connection_in_use');
    Object.assign(connections, { unhandled: unhandledOf });
    Object.assign(providerCallbacks, { unhandled: begin });
    expect(counts).to.deep.equal([0, 1]);
    const look = async () => {
      const { state } = await commands.load(PAYMENT, PAYMENT.stream(rawIdOf(chargeId) as PaymentId));
      const outcomes = assertExists(state).transaction.incomingPayments.map(({ outcome }) => outcome);
      return outcomes.join() === 'settled,returned' ? true : null;
    };
    expect(await pollUntil(projected, 20_000, look)).to.equal(true);
  });

  it('are not removed before the notifications of their payments are handled', async () => {
    const { id } = await settled();
    const { operations } = desk.gateway.storage;
    await operations.query('UPDATE operations.provider_notifications SET handled_at = NULL');
    expectError(await desk.ask('DELETE', `/${id}`), 400, 'connection_in_use');
    await operations.query('UPDATE operations.provider_notifications SET handled_at = now()');
    expect((await desk.ask('DELETE', `/${id}`)).status).to.equal(204);
  });

  it('are removed although a callback has failed for a week; it then waits for an operator', async () => {
    const { id, payAgain } = await settled();
    bank.fault({ on: '*', kind: '503', times: null });
    await payAgain();
    expectError(await desk.ask('DELETE', `/${id}`), 400, 'connection_in_use');
    const { operations } = desk.gateway.storage;
    const age = (by: string) =>
      operations.query(
        `UPDATE operations.provider_callbacks SET received_at = received_at - interval '${by}' WHERE handled_at IS NULL`,
      );
    await age('6 days 23 hours');
    expectError(await desk.ask('DELETE', `/${id}`), 400, 'connection_in_use');
    await age('1 hour');
    expect((await desk.ask('DELETE', `/${id}`)).status).to.equal(204);
    const look = async () => {
      const { rows } = await operations.query<{ outcome: string | null }>(
        'SELECT outcome FROM operations.provider_callbacks ORDER BY id DESC LIMIT 1',
      );
      return rows[0]?.outcome ?? null;
    };
    const { jobs } = desk.gateway.gateway;
    expect(await pollUntil({ onMove: (listener) => jobs.onSettled(listener) }, 20_000, look)).to.equal('notConfirmed');
  });

  it('are not removed while a payment is disputed or its mismatch awaits an operator (V5)', async () => {
    const { id, chargeId } = await settled();
    const { platform } = desk.gateway.gateway.services;
    const by = { actor: 'operator:test', requestId: null };
    const paymentId = rawIdOf(chargeId) as PaymentId;
    const opened = await platform.openCase(paymentId, { amount: toMinor(7), reason: 'Reported by phone.' }, by);
    if (isRejection(opened)) throw new Error(opened.message);
    const caseId = rawIdOf(opened.caseId) as MedCaseId;
    expectError(await desk.ask('DELETE', `/${id}`), 400, 'connection_in_use');
    await platform.ruleCase(caseId, { result: 'disagreed', returnedToPayer: null }, by);
    expectError(await desk.ask('DELETE', `/${id}`), 400, 'connection_in_use');
    await platform.settleCase(caseId, { verdict: 'nothing', amount: toMinor(0) }, 'Withdrawn.', by);
    expect((await desk.ask('DELETE', `/${id}`)).status).to.equal(204);
  });

  it('reject refunds of their payments once they are removed', async () => {
    const { id, chargeId } = await settled();
    const { tenant } = desk.gateway;
    const refund = (strategy?: string) => {
      const body = { idempotencyKey: `refund ${strategy}`, amount: 100, ...(strategy && { strategy }) };
      return desk.gateway.post(`/v1/payments/${chargeId}/refund`, body, { key: tenant.liveKey });
    };
    expect((await desk.ask('DELETE', `/${id}`)).status).to.equal(204);
    await desk.untilRouted(0);
    for (const strategy of [undefined, 'devolution', 'cashout'])
      expectError(await refund(strategy), 422, 'REFUND_NOT_SUPPORTED');
  });

  it('use a new client secret for the next token', async () => {
    const { id } = await desk.add(bank, { clientSecret: 'errado' });
    await desk.untilRouted(1);
    const refused = await desk.charge();
    expect(refused.status, refused.text).to.not.equal(201);
    const right = { clientSecret: bank.clients[0]?.clientSecret };
    const rotated = await desk.ask('POST', `/${id}/client-secret`, right);
    expect([rotated.status, rotated.body.status], rotated.text).to.deep.equal([200, 'enabled']);
    await desk.untilVersion(id, 2);
    await created();
    expectError(await desk.ask('POST', `/${UNKNOWN}/client-secret`, right), 404, 'not_found');
  });

  it('accept a rotated callback URL and the previous one until the next rotation', async () => {
    const { id, callbackUrl: first } = await desk.add(bank);
    const { callbackSecrets } = desk.gateway.gateway.needs as unknown as { callbackSecrets: CallbackSecrets };
    const accepts = async (url: string) =>
      callbackSecrets.accepts(rawIdOf(id) as never, url.split('/').at(-1) as string);
    expect(await accepts(first)).to.equal(true);
    expect(await accepts(`${first}0`)).to.equal(false);
    const rotate = async () => (await desk.ask<Added>('POST', `/${id}/callback-secret`)).body.callbackUrl;
    const second = await rotate();
    await desk.untilVersion(id, 2);
    expect(await Promise.all([first, second].map(accepts))).to.deep.equal([true, true]);
    expect((await desk.show(id)).previousCallbackUntil).to.be.a('string');
    const third = await rotate();
    await desk.untilVersion(id, 3);
    expect(await Promise.all([first, second, third].map(accepts))).to.deep.equal([false, true, true]);
  });

  it('use changed settings; repeating a change writes no event', async () => {
    const { id } = await desk.add(bank, { baseUrl: `${bank.baseUrl}/` });
    expect((await desk.show(id)).baseUrl).to.equal(bank.baseUrl);
    const change = { name: 'Outro', order: 7, requireClientCertificate: true };
    const first = await desk.ask('PATCH', `/${id}`, change);
    expect(first.body).to.deep.include(change);
    const again = await desk.ask('PATCH', `/${id}`, change);
    expect(again.body.changedAt).to.equal(first.body.changedAt);
    const certified = await desk.ask('PATCH', `/${id}`, { certificate: RECEIVER.cert, privateKey: RECEIVER.key });
    expect(certified.body.certificate?.daysLeft).to.be.greaterThan(30_000);
    const same = await desk.ask('PATCH', `/${id}`, { name: 'Mesmo' });
    expect(same.body.certificate?.daysLeft).to.be.greaterThan(30_000);
    expect((await desk.ask('PATCH', `/${id}`, { certificate: null })).body.certificate).to.equal(null);
  });

  it('show and register the webhook without its secret', async () => {
    const { id, callbackUrl } = await desk.add(bank);
    const none = await desk.ask<object>('GET', `/${id}/webhook`);
    expect(none.body).to.deep.equal({ url: null, isCurrent: false });
    const registered = await desk.ask<object>('POST', `/${id}/webhook`);
    const shown = { url: callbackUrl.replace(/[^/]+$/, '…'), isCurrent: true };
    expect([registered.status, registered.body], registered.text).to.deep.equal([200, shown]);
    expect((await desk.ask('GET', `/${id}/webhook`)).body).to.deep.equal(shown);
    await desk.ask('POST', `/${id}/callback-secret`);
    expect((await desk.ask('GET', `/${id}/webhook`)).body).to.deep.equal({ ...shown, isCurrent: false });
  });

  it('are checked step by step', async () => {
    const { id } = await desk.add(bank);
    const checked = await desk.ask<{ ok: boolean; steps: { name: string; ok: boolean }[] }>('POST', `/${id}/check`);
    expect(checked.status, checked.text).to.equal(200);
    expect(checked.body.steps.filter(({ ok }) => !ok)).to.deep.equal([]);
    expect(checked.body.steps.map(({ name }) => name).slice(-2)).to.deep.equal(['webhook', 'callback']);
    await desk.ask('POST', `/${id}/client-secret`, { clientSecret: 'errado' });
    const failed = await desk.ask<{ ok: boolean; steps: { name: string; ok: boolean }[] }>('POST', `/${id}/check`);
    expect(failed.body.ok).to.equal(false);
    expect(failed.body.steps.map(({ name }) => name).slice(-1)).to.deep.equal(['webhook']);
  });

  it('have a read model that can be rebuilt to the same rows', async () => {
    const { id } = await desk.add(bank);
    await created();
    await desk.ask('POST', `/${id}/drain`);
    const { platform } = desk.gateway.gateway.services;
    const before = await desk.show(id);
    const [report] = await platform.rebuild('providers', new AbortController().signal, () => undefined);
    expect(report?.projection).to.equal('providers');
    const { differences } = await platform.verify(new AbortController().signal, () => undefined);
    expect(differences).to.deep.equal([]);
    expect(await desk.show(id)).to.deep.equal(before);
  });

  it('make their payments wait, and say why, while a secret is missing, such as after a partial restore', async () => {
    const { id } = await desk.add(bank);
    const chargeId = await created();
    await desk.gateway.storage.operations.query("DELETE FROM operations.connection_secrets WHERE kind = 'client'");
    await desk.ask('PATCH', `/${id}`, { name: 'Outro' });
    await desk.untilRouted(0);
    const key = desk.gateway.tenant.liveKey;
    for (const _ of ['once', 'twice']) {
      const status = await desk.gateway.call('GET', `/v1/payments/${rawIdOf(chargeId)}/provider-status`, { key });
      expectError(status, 503, 'service_unavailable');
    }
    expect((await desk.gateway.post(`/v1/payments/${chargeId}/cancel`, {}, { key })).status).to.equal(503);
    expectError(await desk.charge(), 422, 'unprocessable_entity');
    const why = 'has no stored client secret: provider rotate-client-secret';
    const step = { name: 'settings', ok: false, detail: `The connection ${why}.` };
    const checked = await desk.ask<object>('POST', `/${id}/check`);
    expect([checked.status, checked.body]).to.deep.equal([200, { ok: false, steps: [step] }]);
    const refused = await desk.ask('GET', `/${id}/webhook`);
    expectError(refused, 400, 'invalid_connection');
    expect(refused.text).to.include(why);
    const { platform } = desk.gateway.gateway.services;
    const found = async () => (await platform.checkSystem()).find(({ check }) => check === 'provider connections');
    expect(await found()).to.include({ isGood: false, says: `${id} (Outro) ${why}` });
    expect(logged.filter((line) => line.includes('provider connection could not be opened'))).to.have.length(1);
    await desk.ask('POST', `/${id}/client-secret`, { clientSecret: bank.clients[0]?.clientSecret });
    await desk.untilRouted(1);
    expect((await desk.gateway.post(`/v1/payments/${chargeId}/cancel`, {}, { key })).status).to.equal(200);
    expect(await found()).to.include({ isGood: true });
  });
});
