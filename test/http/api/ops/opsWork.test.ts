// What waits for an operator, and the event log, over HTTP (rule O1).

import { expect } from 'chai';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import type { MedCaseId, PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { rebuildProjectionRoute, verifyProjectionsRoute } from '../../../../http/api/ops/log.ts';
import type { EventSink } from '../../../../http/kernel/answers.ts';
import { PROJECTIONS } from '../../../../projections/registry.ts';
import { CaseDesk } from '../../../world/caseDesk.ts';
import type { Reply, TestGateway, TestUser } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';

type Body = Record<string, unknown>;
interface List {
  readonly data: readonly (Body & { readonly paymentId: string })[];
  readonly total: number;
}

/** Returns the names and data of server-sent events. */
const sentIn = (text: string): readonly (readonly [string, Body])[] =>
  text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
      return [event, JSON.parse(data) as Body];
    });

describe('operators', () => {
  let gateway: TestGateway;
  let olga: TestUser;
  let headers: { readonly authorization: string };
  before(async () => {
    gateway = await openReady();
    olga = await gateway.addUser('OPERATOR');
    headers = await gateway.logIn('OPERATOR', olga);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const ask = <T = Body>(method: string, path: string, body?: unknown): Promise<Reply<T>> =>
    gateway.call<T>(method, path, { key: null, headers, ...(body !== undefined && { body }) });
  const good = async <T = Body>(asked: Promise<Reply<T>>, status = 200): Promise<T> => {
    const reply = await asked;
    expect(reply.status, reply.text).to.equal(status);
    return reply.body;
  };
  const held = async (): Promise<{ readonly id: string; readonly pix: string }> => {
    const { body } = await gateway.charge<{ id: string }>({
      expected_payer_tax_id: '12345678909',
      customer: { name: 'Ana Souza' },
    });
    const paid = await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, { payer: { document: null } });
    expect(paid.body['outcome'], paid.text).to.equal('held');
    return { id: body.id, pix: paid.body['end_to_end_id'] as string };
  };
  const heldIds = async () => (await good<List>(ask('GET', '/ops/v1/held'))).data.map(({ paymentId }) => paymentId);

  it('list held payments and release or return each once; the event names the operator', async () => {
    const [one, other] = [await held(), await held()];
    const [paymentId, otherId] = [`tx_${rawIdOf(one.id)}`, `tx_${rawIdOf(other.id)}`];
    expect(await heldIds()).to.deep.equal([paymentId, otherId]);
    const { data, total } = await good<List>(ask('GET', '/ops/v1/held?limit=1'));
    expect([data.length, total]).to.deep.equal([1, 2]);
    expect(data[0]).to.include({
      paymentId,
      accountId: `acct_${gateway.tenant.accountId}`,
      providerPaymentId: one.pix,
    });
    const release = () => ask('POST', `/ops/v1/held/${one.id}/release`);
    expect(await good(release())).to.deep.equal({ paymentId, status: 'PAID', isNew: true });
    expect(await good(release())).to.deep.equal({ paymentId, status: 'PAID', isNew: false });
    expectError(await ask('POST', `/ops/v1/held/${one.id}/return`, {}), 400, 'invalid_request');
    const wrong = { providerPaymentId: one.pix };
    expectError(await ask('POST', `/ops/v1/held/${other.id}/return`, wrong), 400, 'invalid_request');
    const back = await good(ask('POST', `/ops/v1/held/${otherId}/return`, { providerPaymentId: other.pix }));
    expect(back).to.include({ paymentId: otherId, isNew: true });
    expect(await heldIds()).to.deep.equal([]);
    const stream = PAYMENT.stream(rawIdOf(one.id) as PaymentId);
    for await (const { type, data: stored, metadata } of gateway.storage.store.readStream(stream))
      if (type === 'TransactionHeldReleased') {
        expect((JSON.parse(stored) as Body)['by']).to.equal(`user:usr_${olga.userId}`);
        expect(JSON.parse(metadata)).to.include({ actor: `user:usr_${olga.userId}` });
      }
    expect(await eventTypes(gateway, stream)).to.include('TransactionHeldReleased');
  });
  it('get empty lists of dead letters and failed jobs, and 400 for an invalid filter', async () => {
    expect(await good(ask('GET', '/ops/v1/dlq'))).to.deep.equal({ data: [], total: 0 });
    const none = { matched: 0, queued: 0 };
    expect(await good(ask('POST', '/ops/v1/dlq/redrive', {}), 202)).to.deep.equal(none);
    const own = { accountId: `acct_${gateway.tenant.accountId}`, eventType: 'charge.paid', dryRun: true };
    expect(await good(ask('POST', '/ops/v1/dlq/redrive', own), 202)).to.deep.equal(none);
    const redrive = (body: Body) => ask('POST', '/ops/v1/dlq/redrive', body);
    expectError(await redrive({ eventType: 'charge.eaten' }), 400, 'invalid_filter', 'eventType');
    expectError(await redrive({ createdAfter: 'yesterday' }), 400, 'invalid_filter', 'createdAfter');
    expectError(await redrive({ accountId: `acct_${'0'.repeat(26)}` }), 404, 'not_found');
    expect(await good(ask('GET', '/ops/v1/jobs'))).to.deep.equal({ data: [], total: 0 });
    expect(await good(ask('POST', '/ops/v1/jobs/redrive', { all: true }))).to.deep.equal({ data: [] });
    for (const body of [{}, { all: false }, { all: true, queue: 'expiry' }])
      expectError(await ask('POST', '/ops/v1/jobs/redrive', body), 400, 'invalid_request', 'id');
    const nobody = { id: '00000000-0000-0000-0000-000000000000' };
    expectError(await ask('POST', '/ops/v1/jobs/redrive', nobody), 404, 'not_found');
    expect(await good(ask('GET', '/ops/v1/parked'))).to.deep.equal({ data: [] });
  });
  it('check the ledger, and rebuild and verify read models', async () => {
    const { id } = (await gateway.charge<{ id: string }>()).body;
    expect((await gateway.post(`/v1/sandbox/charges/${id}/pay`, {})).status).to.equal(200);
    expect(await gateway.gateway.projected.caughtUp(10_000)).to.equal(true);
    const { sums, ...found } = await good(ask('GET', '/ops/v1/ledger/check'));
    expect(found).to.deep.equal({ isBalanced: true, disputes: [], entries: [], balances: [] });
    expect(sums).to.have.length(1);
    const { data } = await good<{ data: { name: string }[] }>(ask('GET', '/ops/v1/projections'));
    expect(data.map((one) => one.name)).to.include.members(PROJECTIONS.map(({ name }) => name));
    const rebuilt = sentIn((await ask('POST', '/ops/v1/projections/users/rebuild')).text);
    const [name = '', report = {}] = rebuilt.at(-1) ?? [];
    expect(name).to.equal('report');
    expect((report['rebuilt'] as Body[]).map(({ projection }) => projection)).to.deep.equal(['users']);
    const verified = sentIn((await ask('POST', '/ops/v1/projections/verify')).text);
    expect(verified.at(-1)?.[0]).to.equal('report');
    expect(verified.at(-1)?.[1]).to.deep.include({ differenceCount: 0, differences: [], parked: [] });
    const process = data.find((one) => one.name.includes('/'))?.name ?? '';
    for (const wrong of ['nothing', encodeURIComponent(process)])
      expectError(await ask('POST', `/ops/v1/projections/${wrong}/rebuild`), 404, 'not_found');
  });
  it('see the ledger of one payment by any form of its ID', async () => {
    const { id } = (await gateway.charge<{ id: string }>({ amount: 5_000 })).body;
    const path = `/ops/v1/ledger/payments/${id}`;
    const nothing = { paymentId: `tx_${rawIdOf(id)}`, postings: [], totals: [], differences: [] };
    expect(await good(ask('GET', path))).to.deep.equal(nothing);
    await gateway.post(`/v1/sandbox/charges/${id}/pay`);
    const { postings, totals, ...rest } = await good<{ postings: Body[]; totals: Body[] }>(ask('GET', path));
    expect(rest).to.deep.equal({ paymentId: nothing.paymentId, differences: [] });
    expect(totals).to.deep.equal([{ currency: 'BRL', sum: 0 }]);
    expect(postings.map(({ line, event, amount }) => [line, event, amount])).to.deep.include([
      0,
      'TransactionSettled',
      -5_000,
    ]);
    for (const spelled of [rawIdOf(id), nothing.paymentId])
      expect((await ask('GET', `/ops/v1/ledger/payments/${spelled}`)).body).to.deep.equal({
        ...rest,
        postings,
        totals,
      });
    expectError(await ask('GET', `/ops/v1/ledger/payments/tx_${'0'.repeat(26)}`), 404, 'not_found');
  });
  it('begin the response to a reader of new events before there are any', async () => {
    const gone = new AbortController();
    await gateway.untilProjected();
    const { status, headers: sent } = await fetch(`${gateway.baseUrl}/ops/v1/events?follow=true`, {
      headers,
      signal: gone.signal,
    });
    gone.abort();
    expect([status, sent.get('content-type')]).to.deep.equal([200, 'text/event-stream']);
  });
  it('read one stream by page, read the whole event log, and follow it', async () => {
    const { id } = (await gateway.charge<{ id: string }>()).body;
    const stream = `payment-${rawIdOf(id)}`;
    const shown = await good<{ data: Body[]; nextFrom: number | null }>(ask('GET', `/ops/v1/events/${id}?limit=1`));
    expect(shown.data.map(({ stream: of, revision, type }) => [of, revision, type])).to.deep.equal([
      [stream, 0, 'ChargeCreated'],
    ]);
    expect(shown.nextFrom).to.equal(1);
    const rest = await good<{ data: Body[]; nextFrom: number | null }>(ask('GET', `/ops/v1/events/${stream}?from=1`));
    expect([rest.data.map(({ type }) => type), rest.nextFrom]).to.deep.equal([['ChargePixIssued'], null]);
    const all = sentIn((await ask('GET', '/ops/v1/events')).text).map(([name, event]) => [name, event['stream']]);
    expect(all.filter(([, of]) => of === stream)).to.deep.equal(Array(2).fill(['event', stream]));
    const gone = new AbortController();
    const tail = await fetch(`${gateway.baseUrl}/ops/v1/events?follow=true&all=true`, { headers, signal: gone.signal });
    const reader = (tail.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    const next = (await gateway.charge<{ id: string }>()).body;
    for (let text = ''; !text.includes(`payment-${rawIdOf(next.id)}`); ) text += (await reader.read()).value ?? '';
    gone.abort();
  });
  it('get no more events of the log once their session has ended', async () => {
    const [disabled, loggedOut] = [await gateway.addUser('OPERATOR'), await gateway.addUser('OPERATOR')];
    const [theirs, other] = [await gateway.logIn('OPERATOR', disabled), await gateway.logIn('OPERATOR', loggedOut)];
    const gone = new AbortController();
    const follow = (by: typeof headers) =>
      fetch(`${gateway.baseUrl}/ops/v1/events?follow=true&all=true`, { headers: by, signal: gone.signal });
    const ended = [await follow(theirs), await follow(other)];
    const olgas = await follow(headers);
    await good(ask('POST', `/ops/v1/users/usr_${disabled.userId}/disable`));
    await gateway.call('POST', '/v1/auth/logout', { key: null, headers: other });
    // Each stream ends, although no more events come.
    for (const stream of ended) expect(sentIn(await stream.text())[0]?.[0]).to.equal('event');
    const { id } = (await gateway.charge<{ id: string }>()).body;
    const reader = (olgas.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes(`payment-${rawIdOf(id)}`); ) text += (await reader.read()).value ?? '';
    gone.abort();
  });
  it('see the requests and events of a request ID', async () => {
    const charge = { amount: 500, payment_method: 'pix' };
    const options = { idempotencyKey: 'what-it-meant', headers: { 'x-request-id': 'what-it-meant' }, body: charge };
    const { body } = await gateway.call<{ id: string }>('POST', '/v1/charges', options);
    await gateway.writeRequests();
    const { requests, events } = await good<{ requests: Body[]; events: Body[] }>(
      ask('GET', '/ops/v1/requests/what-it-meant'),
    );
    expect(requests.map(({ path, status, accountId }) => [path, status, accountId])).to.deep.equal([
      ['/v1/charges', 201, `acct_${gateway.tenant.accountId}`],
    ]);
    expect(events[0]).to.include({ stream: `payment-${rawIdOf(body.id)}`, type: 'ChargeCreated' });
    expectError(await ask('GET', '/ops/v1/requests/nobody-sent-it'), 404, 'not_found');
  });
  it('approve or reject reviewed dispute outcomes once; API keys can’t', async () => {
    const desk = await CaseDesk.open(gateway);
    const list = async () => {
      const { data, total } = await good<{ data: Body[]; total: number }>(ask('GET', '/ops/v1/med/review'));
      expect(total).to.equal(data.length);
      return data.map(({ caseId, because, result }) => [caseId, because, result]);
    };
    expect(await list()).to.deep.equal([]);
    const { approved, refused, mismatch } = await desk.waiting();
    expect((await list()).toSorted()).to.deep.equal(
      [
        [approved.id, 'review', 'agreed'],
        [refused.id, 'review', 'agreed'],
        [mismatch.id, 'amount_mismatch', null],
      ].toSorted(),
    );
    const review = (id: string, verb: string) => ask('POST', `/ops/v1/med/review/${id}/${verb}`);
    expectError(await gateway.post(`/ops/v1/med/review/${approved.id}/approve`, {}), 401, 'unauthorized');
    expect(await good(review(approved.id, 'approve'))).to.deep.equal({
      caseId: approved.id,
      status: 'rejected',
      moneyOutcome: 'lost',
    });
    expect(await good(review(refused.id, 'reject'))).to.deep.equal({
      caseId: refused.id,
      status: 'open',
      moneyOutcome: null,
    });
    for (const { id } of [approved, refused, mismatch])
      for (const verb of ['approve', 'reject']) expectError(await review(id, verb), 400, 'case_not_open');
    expectError(await review(`med_${'0'.repeat(26)}`, 'approve'), 404, 'not_found');
    expect((await list()).map(([id]) => id)).to.deep.equal([mismatch.id]);
    const approvers: unknown[] = [];
    const stream = MED_CASE.stream(rawIdOf(approved.id) as MedCaseId);
    for await (const { type, metadata } of gateway.storage.store.readStream(stream))
      if (type === 'MedCaseReviewApproved') approvers.push((JSON.parse(metadata) as Body)['actor']);
    expect(approvers).to.deep.equal([`user:usr_${olga.userId}`]);
  });
});

describe('a long job started by an operator', () => {
  /** Starts the route’s work and ends it with `cut`. Returns the signals and events in order, once the response has ended. */
  const cutOff = async (
    route: typeof verifyProjectionsRoute | typeof rebuildProjectionRoute,
    cut: (by: { readonly closing: AbortController; readonly leave: () => void }) => void,
  ): Promise<readonly string[]> => {
    const told: string[] = [];
    const closing = new AbortController();
    const begun = Promise.withResolvers<void>();
    const work = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          told.push('stopped');
          reject(signal.reason as Error);
        });
        begun.resolve();
      });
    const platform = {
      readModels: ['users'],
      verify: work,
      rebuild: (_: string, signal: AbortSignal) => work(signal),
    };
    const context = { params: { name: 'users' }, services: { platform, closing: closing.signal } };
    const answer = (await route.handle(context as never)) as { open: (sink: EventSink) => Promise<void> };
    let leave = (): void => undefined;
    const over = answer.open({
      send: (event) => void told.push(event),
      end: () => void told.push('ended'),
      drained: async () => undefined,
      onClose: (listener) => {
        leave = listener;
      },
    });
    await begun.promise;
    cut({ closing, leave: () => leave() });
    await over;
    return told;
  };
  for (const route of [verifyProjectionsRoute, rebuildProjectionRoute])
    it(`stops when the client disconnects or the process shuts down: ${route.operationId}`, async () => {
      expect(await cutOff(route, ({ leave }) => leave())).to.deep.equal(['stopped', 'ended']);
      expect(await cutOff(route, ({ closing }) => closing.abort())).to.deep.equal(['stopped', 'ended']);
    });
});
