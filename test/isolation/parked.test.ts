// One unreadable event of one merchant, seen from outside: who is notified, what returns 503, what keeps working, and how it is resolved
// (issue: parked streams).

import { userInfo } from 'node:os';
import { expect } from 'chai';
import { PROCESSES } from '../../application/capabilities.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { createMetrics } from '../../infrastructure/monitoring/metrics.ts';
import { unreadiness } from '../../infrastructure/monitoring/readiness.ts';
import { parkedCommands } from '../../infrastructure/operations/commands/parked.ts';
import { readParked } from '../../projections/engine/parkedStreams.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { runWords } from '../support/cli.ts';
import { loseFacts } from '../support/lostFacts.ts';
import { SERDE } from '../support/serde.ts';
import { TestGateway, type TestTenant } from '../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../world/http.ts';
import { paymentStream, playPoisoned, poison, UNKNOWN } from '../world/poison.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';

const CONSUMERS = [
  ...PROJECTIONS.filter(({ categories }) => categories.includes('payment')).map(({ name }) => name),
  ...PROCESSES.filter(({ categories }) => categories.includes('payment')).map(({ name }) => `process/${name}`),
].toSorted();

/** Makes the unknown event readable, as an upgrade would. Returns a function that undoes it. */
const mend = (): (() => void) => {
  const serde = SERDE.payment as { -readonly [K in keyof typeof SERDE.payment]: (typeof SERDE.payment)[K] };
  const { decode } = serde;
  serde.decode = (stored, around) =>
    decode(stored.type === UNKNOWN ? { ...stored, type: 'ChargeExpired' } : stored, around);
  return () => {
    serde.decode = decode;
  };
};

describe('a poisoned payment', function suite() {
  let database: TestDatabase;
  /** One gateway projects and works, the other serves as a separate process, so neither has the other’s commands in memory. */
  let gateway: TestGateway;
  let api: TestGateway;
  let sick: TestTenant;
  let chargeId: string;
  let stream: StreamName;

  before(async () => {
    database = await migratedDatabase();
    gateway = await openReady({ database });
    api = await TestGateway.open({
      database,
      isAlone: false,
      roles: { serves: true, projects: false, works: false },
    });
  });
  after(async () => {
    await api.close();
    await gateway.close();
    await database.drop();
  });
  beforeEach(async () => {
    sick = await gateway.newTenant();
    ({ id: chargeId } = (await api.charge<{ id: string }>({ amount: 5_000 }, { key: sick.testKey })).body);
    stream = paymentStream(chargeId);
  });
  afterEach(() => {
    for (const fault of [...gateway.faults, ...api.faults]) expect(fault).to.have.property('name', 'StreamUnreadable');
    gateway.faults.length = 0;
    api.faults.length = 0;
  });

  const parkedFor = async (): Promise<readonly string[]> =>
    (await readParked(gateway.storage.reads, null))
      .filter((row) => row.stream === stream)
      .map(({ consumer }) => consumer)
      .toSorted();
  const run = <T = Record<string, unknown>>(...words: string[]) => runWords<T>(database.connectionString, ...words);
  const poisoned = async () => {
    await poison(api, sick, stream); // As a write of that process, which its next read waits for.
    expect((await api.get(`/v1/charges/${chargeId}`, { key: sick.testKey })).status).to.equal(503);
    expect(await gateway.gateway.reacted.caughtUp(30_000)).to.equal(true);
    expect(await parkedFor()).to.deep.equal(CONSUMERS);
  };
  const skipAll = async () => {
    const words = ['parked', 'skip', chargeId, '--reason', 'the end of the test', '--force', CONSUMERS.join(',')];
    expect((await run(...words)).code).to.equal(0);
  };

  it('returns 503 to its merchant and payer in every process, as does the wallet, and lists show its last state', async () => {
    await poisoned();
    const key = sick.testKey;
    const id = rawIdOf(chargeId);
    for (const process of [api, gateway]) {
      for (const path of [
        `/v1/charges/${chargeId}`,
        `/v1/payments/tx_${id}`,
        `/v1/payments/${id}/refunds`,
        `/v1/payments/${id}/receipt`,
        `/v1/payments/${id}/provider-status`,
        '/v1/wallets',
        '/v1/wallets/balance',
        '/v1/wallets/balance?currency=BRL',
      ]) {
        const reply = await process.get(path, { key });
        expectError(reply, 503, 'service_unavailable');
        expect(reply.headers.get('retry-after'), path).to.match(/^[1-9]\d*$/);
      }
      for (const path of [`/pay/${id}`, `/pay/${id}/status`, `/pay/${id}/events`, `/pay/${id}/qr.png`]) {
        const reply = await process.get(path, { key: null });
        expect([reply.status, reply.headers.get('retry-after')], path).to.deep.equal([503, '2']);
      }
      for (const [path, body] of [
        [`/v1/payments/${id}/refund`, { amount: 1, idempotencyKey: 'refund-poisoned' }],
        [`/v1/payments/${id}/cancel`, {}],
        [`/v1/payments/${id}/resend-webhook`, {}],
        [`/v1/sandbox/charges/${chargeId}/pay`, {}],
      ] as const)
        expectError(await process.post(path, body, { key }), 503, 'service_unavailable');
      const { body: list } = await process.get<{ data: { id: string; status: string }[] }>('/v1/charges', { key });
      expect(list.data.map((charge) => [charge.id, charge.status])).to.deep.equal([[chargeId, 'pending']]);
      const { body: stats } = await process.get('/v1/payments/stats', { key });
      expect(stats).to.include({ totalTransactions: 1 });
      // Other merchants get 404, and their wallets are unaffected.
      const other = { key: process.tenant.testKey };
      expectError(await process.get(`/v1/charges/${chargeId}`, other), 404, 'not_found');
      expect((await process.get('/v1/wallets/balance', other)).status).to.equal(200);
      // The merchant’s other mode is unaffected.
      expect((await process.get('/v1/wallets/balance', { key: sick.liveKey })).status).to.equal(200);
    }
    await skipAll();
  });

  it('is reported by every role, which stays ready', async () => {
    await poisoned();
    for (const { gateway: told, storage } of [api, gateway]) {
      expect(await unreadiness(storage, told)).to.equal(null);
      expect(told.parked.streams).to.equal(1);
      const text = await createMetrics(told).registry.metrics();
      for (const name of CONSUMERS) expect(text).to.contain(`quita_parked_streams{consumer="${name}"} 1`);
      expect(text).to.contain('quita_parked_streams{consumer="accounts"} 0');
    }
    const { json, code } = await run<{ findings: { check: string; isGood: boolean; says: string }[] }>(
      'doctor',
      '--json',
    );
    expect(code).to.equal(1);
    const found = json.findings.find(({ check }) => check === 'parked streams');
    expect(found?.isGood).to.equal(false);
    expect(found?.says).to.match(/^1 parked .*payments 1.*parked list$/);
    await skipAll();
    expect(api.gateway.parked.streams + gateway.gateway.parked.streams).to.equal(0);
  });

  it('is parked again by an early retry, and processed by a retry once it is readable, with no differences', async () => {
    await poisoned();
    const verify = async () => {
      const { code, json } = await run<{ differences: unknown[]; parked: { stream: string }[] }>(
        'projections',
        'verify',
        '--json',
      );
      return { code, differences: json.differences, parked: [...new Set(json.parked.map((row) => row.stream))] };
    };
    expect(await verify()).to.deep.equal({ code: 1, differences: [], parked: [stream] });
    const early = await run<{ results: { outcome: string; error: string }[] }>('parked', 'retry', chargeId, '--json');
    expect(early.code).to.equal(1);
    expect(new Set(early.json.results.map(({ outcome, error }) => `${outcome} ${error}`))).to.deep.equal(
      new Set([`parked MalformedEvent: ${UNKNOWN}: expected a known event type`]),
    );
    expect(await parkedFor()).to.deep.equal(CONSUMERS);
    const forget = mend();
    try {
      const { code, json } = await run<{ results: { outcome: string }[] }>('parked', 'retry', '--all', '--json');
      expect(json.results.filter(({ outcome }) => outcome !== 'taken')).to.deep.equal([]);
      expect(code).to.equal(0);
      expect(await parkedFor()).to.deep.equal([]);
      expect(await verify()).to.deep.equal({ code: 0, differences: [], parked: [] });
      for (const process of [api, gateway]) {
        expect((await process.get(`/v1/charges/${chargeId}`, { key: sick.testKey })).status).to.equal(200);
        expect((await process.get('/v1/wallets/balance', { key: sick.testKey })).status).to.equal(200);
      }
      expect((await run('parked', 'retry', chargeId)).code).to.equal(2);
    } finally {
      forget();
    }
    const again = await gateway.charge<{ id: string }>({}, { key: sick.testKey });
    expect(again.status).to.equal(201);
    // The event is unreadable again, and verify reports the difference instead of failing.
    const after = await verify();
    expect([after.code, after.differences.length > 0]).to.deep.equal([1, true]);
    await loseFacts(gateway.storage.operations, 'DELETE FROM event_store.events WHERE type = $1', [UNKNOWN]);
  });

  it('is also parked in a rebuilt copy, and stays parked when the copy is swapped in', async () => {
    await poisoned();
    // A separate process, because those of the gateway still have the event that the previous test removed from the log.
    const rebuilt = () => run('projections', 'rebuild', 'all');
    expect((await rebuilt()).code).to.equal(0);
    expect(await parkedFor()).to.deep.equal(CONSUMERS);
    expect((await api.get(`/v1/charges/${chargeId}`, { key: sick.testKey })).status).to.equal(503);
    const next = await api.charge({}, { key: sick.testKey });
    expect((await api.get(`/v1/charges/${next.body['id']}`, { key: sick.testKey })).status).to.equal(200);
    const { json } = await run<{ differences: unknown[] }>('projections', 'verify', '--json');
    expect(json.differences).to.deep.equal([]);
    await skipAll();
    expect((await rebuilt()).code).to.equal(0);
    expect(await parkedFor(), 'a copy leaves out what was skipped').to.deep.equal([]);
    expect((await run('projections', 'verify')).out).to.match(/: 0 differences\n$/);
  });

  it('is shown, retried and skipped by an operator’s requests as by commands', async () => {
    await poisoned();
    const olga = await api.addUser('OPERATOR');
    const headers = await api.logIn('OPERATOR', olga);
    const ask = <T = Record<string, unknown>>(method: string, rest: string, body?: unknown) =>
      api.call<T>(method, `/ops/v1/parked${rest}`, { key: null, headers, ...(body !== undefined && { body }) });
    const outcomes = async (rest: string, body: unknown) => {
      const reply = await ask<{ data: { consumer: string; outcome: string; revision: number | null }[] }>(
        'POST',
        rest,
        body,
      );
      expect(reply.status, reply.text).to.equal(200);
      return reply.body.data.map(({ consumer, outcome, revision }) => [consumer, outcome, revision]);
    };
    const { body: shown } = await ask<{ parked: { consumer: string; revision: number }[]; events: { type: string }[] }>(
      'GET',
      `/${chargeId}`,
    );
    expect(shown.parked.map(({ consumer }) => consumer).toSorted()).to.deep.equal(CONSUMERS);
    expect(shown.events.map(({ type }) => type)).to.deep.equal([UNKNOWN]);
    const { json } = await run<{ parked: object[]; events: object[] }>('parked', 'show', chargeId, '--json');
    expect({ parked: json.parked, events: json.events }).to.deep.equal(shown);
    const { body: listed } = await ask<{ data: object[] }>('GET', '?consumer=payments');
    expect(listed.data).to.deep.equal(shown.parked.filter(({ consumer }) => consumer === 'payments'));

    const revision = shown.parked[0]?.revision as number;
    expect(await outcomes(`/${chargeId}/retry`, { consumer: 'payments' })).to.deep.equal([
      ['payments', 'parked', revision],
    ]);
    expect(await outcomes('/retry', { consumer: 'wallet' })).to.deep.equal([['wallet', 'parked', revision]]);
    const reason = ' the merchant was called ';
    expectError(await ask('POST', `/${chargeId}/skip`, { reason: ' ' }), 400, 'invalid_request', 'reason');
    const refused = await ask('POST', `/${chargeId}/skip`, { reason, force: ['payments'] });
    expectError(refused, 400, 'invalid_request', 'force');
    expect(refused.text).to.contain('wallet').and.not.contain('webhookFanOut');
    expect(await parkedFor()).to.deep.equal(CONSUMERS);
    const taken = await outcomes(`/${chargeId}/skip`, { reason, force: CONSUMERS });
    expect(taken.toSorted()).to.deep.equal(CONSUMERS.map((consumer) => [consumer, 'taken', null]));
    expect(await parkedFor()).to.deep.equal([]);
    for (const [method, rest, body] of [
      ['GET', `/${chargeId}`],
      ['POST', `/${chargeId}/retry`, {}],
      ['POST', `/${chargeId}/skip`, { reason }],
    ] as const)
      expectError(await ask(method, rest, body), 404, 'not_found');
    const { rows } = await gateway.storage.reads.query<{ reason: string; operator: string; actor: string }>(
      `SELECT DISTINCT data::jsonb ->> 'reason' AS reason, data::jsonb ->> 'operator' AS operator, metadata::jsonb ->> 'actor' AS actor
       FROM event_store.events WHERE stream LIKE 'logConsumer-%' AND data::jsonb ->> 'stream' = $1`,
      [stream],
    );
    const who = `user:usr_${olga.userId}`;
    expect(rows).to.deep.equal([{ reason: reason.trim(), operator: who, actor: who }]);
  });

  it('can be skipped for webhooks with a reason and for money only with --force, and only once', async () => {
    await poisoned();
    const skip = (...more: string[]) => run('parked', 'skip', chargeId, ...more);
    const reason = ['--reason', 'the merchant was called'];
    expect((await skip()).err).to.equal(
      "quita: required option '--reason <value>' not specified (npm run cli -- parked skip --help explains it)\n",
    );
    const refused = await skip(...reason);
    expect([refused.code, refused.out]).to.deep.equal([2, '']);
    expect(refused.err)
      .to.contain('nothing was skipped')
      .and.contain('payments')
      .and.contain('process/refundExecution');
    expect(refused.err).to.not.contain('webhookFanOut');
    expect(await parkedFor()).to.deep.equal(CONSUMERS);
    const fanOut = 'process/webhookFanOut';
    expect((await skip(...reason, '--consumer', 'payments')).code, 'read models too').to.equal(2);
    const done = await skip(...reason, '--consumer', fanOut);
    expect(done.code, done.err).to.equal(0);
    expect(JSON.parse(done.err)).to.include({ security: 'operator_command', command: 'parked skip', outcome: 'done' });
    expect((await skip(...reason, '--consumer', fanOut)).code, 'it is not parked any more').to.equal(2);
    expect(await parkedFor()).to.deep.equal(CONSUMERS.filter((name) => name !== fanOut));
    const { json } = await run<{ type: string; data: Record<string, unknown>; metadata: Record<string, unknown> }[]>(
      'events',
      'show',
      `logConsumer-${fanOut}`,
      '--json',
    );
    const skips = (
      json as unknown as { type: string; data: Record<string, unknown>; metadata: Record<string, unknown> }[]
    ).filter(({ data }) => data['stream'] === stream);
    expect(skips).to.have.length(1);
    const { data, metadata } = skips[0] as (typeof skips)[number];
    expect(data).to.include({ consumer: fanOut, stream, reason: 'the merchant was called', isForced: false });
    expect(data).to.include({ operator: userInfo().username, eventType: UNKNOWN });
    expect(metadata).to.include({ account: sick.accountId, actor: `operator:${userInfo().username}` });
    await skipAll();
    expect(await parkedFor()).to.deep.equal([]);
    expect((await api.get(`/v1/charges/${chargeId}`, { key: sick.testKey })).status).to.equal(200);
    expect((await api.get('/v1/wallets/balance', { key: sick.testKey })).status).to.equal(200);
    expect(
      (await api.post(`/v1/payments/${chargeId}/cancel`, {}, { key: sick.testKey })).status,
      'it can’t be decided on',
    ).to.equal(503);
  });

  it('is listed and shown with its following events', async () => {
    await poisoned();
    const { json } = await run<{ parked: Record<string, unknown>[] }>(
      'parked',
      'list',
      '--consumer',
      'wallet',
      '--json',
    );
    expect(json.parked.map(({ parkedAt: _, eventId: __, ...row }) => row)).to.deep.equal([
      {
        consumer: 'wallet',
        stream,
        accountId: `acct_${sick.accountId}`,
        mode: 'test',
        revision: 2,
        eventType: UNKNOWN,
        error: `MalformedEvent: ${UNKNOWN}: expected a known event type`,
      },
    ]);
    const shown = await run<{ parked: unknown[]; events: { type: string; revision: number }[] }>(
      'parked',
      'show',
      chargeId,
      '--json',
    );
    expect(shown.json.parked).to.have.length(CONSUMERS.length);
    expect(shown.json.events.map(({ type, revision }) => `${type}@${revision}`)).to.deep.equal([`${UNKNOWN}@2`]);
    await skipAll();
    expect((await run('parked', 'list')).out).to.equal('no parked streams\n');
    expect(await run('parked', 'show', chargeId)).to.include({ code: 2, err: `quita: ${stream} is not parked\n` });
  });

  for (const { name } of parkedCommands)
    it(`${name} --help shows its usage`, async () => {
      const { code, out } = await run(...name.split(' '), '--help');
      expect(code).to.equal(0);
      expect(out).to.match(new RegExp(`^Usage: npm run cli -- ${name}`));
    });

  it('ten of 300 payments: only those are parked, and all other webhooks, wallets and refunds are complete', async () => {
    const merchant = await gateway.newTenant();
    await playPoisoned(gateway, merchant, { payments: 300, poisoned: 10, atOnce: 8, patienceMs: 20_000 });
    expect(gateway.faults).to.deep.equal([]);
  });
});
