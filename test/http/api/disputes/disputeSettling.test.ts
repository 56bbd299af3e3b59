// Dispute reports of the bank that no rule can apply automatically: amounts that don’t match, reports at the wrong time, contradictions
// (rules Q1, Q10, Q11, X4).

import { expect } from 'chai';
import type { MedCaseView } from '../../../../domain/presentation/medCase.ts';
import { CaseDesk, netOf } from '../../../world/caseDesk.ts';
import type { Reply, TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';

const NET = netOf(10_000);

describe('dispute reports that wait for an operator', () => {
  let gateway: TestGateway;
  let desk: CaseDesk;
  let headers: Readonly<Record<string, string>>;
  before(async () => {
    gateway = await openReady();
    headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await CaseDesk.open(gateway);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const ops = <T = Body>(path: string, body: Body): Promise<Reply<T>> =>
    gateway.post<T>(`/ops/v1/med${path}`, body, { key: null, headers });
  const settle = (id: string, body: Body) => ops(`/cases/${id}/settle`, { reason: 'asked the bank', ...body });
  const dismiss = (id: string) => ops(`/cases/${id}/dismiss`, { reason: 'asked the bank' });
  /** Returns the reports of this account that wait for an operator. */
  const waiting = async (): Promise<readonly Body[]> => {
    const { body, status } = await gateway.get<{ data: Body[] }>('/ops/v1/med/review?limit=1000', {
      key: null,
      headers,
    });
    expect(status).to.equal(200);
    return body.data.filter(({ accountId }) => accountId === `acct_${desk.merchant.tenant.accountId}`);
  };
  const because = async () => (await waiting()).map(({ providerCaseId, because: why }) => [providerCaseId, why]);
  const refund = (chargeId: string, amount?: number) =>
    desk.desk.ask(chargeId, { strategy: 'devolution', ...(amount !== undefined && { amount }) });
  const med = (chargeId: string, body: Body = {}) => desk.post(`/v1/sandbox/charges/${chargeId}/med`, body);
  const owed = async (chargeId: string, name: string, body: Body = {}) => {
    const reply = await desk.post<Body>(`/v1/sandbox/charges/${chargeId}/med`, {
      owed: true,
      provider_case_id: name,
      ...body,
    });
    expect([reply.status, reply.body], reply.text).to.deep.equal([202, { provider_case_id: name }]);
  };
  const casesOf = async (chargeId: string) =>
    (await desk.merchant.get<{ data: MedCaseView[] }>(`/v1/med/cases?charge_id=${chargeId}`)).body.data;
  const until = async <T>(look: () => Promise<T | null>): Promise<T> => {
    const found = await pollUntil(gateway.gateway.projected, 20_000, look);
    expect(found).to.not.equal(null);
    return found as T;
  };
  const untilCases = (chargeId: string, count: number) =>
    until(async () => {
      const cases = await casesOf(chargeId);
      return cases.length === count ? cases : null;
    });
  const untilWaiting = (count: number) =>
    until(async () => ((await waiting()).length === count ? await waiting() : null));
  /** Returns the types of the case’s webhook messages, in alphabetical order. */
  const told = async (id: string) =>
    (await desk.messages(1))
      .filter(({ type, object }) => type !== undefined && [object['id'], object['case_id']].includes(id))
      .map(({ type }) => type)
      .toSorted();
  /** Returns the nonzero ledger balances of the charge, by account. */
  const ledger = async (chargeId: string): Promise<Record<string, number>> => {
    const { body } = await gateway.get<{ postings: { account: string; amount: number }[] }>(
      `/ops/v1/ledger/payments/${rawIdOf(chargeId)}`,
      {
        key: null,
        headers,
      },
    );
    const sums: Record<string, number> = {};
    for (const { account, amount } of body.postings) sums[account] = (sums[account] ?? 0) + amount;
    return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0));
  };

  describe('a reported amount that does not match (Q1)', () => {
    it('moves no money, blocks refunds beyond the rest, and may be settled as lost after its end', async () => {
      const chargeId = await desk.paid(10_000);
      const opened = await desk.dispute(chargeId, { amount: 4_000 });
      expect(await desk.wallet()).to.deep.equal({ available: NET, retained: 0 });
      const { status, med: shown } = await desk.chargeOf(chargeId);
      expect([status, shown['amountMismatch'], opened.status]).to.deep.equal(['paid', true, 'open']);
      // 4,000 must stay refundable, so at most 6,000 may be refunded.
      for (const amount of [undefined, 10_000, 6_001])
        expectError((await refund(chargeId, amount)) as Reply<unknown>, 400, 'charge_disputed');
      expect((await refund(chargeId, 6_000)).status).to.equal(201);
      expectError((await refund(chargeId, 1)) as Reply<unknown>, 400, 'charge_disputed');
      const ended = await desk.decide(opened.id, { result: 'agreed', returned_to_payer: 4_000 });
      expect([ended.status, ended.money_outcome]).to.deep.equal(['rejected', null]);
      expect((await waiting()).map(({ caseId, because: why, status: of }) => [caseId, why, of])).to.deep.equal([
        [opened.id, 'amount_mismatch', 'rejected'],
      ]);
      expectError((await refund(chargeId, 1)) as Reply<unknown>, 400, 'charge_disputed');
      expectError(await settle(opened.id, { held: 4_000 }), 400, 'case_not_open');
      expectError(await settle(opened.id, { lost: 4_001 }), 400, 'invalid_amount', 'lost');
      await desk.merchant.flushed();
      expect(await told(opened.id)).to.deep.equal(['med_case.created', 'med_case.updated']);
      const done = await settle(opened.id, { lost: 4_000 });
      expect([done.status, done.body]).to.deep.equal([
        200,
        { caseId: opened.id, status: 'rejected', moneyOutcome: 'lost' },
      ]);
      for (const again of [{ lost: 4_000 }, { nothing: true }])
        expectError(await settle(opened.id, again), 400, 'case_not_open');
      expect((await desk.read(opened.id)).money_outcome).to.equal('lost');
      expect((await desk.chargeOf(chargeId)).status).to.equal('disputed');
      expect(await desk.wallet()).to.deep.equal({ available: NET - 10_000, retained: 0 });
      expect(await waiting()).to.deep.equal([]);
      expect(await ledger(chargeId)).to.deep.equal({
        merchant_available: NET - 10_000,
        refunds_in_transit: 6_000,
        provider_clearing: -6_000,
        provider_fees: 10,
        platform_fees: 100,
      });
    });
    it('sends no payment.failed until an operator settles it as held, then behaves like any dispute', async () => {
      await desk.merchant.register('http://127.0.0.1:1025/', ['payment.failed', 'payment.status_changed']);
      const chargeId = await desk.paid(10_000);
      const { id } = await desk.dispute(chargeId, { amount: 4_000 });
      await desk.merchant.flushed();
      const legacy = async () =>
        (await desk.merchant.deliveries('?limit=100')).data
          .map(({ payload }) => payload as { event?: string; data: Body })
          .filter(({ event, data }) => event !== undefined && data['status'] === 'DISPUTE')
          .map(({ event }) => event)
          .toSorted();
      expect(await legacy()).to.deep.equal([]);
      expect((await settle(id, { held: 2_500 })).body).to.include({ status: 'open', moneyOutcome: null });
      await desk.merchant.flushed();
      expect(await legacy()).to.deep.equal(['payment.failed', 'payment.status_changed']);
      expect(await told(id)).to.deep.equal(['med_case.created']);
      expect(await desk.wallet()).to.deep.equal({ available: NET - 2_500, retained: 2_500 });
      expectError((await refund(chargeId, 1)) as Reply<unknown>, 400, 'charge_disputed');
      const lost = await desk.decide(id, { result: 'agreed' });
      expect([lost.status, lost.money_outcome]).to.deep.equal(['rejected', 'lost']);
      expect(await desk.wallet()).to.deep.equal({ available: NET - 2_500, retained: 0 });
      await desk.merchant.flushed();
      expect(await told(id)).to.deep.equal(['med.resolved', 'med_case.created', 'med_case.updated']);
    });
    it('can be settled as nothing, open or ended: the case closes and the charge is refundable', async () => {
      for (const ends of [false, true]) {
        const chargeId = await desk.paid(10_000);
        const { id } = await desk.dispute(chargeId, { amount: 10_001 });
        if (ends) expect(await desk.accept(id)).to.include({ status: 'accepted', money_outcome: null });
        expectError((await refund(chargeId, 1)) as Reply<unknown>, 400, 'charge_disputed');
        const done = await settle(id, { nothing: true });
        expect(done.body).to.deep.equal({ caseId: id, status: 'closed', moneyOutcome: 'refunded_to_merchant' });
        expect((await desk.chargeOf(chargeId)).status).to.equal('paid');
        expect((await refund(chargeId)).status).to.equal(201);
      }
    });
    it('is no mismatch if it equals the refundable rest', async () => {
      const chargeId = await desk.paid(10_000);
      expect((await refund(chargeId, 3_000)).status).to.equal(201);
      const opened = await desk.dispute(chargeId, { amount: 7_000 });
      expect((await desk.chargeOf(chargeId)).med['amountMismatch']).to.equal(false);
      expect(await desk.wallet()).to.deep.equal({ available: NET - 10_000, retained: 7_000 });
      expectError(await settle(opened.id, { nothing: true }), 400, 'case_not_open');
    });
    it('stays refundable under concurrent refunds', async () => {
      const chargeId = await desk.paid(10_000);
      await desk.dispute(chargeId, { amount: 4_000 });
      const asked = await Promise.all(Array.from({ length: 10 }, () => refund(chargeId, 1_000)));
      expect(asked.filter(({ status }) => status === 201)).to.have.length(6);
      for (const one of asked.filter(({ status }) => status !== 201))
        expectError(one as Reply<unknown>, 400, 'charge_disputed');
    });
    it('can’t be settled with an invalid body, case or amount', async () => {
      const chargeId = await desk.paid(10_000);
      const { id } = await desk.dispute(chargeId, { amount: 4_000 });
      for (const body of [
        {},
        { held: 1, lost: 1 },
        { nothing: false },
        { held: 1, other: 1 },
        { held: 1, reason: ' ' },
      ])
        expect((await settle(id, body)).status, JSON.stringify(body)).to.equal(400);
      for (const body of [{ held: 0 }, { lost: -1 }, { held: 1.5 }, { lost: 10_001 }])
        expectError(await settle(id, body), 400, 'invalid_amount', Object.keys(body)[0] as string);
      expectError(await settle(`med_${'0'.repeat(26)}`, { nothing: true }), 404, 'not_found');
      expectError(
        await gateway.post(`/ops/v1/med/cases/${id}/settle`, { nothing: true, reason: 'x' }, desk.merchant),
        401,
        'unauthorized',
      );
    });
  });

  describe('a report that can’t be applied yet (Q10)', () => {
    it('for a Pix held for review waits for the release', async () => {
      const locked = { amount: 10_000, expected_payer_tax_id: '12345678909', customer: { name: 'Ana Souza' } };
      const { id } = await desk.merchant.charge(locked);
      await desk.good<Body>(`/v1/sandbox/charges/${id}/pay`, { payer: { document: null } });
      expectError(await med(id), 400, 'charge_not_disputable');
      await owed(id, 'held-1');
      await desk.merchant.flushed();
      expect(await casesOf(id)).to.deep.equal([]);
      expect((await gateway.post(`/ops/v1/held/${rawIdOf(id)}/release`, {}, { key: null, headers })).status).to.equal(
        200,
      );
      await untilCases(id, 1);
      expect((await desk.chargeOf(id)).status).to.equal('disputed');
    });
    it('for a second case opens after a first one is won, and is listed after a lost one', async () => {
      for (const [won, name] of [
        [true, 'second-won'],
        [false, 'second-lost'],
      ] as const) {
        const chargeId = await desk.paid(10_000);
        const first = await desk.dispute(chargeId, { provider_case_id: `first-${name}` });
        expectError(await med(chargeId, { provider_case_id: `${name}-asked` }), 400, 'charge_not_disputable');
        await owed(chargeId, name);
        await desk.merchant.flushed();
        expect(await casesOf(chargeId)).to.have.length(1);
        await desk.decide(first.id, { result: won ? 'disagreed' : 'agreed' });
        if (won) {
          const cases = await untilCases(chargeId, 2);
          expect(cases.map(({ status }) => status)).to.deep.equal(['open', 'closed']);
          continue;
        }
        const [listed] = await untilWaiting(1);
        expect(listed).to.include({
          providerCaseId: name,
          because: 'report_not_taken',
          reason: 'lost_before',
          status: null,
        });
        expectError(await dismiss('no-such-case'), 404, 'not_found');
        expect((await dismiss(name)).body).to.deep.equal({ caseId: listed?.['caseId'] });
        expectError(await dismiss(listed?.['caseId'] as string), 400, 'case_not_open');
        expect(await waiting()).to.deep.equal([]);
        expectError(await desk.merchant.get(`/v1/med/cases/${listed?.['caseId']}`), 404, 'not_found');
      }
    });
    it('for a fully refunded payment never opens and is listed', async () => {
      const chargeId = await desk.paid(10_000);
      const { id } = (await refund(chargeId)).body;
      await desk.good<Body>(`/v1/sandbox/refunds/${id}/confirm`);
      await owed(chargeId, 'contestação nº 1');
      const [listed] = await untilWaiting(1);
      expect(listed).to.include({ reason: 'refunded', amount: 10_000 });
      for (const bad of ['%00', 'a%00']) expectError(await dismiss(bad), 404, 'not_found');
      expect((await dismiss(encodeURIComponent('contestação nº 1'))).status).to.equal(200);
    });
    it('for an unpaid charge opens once it is paid', async () => {
      const { id } = await desk.merchant.charge({ amount: 10_000 });
      await owed(id, 'early-1');
      await desk.good<Body>(`/v1/sandbox/charges/${id}/pay`, {});
      await untilCases(id, 1);
    });
    it('for a charge with a mismatch opens after the mismatch is settled', async () => {
      const chargeId = await desk.paid(10_000);
      const { id } = await desk.dispute(chargeId, { amount: 1 });
      await owed(chargeId, 'after-mismatch');
      await desk.merchant.flushed();
      expect((await settle(id, { nothing: true })).status).to.equal(200);
      const [second] = await untilCases(chargeId, 2);
      expect(second?.status).to.equal('open');
    });
    it('for one of two simultaneous cases is refused for good, while the other one opens', async () => {
      for (let n = 0; n < 10; n++) {
        const chargeId = await desk.paid(10_000);
        const names = [`one-${n}`, `two-${n}`];
        const replies = await Promise.all(names.map((name) => med(chargeId, { provider_case_id: name })));
        expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([201, 400]);
        const refused = replies.findIndex(({ status }) => status === 400);
        expectError(replies[refused] as Reply<unknown>, 400, 'charge_not_disputable');
        const opened = replies[1 - refused]?.body as MedCaseView;
        // It stays refused even when the charge could be disputed again.
        await desk.withdraw(opened.id);
        await desk.merchant.flushed();
        expect((await casesOf(chargeId)).map(({ id }) => id)).to.deep.equal([opened.id]);
        expect(await because()).to.deep.equal([]);
      }
    });
  });

  describe('the amount returned to the payer (Q11)', () => {
    it('leaves a rest on the disputes account if it differs from the held amount', async () => {
      const charges = [await desk.paid(10_000), await desk.paid(10_000), await desk.paid(10_000)];
      const clear = { merchant_available: NET - 10_000, provider_fees: 10, platform_fees: 100 };
      for (const [n, [got, left]] of (
        [
          [undefined, {}],
          [7_000, { disputes: 3_000, provider_clearing: -3_000 }],
          [0, { disputes: 10_000, provider_clearing: -10_000 }],
        ] as const
      ).entries()) {
        const { id } = await desk.dispute(charges[n] as string);
        await desk.decide(id, { result: 'agreed', ...(got !== undefined && { returned_to_payer: got }) });
        expect(await ledger(charges[n] as string)).to.deep.equal({ ...clear, ...left });
      }
      const { body } = await gateway.get<{ disputes: Body[]; isBalanced?: boolean }>('/ops/v1/ledger/check', {
        key: null,
        headers,
      });
      const own = body.disputes.filter(({ accountId }) => accountId === `acct_${desk.merchant.tenant.accountId}`);
      expect(own).to.deep.equal([
        { accountId: `acct_${desk.merchant.tenant.accountId}`, mode: 'test', currency: 'BRL', rest: 13_000 },
      ]);
    });
    it('is posted after an acceptance when the bank reports it; the excess over the hold is a loss', async () => {
      const chargeId = await desk.paid(10_000);
      expect((await refund(chargeId, 4_000)).status).to.equal(201);
      const { id } = await desk.dispute(chargeId);
      await desk.accept(id);
      expect(await ledger(chargeId)).to.include({ disputes: 6_000, provider_clearing: -10_000 });
      const said = await desk.post<Body>(`/v1/sandbox/med/cases/${id}/decide`, {
        result: 'agreed',
        returned_to_payer: 10_000,
        owed: true,
      });
      expect(said.status, said.text).to.equal(202);
      const after = await until(async () => {
        const now = await ledger(chargeId);
        return now['disputes'] === -4_000 ? now : null;
      });
      expect(after['provider_clearing']).to.equal(undefined);
      expect(await waiting()).to.deep.equal([]);
      expect((await desk.read(id)).status).to.equal('accepted');
    });
    it('is rejected above the charge, below 0, and with another result', async () => {
      const chargeId = await desk.paid(10_000);
      expect((await refund(chargeId, 4_000)).status).to.equal(201);
      const { id } = await desk.dispute(chargeId);
      const decide = (body: Body) => desk.post(`/v1/sandbox/med/cases/${id}/decide`, body);
      for (const body of [
        { result: 'agreed', returned_to_payer: 10_001 },
        { result: 'agreed', returned_to_payer: -1 },
        { result: 'agreed', returned_to_payer: 0.5 },
        { result: 'disagreed', returned_to_payer: 0 },
        { result: 'disagreed', returned: false, returned_to_payer: 1 },
      ])
        expectError(await decide(body), 400, 'invalid_amount', 'returned_to_payer');
      expect((await decide({ result: 'agreed', returned_to_payer: 10_000 })).status).to.equal(200);
    });
    it('stays as posted if a later report contradicts it; the report is listed and can be dismissed', async () => {
      const chargeId = await desk.paid(10_000);
      const { id } = await desk.dispute(chargeId, { provider_case_id: 'contradicted' });
      const won = await desk.decide(id, { result: 'disagreed' });
      const before = await ledger(chargeId);
      expectError(await desk.post(`/v1/sandbox/med/cases/${id}/decide`, { result: 'agreed' }), 400, 'case_not_open');
      const said = await desk.post<Body>(`/v1/sandbox/med/cases/${id}/decide`, { result: 'agreed', owed: true });
      expect([said.status, said.body]).to.deep.equal([202, { provider_case_id: 'contradicted' }]);
      const [listed] = await untilWaiting(1);
      expect(listed).to.include({
        caseId: id,
        because: 'report_contradicts',
        result: 'agreed',
        returnedToPayer: 10_000,
      });
      expect(await ledger(chargeId)).to.deep.equal(before);
      expect(await desk.read(id)).to.deep.equal(won);
      expect(await desk.types(3)).to.deep.equal(['med.resolved', 'med_case.created', 'med_case.updated']);
      expect((await dismiss('contradicted')).body).to.deep.equal({ caseId: id });
      expect(await waiting()).to.deep.equal([]);
      expectError(await dismiss('contradicted'), 404, 'not_found');
      expectError(await dismiss(id), 400, 'case_not_open');
    });
  });
});
