// What operators do on the pages about the system, all accounts’ deliveries, the audit log and erasure, in a browser without scripts.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PLATFORM_PAGES } from '../../../http/kernel/callers.ts';
import { OPERATIONS_PAGES } from '../../../http/site/dashboard/platform/operations/routes.ts';
import { PLATFORM_ROUTES } from '../../../http/site/dashboard/platform/routes.ts';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { sealAllOf } from '../../infrastructure/audit/auditWorld.ts';
import { cookieOf, fieldsIn, ownForm } from '../../world/browser.ts';
import { ALL_RETRIES_SECONDS, answering } from '../../world/deliveryFacts.ts';
import { deliveryScene } from '../../world/deliveryScene.ts';
import type { TestGateway } from '../../world/gateway.ts';
import type { Merchant } from '../../world/merchant.ts';
import { OperatorsPages } from '../../world/operatorsPages.ts';
import { paymentStream } from '../../world/poison.ts';
import { makeParked, untilNoRun } from '../examples/opsExamples.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };
const { operations: TEXTS } = EN;
const DOCUMENT = '39053344705';
const NAME = 'Zuleica Quaresma';

describe('the operators’ pages about the system', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let pages: OperatorsPages;
  let bearer: { readonly authorization: string };
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  beforeEach(async () => {
    pages = await OperatorsPages.open(gateway);
    bearer = pages.bearer;
  });

  const show = (path: string) => pages.show(path);
  const send = (path: string, fields: Readonly<Record<string, string>> = {}) => pages.send(path, fields);
  const ask = async <T>(path: string): Promise<T> => {
    const { status, text, body } = await gateway.call<T>('GET', path, { key: null, headers: bearer });
    expect(status, text).to.equal(200);
    return body;
  };
  const placeOf = ({ headers, text }: { headers: Headers; text: string }): string => headers.get('location') ?? text;
  const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll("'", '&#39;');
  /** Returns the status, and true if the page contains the text. */
  const saying = ({ status, text }: { status: number; text: string }, words: string) => [
    status,
    text.includes(escaped(words)) || text,
  ];

  it('are forbidden to members of accounts of any role, and reject forged forms', async () => {
    expect(PLATFORM_ROUTES).to.include.members(OPERATIONS_PAGES);
    const owner = await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant: merchant.tenant }));
    for (const { method, path } of OPERATIONS_PAGES) {
      const at = path.replace('{stream}', `payment-${'0'.repeat(26)}`).replace('{id}', '0'.repeat(16));
      if (method === 'POST') await pages.refusesOthers(at.slice(PLATFORM_PAGES.length));
      else {
        const { status } = await gateway.call('GET', at, { key: null, headers: { ...HTML, ...cookieOf(owner) } });
        expect(status, path).to.equal(403);
      }
    }
  });

  it('show the checks of doctor, the leaders and the version', async () => {
    const { findings, leaders, version } = await ask<{
      findings: { check: string; says: string; isGood: boolean }[];
      leaders: { role: string; isAlive: boolean }[];
      version: string;
    }>('/ops/v1/system');
    expect(findings.map(({ check }) => check)).to.include.members(['database version', 'event store', 'audit log']);
    expect(leaders.filter(({ isAlive }) => isAlive).map(({ role }) => role)).to.include.members([
      'projector',
      'reactor',
    ]);
    await gateway.gateway.services.renewSystemReport();
    const { status, text, headers: shownHeaders } = await show('/system');
    expect([status, shownHeaders.get('refresh')]).to.deep.equal([200, null]);
    for (const { check } of findings) expect(text).to.match(new RegExp(`>${check}(</a>)?</th>`));
    expect(text)
      .to.include(`>${TEXTS.system.ready}</span>`)
      .and.include('<th scope="row">projector</th>')
      .and.include(version);
  });

  it('run the checks in the background on request, and reload meanwhile', async () => {
    await gateway.storage.operations.transaction(async (tx) => {
      // Only the checks read this table, so they wait until the page was shown.
      await tx.query('LOCK TABLE operations.secrets_key_check');
      const started = await send('/system/checks');
      expect(placeOf(started)).to.equal(`${PLATFORM_PAGES}/system?done=checksStarted`);
      const page = await show('/system?done=checksStarted');
      expect(page.text).to.include(TEXTS.system.checking).and.not.include(TEXTS.system.checkNow);
      expect(page.headers.get('refresh')).to.equal(`3; url=${PLATFORM_PAGES}/system`);
      expect((await show('/system?still=1')).headers.get('refresh')).to.equal(null);
    });
    await gateway.gateway.services.renewSystemReport();
    const after = await show('/system');
    expect(after.text).to.include(TEXTS.system.checkNow).and.not.include(TEXTS.system.checking);
    expect(after.headers.get('refresh')).to.equal(null);
  });

  describe('about parked streams', () => {
    const makeOne = async () => {
      const { parkedId } = await makeParked(gateway);
      const stream = paymentStream(parkedId);
      return { stream, at: `/parked/${stream}` };
    };
    const consumersOf = async (stream: string) =>
      (await ask<{ parked: { consumer: string }[] }>(`/ops/v1/parked/${stream}`)).parked.map(
        ({ consumer }) => consumer,
      );
    const skipAll = async (stream: string) => {
      const form = ownForm(bearer, { reason: 'It can’t be read.' });
      const forced = (await consumersOf(stream)).map((name) => `&force=${encodeURIComponent(name)}`).join('');
      return gateway.call('POST', `${PLATFORM_PAGES}/parked/${stream}/skip`, {
        key: null,
        ...form,
        raw: form.raw + forced,
        headers: { ...HTML, ...cookieOf(bearer) },
      });
    };

    it('list them, with the reason and the consumers affected', async () => {
      const { stream, at } = await makeOne();
      expect((await show('/parked')).text).to.include(`/parked/${stream}"`);
      expect((await show('/parked?consumer=payments')).text).to.include(stream);
      const { status, text } = await show(at);
      expect([status, text.includes('ChargeTeleported')]).to.deep.equal([200, true]);
      expect(text).to.include(escaped(TEXTS.parked.ofReadModel)).and.include(escaped(TEXTS.parked.ofMoney));
      await gateway.gateway.services.renewSystemReport();
      expect((await show('/system')).text).to.include('parked at an event that failed');
      expect((await show(`/parked/payment-${'0'.repeat(26)}`)).status).to.equal(404);
      await skipAll(stream);
    });
    it('retry one or all, and say when the cause persists', async () => {
      const { stream, at } = await makeOne();
      for (const path of [`${at}/retry`, '/parked/retry']) {
        const again = await send(path);
        expect(again.status, again.text).to.equal(422);
        expect(again.text).to.include('parked the stream again at event');
      }
      expect(await skipAll(stream)).to.have.property('status', 303);
      expect(placeOf(await send(`${at}/retry`))).to.equal(`${PLATFORM_PAGES}/parked?done=notParked`);
    });
    it('skip an event with a reason, once each affected consumer is confirmed', async () => {
      const { stream, at } = await makeOne();
      expect(saying(await send(`${at}/skip`, { reason: ' ' }), EN.platform.badReason)).to.deep.equal([422, true]);
      const careless = await send(`${at}/skip`, { reason: '<b>why</b>', consumer: 'payments' });
      expect(saying(careless, TEXTS.parked.unmeant('payments'))).to.deep.equal([422, true]);
      expect(careless.text)
        .to.include('value="&lt;b&gt;why&lt;/b&gt;"')
        .and.include('<option value="payments" selected>');
      expect(await consumersOf(stream)).to.include('payments');
      expect(placeOf(await skipAll(stream))).to.equal(`${PLATFORM_PAGES}/parked?done=eventSkipped`);
      const second = await send(`${at}/skip`, { reason: 'again' });
      expect(placeOf(second)).to.equal(`${PLATFORM_PAGES}/parked?done=notParked`);
      expect((await show('/parked')).text).to.include(escaped(TEXTS.parked.empty));
    });
  });

  it('show queues and failed jobs, and retry one, a queue or all', async () => {
    const { id: chargeId } = (await gateway.charge<{ id: string }>()).body;
    const fail = async (): Promise<string> => {
      const id = randomUUID();
      const text = `INSERT INTO jobs.job (id, name, data, group_id, group_tier, policy, state, completed_on, output, retry_count, retry_limit)
        SELECT $1, q.name, jsonb_build_object('payloads', jsonb_build_array(jsonb_build_object('paymentId', $2::text))), $3, '', q.policy,
          'failed', now(), '{"message":"<i>the bank was away</i>"}', 3, 3 FROM jobs.queue q WHERE q.name = 'expire'`;
      const values = [id, chargeId.slice(3), `test/${gateway.tenant.accountId}`];
      await gateway.storage.operations.query(text, values);
      return id;
    };
    const failed = async () => (await ask<{ data: { id: string }[] }>('/ops/v1/jobs')).data.map(({ id }) => id);
    const one = await fail();
    const page = await show('/jobs?queue=expire');
    expect(page.text).to.include(one).and.include('&lt;i&gt;the bank was away&lt;/i&gt;');
    const { data } = await ask<{ data: { queue: string; failed: number }[] }>('/ops/v1/jobs/queues');
    expect(data.find(({ queue }) => queue === 'expire')).to.deep.include({ failed: 1 });
    for (const wrong of [{}, { id: 'x' }, { id: randomUUID() }, { queue: 'expire', all: 'true' }])
      expect(
        saying(await send('/jobs/retry', wrong as object as Record<string, string>), TEXTS.jobs.gone),
      ).to.deep.equal([422, true]);
    expect(await failed()).to.deep.equal([one]);
    expect(placeOf(await send('/jobs/retry', { id: one }))).to.equal(`${PLATFORM_PAGES}/jobs?done=jobsRetried`);
    expect(saying(await send('/jobs/retry', { id: one }), TEXTS.jobs.gone)).to.deep.equal([422, true]);
    await fail();
    expect(placeOf(await send('/jobs/retry', { queue: 'expire' }))).to.equal(`${PLATFORM_PAGES}/jobs?done=jobsRetried`);
    await fail();
    expect(placeOf(await send('/jobs/retry', { all: 'true' }))).to.equal(`${PLATFORM_PAGES}/jobs?done=jobsRetried`);
    expect(placeOf(await send('/jobs/retry', { all: 'true' }))).to.equal(`${PLATFORM_PAGES}/jobs?done=noJobsRetried`);
    expect((await show('/jobs')).text).to.include(TEXTS.jobs.empty);
  });

  it('rebuild and verify read models one at a time, with progress', async () => {
    const path = '/read-models';
    const page = await show(path);
    for (const { name, version } of PROJECTIONS) expect(page.text).to.include(`>${name}</th><td>${version}</td>`);
    expect(page.headers.get('refresh')).to.equal(null);
    const unknown = await send(`${path}/runs`, { work: 'rebuild', readModel: 'nothing' });
    expect(unknown.status).to.equal(404);
    const started = await send(`${path}/runs`, { work: 'verify' });
    expect(placeOf(started)).to.equal(`${PLATFORM_PAGES}${path}?done=runStarted`);
    const busy = await send(`${path}/runs`, { work: 'rebuild', readModel: 'users' });
    expect(saying(busy, TEXTS.readModels.busy)).to.deep.equal([422, true]);
    const running = await show(`${path}?done=runStarted`);
    expect(running.headers.get('refresh')).to.equal(`3; url=${PLATFORM_PAGES}${path}`);
    expect(running.text).to.include('<progress').and.not.include(TEXTS.readModels.rebuildAll);
    expect((await show(`${path}?still=1`)).headers.get('refresh')).to.equal(null);
    await untilNoRun(gateway);
    expect((await show(path)).text).to.match(/\d+ rows compared, 0 differences/);
    await send(`${path}/runs`, { work: 'rebuild', readModel: 'users' });
    await untilNoRun(gateway);
    expect((await show(path)).text).to.match(/users: \d+ events in [\d.]+ s/);
    const { data } = await ask<{ data: { work: string; state: string; by: string }[] }>('/ops/v1/projections/runs');
    expect(data.slice(0, 2).map(({ work, state }) => [work, state])).to.deep.equal([
      ['rebuild', 'done'],
      ['verify', 'done'],
    ]);
    expect(data[0]?.by).to.match(/^user:usr_/);
  });

  it('show failed deliveries, count those that match a filter and send them again', async () => {
    let isWell = false;
    const receiver = await receivers.open(answering(() => (isWell ? 200 : 500)));
    const hook = { url: receiver.url, events: ['charge.created'] };
    await gateway.post('/v1/webhooks/endpoints', hook, { key: merchant.tenant.testKey });
    await merchant.charge();
    await merchant.flushed();
    await merchant.advance(ALL_RETRIES_SECONDS);
    await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'FAILED'));
    const accountId = `acct_${merchant.tenant.accountId}`;
    const other = `acct_${(await gateway.newTenant()).accountId}`;
    expect((await show('/dead-letters')).text)
      .to.include(`/accounts/${accountId}"`)
      .and.include('charge.created');
    expect((await show(`/dead-letters?accountId=${other}`)).text).to.include(TEXTS.deadLetters.emptyFiltered);
    const { badAccount, badFilter, noAccount, matched } = TEXTS.deadLetters;
    for (const [filter, words] of [
      [{ accountId: 'acct_x' }, badAccount],
      [{ accountId: `acct_${'0'.repeat(26)}` }, noAccount],
      [{ endpointId: 'we_x' }, badFilter],
      [{ eventType: 'charge.eaten' }, badFilter],
      [{ createdAfter: 'yesterday' }, badFilter],
    ] as const) {
      const query = new URLSearchParams(filter).toString();
      expect(saying(await show(`/dead-letters/redrive?${query}`), words)).to.deep.equal([422, true]);
      expect(saying(await send('/dead-letters/redrive', { ...filter }), words)).to.deep.equal([422, true]);
    }
    const tried = receiver.got.length;
    const count = async (query: string) => (await show(`/dead-letters/redrive?${query}`)).text;
    expect(await count(`accountId=${accountId}&eventType=charge.created`)).to.include(matched(1));
    expect(await count(`accountId=${accountId}&eventType=charge.paid`)).to.include(matched(0));
    expect(await count(`accountId=${other}`)).to.include(matched(0));
    expect(receiver.got.length).to.equal(tried);
    isWell = true;
    const done = await send('/dead-letters/redrive', { accountId, createdAfter: '', createdBefore: '' });
    expect(placeOf(done)).to.equal(`${PLATFORM_PAGES}/dead-letters?done=deadLettersRedriven`);
    await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
    const second = await send('/dead-letters/redrive', { accountId });
    expect(placeOf(second)).to.equal(`${PLATFORM_PAGES}/dead-letters?done=nothingRedriven`);
  });

  it('show the audit log, rotate its key, and create and revoke auditors’ tokens', async () => {
    await sealAllOf(gateway);
    const status = await ask<{
      size: number;
      checkpoint: { size: number; signedBy: string };
      keys: { vkey: string }[];
    }>('/ops/v1/audit');
    expect(status.checkpoint.signedBy).to.equal(status.keys.at(-1)?.vkey);
    const page = await show('/audit');
    expect(page.text).to.include(status.checkpoint.signedBy).and.include(TEXTS.audit.noAnchors);
    expect(page.text).to.include(TEXTS.audit.noWitnesses).and.include('audit export');
    expect(placeOf(await send('/audit/rotate-key'))).to.equal(`${PLATFORM_PAGES}/audit?done=auditKeyRotated`);
    const after = await ask<{ keys: readonly unknown[] }>('/ops/v1/audit');
    expect(after.keys).to.have.length(status.keys.length + 1);
    expect(saying(await send('/audit/tokens', { name: '' }), TEXTS.audit.badName)).to.deep.equal([422, true]);
    const issued = await send('/audit/tokens', { name: 'Auditores <b>' });
    const token = /audit_[\w-]{43}/.exec(issued.text)?.[0] as string;
    const read = () =>
      gateway.call('GET', '/audit/log/checkpoint', { key: null, headers: { authorization: `Bearer ${token}` } });
    expect((await read()).status).to.equal(200);
    const again = await show('/audit');
    expect(again.text).to.include('Auditores &lt;b&gt;').and.not.include(token);
    const at = /\/audit\/tokens\/[0-9a-f]{16}\/revoke/.exec(again.text)?.[0] as string;
    for (const _ of ['first', 'second'])
      expect(placeOf(await send(at))).to.equal(`${PLATFORM_PAGES}/audit?done=auditTokenRevoked`);
    expect((await read()).status).to.equal(401);
  });

  it('rotate the audit key and create a token once, even if the form is sent again', async () => {
    const shown = await show('/audit');
    const rotate = fieldsIn(shown.text, `${PLATFORM_PAGES}/audit/rotate-key`);
    const issue = { ...fieldsIn(shown.text, `${PLATFORM_PAGES}/audit/tokens`), name: 'Once' };
    const keys = async () => (await ask<{ keys: readonly unknown[] }>('/ops/v1/audit')).keys.length;
    const before = await keys();
    const rotated = await Promise.all([1, 2].map(() => send('/audit/rotate-key', rotate)));
    expect(rotated.map(({ status }) => status).toSorted()).to.deep.equal([303, 422]);
    await pages.refused('/audit/rotate-key', rotate, 'This form was already sent');
    expect(await keys()).to.equal(before + 1);
    const issued = await Promise.all([1, 2].map(() => send('/audit/tokens', issue)));
    expect(issued.map(({ status }) => status).toSorted()).to.deep.equal([200, 422]);
    const again = await pages.refused('/audit/tokens', issue, 'A secret is shown only once');
    expect(again.match(/>Once</g)).to.have.length(1);
    const onPurpose = fieldsIn(again, `${PLATFORM_PAGES}/audit/tokens`);
    expect((await send('/audit/tokens', { ...onPurpose, name: 'Twice' })).status).to.equal(200);
  });

  describe('about erasure', () => {
    const subject = { by: 'document', value: '390.533.447-05' };
    const { erasure } = TEXTS;
    let chargeId: string;
    beforeEach(async () => {
      const customer = { name: NAME, document: DOCUMENT };
      chargeId = (await gateway.charge<{ id: string }>({ customer })).body.id;
      await gateway.post(`/v1/sandbox/charges/${chargeId}/pay`, { payer: customer });
    });

    it('find by document and id, and reject invalid values', async () => {
      expect((await show('/erasure')).status).to.equal(200);
      const found = await send('/erasure', subject);
      expect([found.status, found.text.includes(chargeId)]).to.deep.equal([200, true]);
      expect((await send('/erasure', { by: 'payment', value: chargeId })).text).to.include(erasure.found(1));
      expect((await send('/erasure', { by: 'document', value: '11144477735' })).text).to.include(erasure.none);
      for (const by of ['document', 'email', 'payment', 'payout'])
        expect(saying(await send('/erasure', { by, value: '"><b>1' }), erasure.badSubject)).to.deep.equal([422, true]);
    });
    it('continue a search after the last item of a page', async () => {
      const after = chargeId.replace('ch_', 'tx_');
      const next = await send('/erasure', { ...subject, after });
      expect([next.status, next.text.includes(chargeId)]).to.deep.equal([200, false]);
      expect(saying(await send('/erasure', { ...subject, after: 'x' }), erasure.badSubject)).to.deep.equal([422, true]);
    });
    it('report the stored data as PDF and JSON', async () => {
      const of = { by: 'payment', value: chargeId };
      const json = await send('/erasure/report', { ...of, format: 'json' });
      expect(json.headers.get('content-disposition')).to.equal('attachment; filename="personal-data.json"');
      expect(json.text).to.include(NAME).and.include(DOCUMENT);
      const pdf = await gateway.call('POST', `${PLATFORM_PAGES}/erasure/report`, {
        key: null,
        ...ownForm(bearer, { ...of, format: 'pdf' }),
        headers: { ...HTML, ...cookieOf(bearer) },
      });
      expect([pdf.status, pdf.headers.get('content-type')]).to.deep.equal([200, 'application/pdf']);
      expect(pdf.headers.get('content-disposition')).to.equal('attachment; filename="personal-data.pdf"');
    });
    it('erase with a reason and a confirmation; data under retention needs another one', async () => {
      const erase = (more: Readonly<Record<string, string>>) =>
        send('/erasure/erase', { by: 'payment', value: chargeId, confirm: 'yes', reason: 'request 17', ...more });
      const isErased = async () =>
        !(await send('/erasure/report', { by: 'payment', value: chargeId, format: 'json' })).text.includes(NAME);
      expect(saying(await erase({ confirm: '' }), erasure.notConfirmed)).to.deep.equal([422, true]);
      expect(saying(await erase({ reason: '' }), EN.platform.badReason)).to.deep.equal([422, true]);
      expect(saying(await erase({ reason: `asked by ${NAME}` }), erasure.personalReason)).to.deep.equal([422, true]);
      const kept = await erase({});
      expect(saying(kept, 'The data must be kept until')).to.deep.equal([422, true]);
      expect(kept.text).to.include('value="request 17"');
      expect(await isErased()).to.equal(false);
      const done = await erase({ despiteRetention: 'yes' });
      expect(saying(done, erasure.outcomes.erased)).to.deep.equal([200, true]);
      expect(await isErased()).to.equal(true);
      const second = await erase({ despiteRetention: 'yes' });
      expect(saying(second, erasure.outcomes.erased_before)).to.deep.equal([200, true]);
      expect(saying(await erase({ value: `ch_${'0'.repeat(26)}` }), erasure.none)).to.deep.equal([422, true]);
    });
  });
});
