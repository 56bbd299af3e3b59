// Dispute cases over HTTP: when they open, what they hold, and which webhooks they send (rules Q1–Q5, Q9).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { metadataForProcess } from '../../../../application/core/eventMetadata.ts';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import type { MedCaseId } from '../../../../domain/kernel/ids.ts';
import type { MedCaseView } from '../../../../domain/presentation/medCase.ts';
import { CaseDesk, netOf } from '../../../world/caseDesk.ts';
import { newKey, type Reply, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';

interface Page {
  readonly object: string;
  readonly data: readonly MedCaseView[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}
const DAY_S = 86_400;

describe('dispute cases', () => {
  let gateway: TestGateway;
  let desk: CaseDesk;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await CaseDesk.open(gateway);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const med = (chargeId: string, body: Body = {}) => desk.post(`/v1/sandbox/charges/${chargeId}/med`, body);
  const list = async (query = '', path = '/v1/med/cases'): Promise<Page> => {
    const { status, body, text } = await desk.merchant.get<Page>(`${path}${query}`);
    expect(status, text).to.equal(200);
    return body;
  };

  describe('are limited', () => {
    it('to 20 per charge in the sandbox, also under concurrency; repeats still succeed', async () => {
      const { id } = await desk.merchant.charge({ amount: 1_000 });
      const owed = (n: number) => med(id, { owed: true, provider_case_id: `owed-${id}-${n}` });
      const replies = await Promise.all(Array.from({ length: 25 }, (_, n) => owed(n)));
      const refused = replies.filter(({ status }) => status !== 202);
      expect(refused).to.have.length(5);
      for (const reply of refused) expectError(reply, 400, 'change_limit_reached');
      expectError(await owed(25), 400, 'change_limit_reached');
      expect((await owed(replies.findIndex(({ status }) => status === 202))).status).to.equal(202);
    });
    it('to 20 decisions per case in the sandbox', async () => {
      const { id } = await desk.dispute(await desk.paid());
      await desk.withdraw(id);
      const decide = () =>
        desk.post(`/v1/sandbox/med/cases/${id}/decide`, { result: 'agreed', owed: true, returned_to_payer: 1 });
      for (let n = 1; n < 20; n++) expect((await decide()).status).to.equal(202);
      expectError(await decide(), 400, 'change_limit_reached');
    });
    it('to 200 events before requests for evidence are rejected; appeals and decisions still succeed', async () => {
      const { id } = await desk.dispute(await desk.paid());
      const stream = MED_CASE.stream(rawIdOf(id) as MedCaseId);
      const { commands, accounts } = gateway.gateway.needs;
      const tenant = { accountId: desk.merchant.tenant.accountId, mode: 'test' as const };
      const at = await accounts.now(tenant.accountId, 'test');
      const { revision } = await commands.load(MED_CASE, stream);
      const events = Array.from({ length: 198 - revision }, () => ({
        ...{ type: 'MedCaseDeadlineNeared' as const, data: { at } },
      }));
      await commands.record(
        MED_CASE,
        stream,
        () => ({ events, reply: null }),
        metadataForProcess('test', tenant, id, id),
      );
      const request = () => desk.post(`/v1/sandbox/med/cases/${id}/request-evidence`);
      expect((await request()).status).to.equal(200); // its 200th event
      expectError(await request(), 400, 'change_limit_reached');
      await desk.appeal(id);
      await desk.decide(id, { result: 'disagreed' });
    });
  });

  describe('opening', () => {
    it('returns the case with all fields; both paths return the same case', async () => {
      const chargeId = await desk.paid();
      const opened = await desk.dispute(chargeId, { reason: 'never came' });
      const {
        id,
        response_deadline: deadline,
        opened_at: at,
        created_at: created,
        updated_at: updated,
        ...rest
      } = opened;
      expect(rest).to.deep.equal({
        object: 'med_case',
        type: 'med',
        status: 'open',
        amount: 1_000,
        currency: 'BRL',
        charge_id: chargeId,
        reason: 'never came',
        evidence_requested_at: null,
        appeal_reason: null,
        appealed_at: null,
        evidence_count: 0,
        money_outcome: null,
        closed_at: null,
      });
      expect(id).to.match(/^med_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(Date.parse(deadline as string) - Date.parse(at)).to.equal(3 * DAY_S * 1_000);
      expect(created).to.equal(updated);
      for (const path of ['/v1/med/cases', '/v1/infractions'])
        expect((await desk.merchant.get(`${path}/${id}`)).body).to.deep.equal(opened);
    });
    it('returns the existing case for a known provider case ID, also concurrently and for another charge', async () => {
      const chargeId = await desk.paid();
      const body = { provider_case_id: 'bank-1' };
      const [first, second] = await Promise.all([med(chargeId, body), med(chargeId, body)]);
      expect([first?.status, second?.status]).to.deep.equal([201, 201]);
      expect(second?.body.id).to.equal(first?.body.id);
      const other = await desk.dispute(await desk.paid(), body);
      expect([other.id, other.charge_id]).to.deep.equal([first?.body.id, chargeId]);
      expect((await list()).data).to.have.length(1);
      expect((await desk.wallet()).retained).to.equal(1_000);
    });
    it('is rejected for a charge that is unpaid, disputed, lost or refunded', async () => {
      const refusedOf = async (chargeId: string) => expectError(await med(chargeId), 400, 'charge_not_disputable');
      await refusedOf((await desk.merchant.charge({ amount: 1_000 })).id);
      const chargeId = await desk.paid();
      const { id } = await desk.dispute(chargeId);
      await refusedOf(chargeId);
      await desk.accept(id);
      await refusedOf(chargeId);
      const refunded = await desk.paid();
      const refund = await desk.desk.refund(refunded, { strategy: 'devolution' });
      await desk.good<unknown>(`/v1/sandbox/refunds/${refund.id}/confirm`);
      await refusedOf(refunded);
    });
    it('is possible again after a case ends; the charge’s metadata shows the latest case', async () => {
      const chargeId = await desk.paid();
      const first = await desk.dispute(chargeId, { method: 'scam' });
      await desk.withdraw(first.id);
      const second = await desk.dispute(chargeId, { method: 'coercion' });
      expect(second.id).to.not.equal(first.id);
      expect((await desk.chargeOf(chargeId)).med).to.include({ method: 'coercion', status: 'delivered' });
      await desk.decide(second.id, { result: 'disagreed' });
      expect(await desk.wallet()).to.deep.equal({ available: netOf(1_000), retained: 0 });
      expect((await list(`?charge_id=${chargeId}`)).data.map(({ id }) => id)).to.deep.equal([second.id, first.id]);
    });
    it('takes the provider’s deadline, which may be null', async () => {
      const deadline = '2030-01-02T03:04:05.678Z';
      expect((await desk.dispute(await desk.paid(), { response_deadline: deadline })).response_deadline).to.equal(
        deadline,
      );
      expect((await desk.dispute(await desk.paid(), { response_deadline: null })).response_deadline).to.equal(null);
      for (const wrong of ['2030-01-02', 'tomorrow', '2030-02-30T00:00:00Z'])
        expectError(
          await med(await desk.paid(), { response_deadline: wrong }),
          400,
          'invalid_request',
          'response_deadline',
        );
    });
  });

  describe('with a refund on its way', () => {
    it('hold the remaining amount; if the refund fails, its amount becomes available and the hold stays', async () => {
      const chargeId = await desk.paid();
      const refund = await desk.desk.refund(chargeId, { amount: 400, strategy: 'devolution' });
      const { id } = await desk.dispute(chargeId);
      expect(await desk.wallet()).to.deep.equal({ available: netOf(1_000) - 1_000, retained: 600 });
      await desk.good<unknown>(`/v1/sandbox/refunds/${refund.id}/fail`);
      expect(await desk.wallet()).to.deep.equal({ available: netOf(1_000) - 600, retained: 600 });
      await desk.withdraw(id);
      expect(await desk.wallet()).to.deep.equal({ available: netOf(1_000), retained: 0 });
    });
  });

  describe('answers and requests', () => {
    it('appeals check the reason first, then the case, then its status', async () => {
      const { id } = await desk.dispute(await desk.paid());
      const never = `med_${'0'.repeat(26)}`;
      const appeal = (to: string, body: Body) => desk.post(`/v1/med/cases/${to}/appeal`, body);
      for (const body of [
        {},
        { reason: 5 },
        { reason: null },
        { reason: 'four' },
        { reason: 'x'.repeat(2_001) },
        { reason: '      ' },
      ])
        for (const to of [id, ...(typeof body.reason === 'string' && body.reason.trim() === '' ? [] : [never])])
          expectError(await appeal(to, body), 400, 'invalid_reason', 'reason');
      expectError(await appeal(never, { reason: 'It came.' }), 404, 'not_found');
      await desk.appeal(id);
      for (const path of ['appeal', 'accept'])
        expectError(await desk.post(`/v1/infractions/${id}/${path}`, { reason: 'It came.' }), 400, 'case_not_open');
    });
    it('all except appeals get case_under_review while an outcome is reviewed', async () => {
      const { id } = await desk.dispute(await desk.paid());
      await desk.decide(id, { result: 'agreed', review: true });
      const under = `/v1/sandbox/med/cases/${id}`;
      for (const reply of [
        await desk.post(`/v1/med/cases/${id}/accept`),
        await desk.post(`${under}/decide`, { result: 'disagreed' }),
        await desk.post(`${under}/withdraw`),
      ])
        expectError(reply, 400, 'case_under_review');
      expect((await desk.appeal(id)).status).to.equal('appealed');
      expect((await desk.review(id, true)).status).to.equal('rejected');
      for (const [path, body] of [
        ['decide', { result: 'agreed' }],
        ['withdraw', {}],
        ['review', { approve: true }],
        ['request-evidence', {}],
      ] as const)
        expectError(await desk.post(`${under}/${path}`, body), 400, 'case_not_open');
    });
    it('requests for evidence set the time and send a webhook, each time', async () => {
      const { id } = await desk.dispute(await desk.paid());
      const asked = await desk.good(`/v1/sandbox/med/cases/${id}/request-evidence`);
      expect(asked.evidence_requested_at).to.equal(asked.updated_at);
      const told = (await desk.messages(2)).find(({ type }) => type === 'med_case.updated');
      expect(told?.object).to.deep.equal(asked);
      await desk.merchant.advance(1);
      const again = await desk.good(`/v1/sandbox/med/cases/${id}/request-evidence`);
      expect(again.evidence_requested_at).to.equal(again.updated_at);
      expect(Date.parse(again.updated_at)).to.be.greaterThan(Date.parse(asked.updated_at));
      const both = (await desk.messages(3)).filter(({ type }) => type === 'med_case.updated');
      expect(both.map(({ object }) => object['evidence_requested_at']).toSorted()).to.deep.equal([
        asked.evidence_requested_at,
        again.evidence_requested_at,
      ]);
    });
  });

  it('can be read and answered only with keys of their own mode', async () => {
    const { id } = await desk.dispute(await desk.paid());
    const live = { key: desk.merchant.tenant.liveKey };
    for (const path of ['/v1/med/cases', '/v1/infractions']) {
      expectError(await gateway.get(`${path}/${id}`, live), 404, 'not_found');
      expectError(await gateway.post(`${path}/${id}/appeal`, { reason: 'It came.' }, live), 404, 'not_found');
      expectError(await gateway.post(`${path}/${id}/accept`, {}, live), 404, 'not_found');
    }
    expect((await desk.read(id)).status).to.equal('open');
  });

  describe('with dispute notifications off', () => {
    it('send no webhook about the outcome, which the case still shows', async () => {
      await desk.desk.settings({ dispute_notifications: false });
      const { id } = await desk.dispute(await desk.paid());
      await desk.appeal(id);
      await desk.decide(id, { result: 'agreed' });
      await desk.merchant.flushed();
      expect(await desk.types(2)).to.deep.equal(['med_case.created', 'med_case.updated']);
      expect((await desk.messages(2)).map(({ object }) => object['status']).toSorted()).to.deep.equal([
        'appealed',
        'open',
      ]);
      expect((await desk.read(id)).money_outcome).to.equal('lost');
    });
  });

  describe('in lists', () => {
    it('are sorted newest first, filtered by status, type, charge and time, and paged', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) {
        ids.unshift((await desk.dispute(await desk.paid())).id);
        await desk.merchant.advance(1);
      }
      const all = await list();
      expect([all.object, all.has_more, all.next_cursor, all.data.map(({ id }) => id)]).to.deep.equal([
        'list',
        false,
        null,
        ids,
      ]);
      const paged: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const page: Page = await list(`?limit=2${cursor === null ? '' : `&starting_after=${cursor}`}`);
        paged.push(...page.data.map(({ id }) => id));
        expect(page.has_more).to.equal(page.next_cursor !== null);
        cursor = page.next_cursor;
        if (cursor === null) break;
      }
      expect(paged).to.deep.equal(ids);
      const [newest, , third] = all.data as [MedCaseView, MedCaseView, MedCaseView];
      await desk.appeal(newest.id);
      expect((await list('?status=appealed')).data.map(({ id }) => id)).to.deep.equal([newest.id]);
      expect((await list('?type=chargeback', '/v1/infractions')).data).to.deep.equal([]);
      expect((await list('?type=med')).data).to.have.length(5);
      expect((await list(`?charge_id=${third.charge_id}`)).data.map(({ id }) => id)).to.deep.equal([third.id]);
      // Both bounds are exclusive.
      expect((await list(`?created_after=${third.created_at}`)).data.map(({ id }) => id)).to.deep.equal(
        ids.slice(0, 2),
      );
      expect((await list(`?created_before=${third.created_at}`)).data.map(({ id }) => id)).to.deep.equal(ids.slice(3));
    });
    it('get 400 with the name of an invalid parameter', async () => {
      const { id } = await desk.dispute(await desk.paid());
      for (const [query, param] of [
        ['limit=0', 'limit'],
        ['limit=101', 'limit'],
        ['status=OPEN', 'status'],
        ['type=pix', 'type'],
        ['charge_id=x', 'charge_id'],
        ['created_after=2026-11-21', 'created_after'],
        ['created_before=yesterday', 'created_before'],
        ['created_after=', 'created_after'],
        ['created_after=2026-11-21T00:00:00Z&created_after=2026-11-22T00:00:00Z', 'created_after'],
        ['colour=red', 'colour'],
      ] as const)
        expectError(await desk.merchant.get(`/v1/med/cases?${query}`), 400, 'invalid_filter', param);
      for (const cursor of ['x', rawIdOf(id), `med_${'0'.repeat(26)}`])
        expectError(
          await desk.merchant.get(`/v1/med/cases?starting_after=${cursor}`),
          400,
          'invalid_cursor',
          'starting_after',
        );
    });
  });

  it('are found by the README’s script, exactly those of the given day', async () => {
    const { now } = await desk.merchant.clock();
    // Advances to noon of the next day.
    await desk.merchant.advance(
      Math.ceil((Date.parse(`${now.slice(0, 10)}T12:00:00.000Z`) - Date.parse(now)) / 1_000) + DAY_S,
    );
    const before = await desk.dispute(await desk.paid());
    await desk.merchant.advance(DAY_S);
    const today = [await desk.dispute(await desk.paid()), await desk.dispute(await desk.paid())];
    await desk.accept(today[0]?.id as string);
    await desk.merchant.advance(DAY_S);
    const after = await desk.dispute(await desk.paid());
    const day = today[0]?.created_at.slice(0, 10) as string;
    const words = ['docs/receivers/reconcile.mjs', gateway.baseUrl, desk.merchant.key, day];
    const { stdout } = await promisify(execFile)(process.execPath, words);
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => line.split(' ')[0]).toSorted()).to.deep.equal(today.map(({ id }) => id).toSorted());
    expect(lines.find((line) => line.startsWith(today[0]?.id as string))).to.equal(
      `${today[0]?.id} ${today[0]?.charge_id} accepted lost`,
    );
    for (const other of [before, after]) expect(stdout).to.not.include(other.id);
  });

  describe('under concurrency', () => {
    /** `npm run soak -- disputes` runs 100 rounds. */
    const ROUNDS = Number(process.env['ROUNDS'] ?? 20);
    /** Runs ten at a time, since a test gateway has a single process. */
    const rounds = async (play: (n: number) => Promise<void>): Promise<void> => {
      for (let n = 0; n < ROUNDS; n += 10) await Promise.all(Array.from({ length: 10 }, (_, i) => play(n + i)));
    };
    const sum = async () => {
      const { available, retained } = await desk.wallet();
      return available + retained;
    };
    it('share the refundable rest with refunds: no cent is held twice', async () => {
      let refunded = 0;
      await rounds(async () => {
        const chargeId = await desk.paid();
        const refund = { idempotencyKey: newKey(), strategy: 'devolution' };
        const [asked, opened] = await Promise.all([
          desk.post<Body>(`/v1/payments/${rawIdOf(chargeId)}/refund`, refund),
          med(chargeId),
        ]);
        expect(opened.status, opened.text).to.equal(201);
        if (asked.status === 201) refunded += 1_000;
        else expectError(asked as Reply<unknown>, 400, 'charge_disputed');
      });
      const { available, retained } = await desk.wallet();
      expect(retained).to.equal(ROUNDS * 1_000 - refunded);
      expect(available).to.equal(ROUNDS * (netOf(1_000) - 1_000));
    });
    it('keep a decision made during an appeal; the appeal comes first or is rejected', async () => {
      await rounds(async () => {
        const { id } = await desk.dispute(await desk.paid());
        const [appealed, decided] = await Promise.all([
          desk.post(`/v1/med/cases/${id}/appeal`, { reason: 'It was delivered.' }),
          desk.post(`/v1/sandbox/med/cases/${id}/decide`, { result: 'agreed' }),
        ]);
        expect(decided.status, decided.text).to.equal(200);
        const end = await desk.read(id);
        expect([end.status, end.money_outcome]).to.deep.equal(['rejected', 'lost']);
        if (appealed.status === 200) expect(end.appeal_reason).to.equal('It was delivered.');
        else expectError(appealed as Reply<unknown>, 400, 'case_not_open');
        expect(end.appealed_at === null).to.equal(appealed.status === 400);
      });
      expect(await desk.wallet()).to.deep.equal({ available: ROUNDS * (netOf(1_000) - 1_000), retained: 0 });
    });
    it('end by either the acceptance or the withdrawal, and the money follows', async () => {
      let accepted = 0;
      await rounds(async () => {
        const { id } = await desk.dispute(await desk.paid());
        const replies = await Promise.all([
          desk.post(`/v1/med/cases/${id}/accept`),
          desk.post(`/v1/sandbox/med/cases/${id}/withdraw`),
        ]);
        expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([200, 400]);
        const end = await desk.read(id);
        const isAccepted = replies[0].status === 200;
        if (isAccepted) accepted += 1;
        expect(end.status).to.equal(isAccepted ? 'accepted' : 'closed');
        expectError(replies[isAccepted ? 1 : 0] as Reply<unknown>, 400, 'case_not_open');
      });
      expect(await sum()).to.equal(ROUNDS * netOf(1_000) - accepted * 1_000);
      expect((await desk.wallet()).retained).to.equal(0);
    });
  });
});
