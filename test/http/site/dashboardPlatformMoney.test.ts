// What operators do with held payments, dispute reviews and mismatches, and payouts. Each action succeeds, explains a rejection, handles a
// repetition and is closed to others (rules M5, M10, Q1, Q11, Y5).
import { expect } from 'chai';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { openReady, rawIdOf } from '../../world/http.ts';
import { OperatorsPages } from '../../world/operatorsPages.ts';
import { refusedReturn } from '../../world/refusedReturn.ts';
import { contradictedCase, mismatchedCase, openedCase, reviewedCase } from '../examples/caseExamples.ts';
import { waitingPayout } from '../examples/payoutExamples.ts';

const HOSTILE = '"><script>alert(1)</script>';
const { held, disputes, payouts } = EN.platform;
const BY_HAND = 'Only live payments take cases by hand.';
/** One character more than the API accepts. */
const LONG = 'x'.repeat(501);
const WAITS_NOT = 'This payout doesn’t await approval.';

describe('operators’ pages for money', () => {
  let gateway: TestGateway;
  let pages: OperatorsPages;
  before(async () => {
    gateway = await openReady();
    pages = await OperatorsPages.open(gateway);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const statusOf = async (id: string) => (await gateway.get<{ status: string }>(`/v1/charges/${id}`)).body.status;
  const caseOf = async (id: string) =>
    (await gateway.get<{ status: string; money_outcome: string | null }>(`/v1/med/cases/${id}`)).body;

  describe('held payments', () => {
    const unidentified = async (): Promise<string> => {
      const lock = { expected_payer_tax_id: '12345678909', customer: { name: HOSTILE } };
      const { id } = (await gateway.charge<{ id: string }>(lock)).body;
      const paid = await gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: { name: HOSTILE, document: null } });
      expect(paid.body['outcome']).to.equal('held');
      return id;
    };

    it('are listed with the reason, and counted on the overview', async () => {
      const id = await unidentified();
      const list = await pages.text('/held');
      expect(list)
        .to.include(held.reasons.no_payer_document)
        .and.include(`/held/${rawIdOf(id)}`);
      expect(list).to.not.include('<script>alert');
      expect(await pages.text('')).to.match(
        /href="[^"]+\/held"><span class="label">[^<]+<\/span><span class="value">[1-9]/,
      );
      const one = await pages.text(`/held/${rawIdOf(id)}`);
      expect(one).to.include('&lt;script&gt;alert').and.include(held.cannotSettle).and.not.include('<script>alert');
    });
    it('are credited once', async () => {
      const id = await unidentified();
      const path = `/held/${rawIdOf(id)}`;
      await pages.act(`${path}/release`, {}, '/held', 'heldReleased');
      expect(await statusOf(id)).to.equal('paid');
      expect(await pages.text(path)).to.include(held.nothingHeld);
      await pages.act(`${path}/release`, {}, '/held', 'heldReleased'); // Repeating the verdict changes nothing.
      await pages.refused(`${path}/return`, {}, 'This payment is not held for review.');
    });
    it('are returned to the payer', async () => {
      const id = await unidentified();
      await pages.act(`/held/${rawIdOf(id)}/return`, {}, '/held', 'heldReturned');
      expect(await statusOf(id)).to.be.oneOf(['processing', 'refunded']);
    });
    it('are written off or paid out with a reason, once, if their return was rejected', async () => {
      const { id } = await refusedReturn(gateway);
      const path = `/held/${rawIdOf(id)}`;
      expect(await pages.text(path))
        .to.include(held.reasons.payer_mismatch)
        .and.include(held.cannotRelease);
      const typed = { how: 'pixOut', pixOut: HOSTILE, reason: 'The account is closed' };
      const again = await pages.refused(`${path}/settle`, typed, 'The Pix key must be');
      expect(again).to.include('value="The account is closed"').and.not.include('<script>alert');
      await pages.refused(`${path}/settle`, { how: 'writtenOff', reason: ' ' }, 'The reason must not be blank');
      await pages.refused(`${path}/release`, {}, 'can’t be credited');
      await pages.act(`${path}/settle`, { how: 'writtenOff', reason: 'The account is closed' }, '/held', 'heldSettled');
      expect(await statusOf(id)).to.equal('refunded');
      await pages.refused(
        `${path}/settle`,
        { how: 'writtenOff', reason: 'x' },
        'An operator already settled this money.',
      );
      const other = await refusedReturn(gateway);
      const pixOut = {
        how: 'pixOut',
        pixOut: 'ana@example.com',
        reason: 'The payer gave another key',
        providerPaymentId: other.pix,
      };
      await pages.act(`/held/${rawIdOf(other.id)}/settle`, pixOut, '/held', 'heldSettled');
    });
    it('return 404 if they don’t exist', async () => {
      const none = '0'.repeat(26);
      expect((await pages.show(`/held/${none}`)).status).to.equal(404);
      for (const verb of ['release', 'return'])
        expect((await pages.send(`/held/${none}/${verb}`)).status).to.equal(404);
    });
  });

  describe('dispute reviews', () => {
    it('list waiting cases with the reason, and cases near their deadline', async () => {
      const [review, mismatch, contradicted] = [
        await reviewedCase(gateway),
        await mismatchedCase(gateway),
        await contradictedCase(gateway),
      ];
      const soon = new Date(Date.now() + 3_600_000).toISOString();
      const near = await openedCase(gateway, { response_deadline: soon });
      const later = await openedCase(gateway, {
        response_deadline: new Date(Date.now() + 7 * 86_400_000).toISOString(),
      });
      await gateway.untilProjected();
      const list = await pages.text('/disputes');
      const [waiting = '', urgent = ''] = list.split(EN.platform.overview.deadlines);
      for (const words of [
        disputes.because.review,
        disputes.because.amount_mismatch,
        disputes.because.report_contradicts,
      ])
        expect(waiting).to.include(words);
      for (const { caseId } of [review, mismatch, contradicted]) expect(waiting).to.include(`/disputes/${caseId}`);
      expect(list.slice(list.indexOf(urgent)))
        .to.include(near.caseId)
        .and.not.include(later.caseId);
    });
    it('approve and reject an outcome, once', async () => {
      for (const [verb, status] of [
        ['approve', 'accepted'],
        ['reject', 'open'],
      ] as const) {
        const { caseId } = await reviewedCase(gateway);
        expect(await pages.text(`/disputes/${caseId}`))
          .to.include(disputes.approveLead)
          .and.include(disputes.results.agreed);
        await pages.act(`/disputes/${caseId}/${verb}`, {}, `/disputes/${caseId}`, 'caseReviewed');
        expect((await caseOf(caseId)).status).to.equal(status === 'accepted' ? 'rejected' : status);
        await pages.refused(`/disputes/${caseId}/${verb}`, {}, 'This case has no outcome to review.');
        expect(await pages.text(`/disputes/${caseId}`)).to.include(disputes.needsNobody);
      }
    });
    it('settle a mismatch with a reason, once', async () => {
      const { caseId } = await mismatchedCase(gateway);
      const path = `/disputes/${caseId}/settle`;
      await pages.refused(path, { verdict: 'lost', amount: 'much', reason: 'why' }, EN.create.badAmount);
      const typed = await pages.refused(path, { verdict: 'lost', amount: '3,00', reason: '' }, EN.platform.badReason);
      await pages.refused(path, { verdict: 'lost', amount: '3,00', reason: LONG }, EN.platform.badReason);
      expect(typed).to.include('value="3,00"').and.include('value="lost" selected');
      await pages.refused(
        path,
        { verdict: 'lost', amount: '999999,00', reason: 'why' },
        'exceeds the remaining refundable amount',
      );
      await pages.act(
        path,
        { verdict: 'lost', amount: '3,00', reason: 'The bank took it.' },
        `/disputes/${caseId}`,
        'caseSettled',
      );
      expect(await caseOf(caseId)).to.deep.include({ status: 'rejected', money_outcome: 'lost' });
      await pages.refused(path, { verdict: 'nothing', reason: 'again' }, 'This case has no mismatch to settle.');
      const { caseId: kept } = await mismatchedCase(gateway);
      await pages.act(
        `/disputes/${kept}/settle`,
        { verdict: 'nothing', reason: 'Corrected.' },
        `/disputes/${kept}`,
        'caseSettled',
      );
      expect(await caseOf(kept)).to.deep.include({ status: 'closed', money_outcome: 'refunded_to_merchant' });
      const { caseId: again } = await mismatchedCase(gateway);
      await pages.act(
        `/disputes/${again}/settle`,
        { verdict: 'held', amount: '1,00', reason: 'Asked.' },
        `/disputes/${again}`,
        'caseSettled',
      );
      expect((await caseOf(again)).status).to.equal('open');
    });
    it('dismiss a report with a reason, once', async () => {
      const { caseId } = await contradictedCase(gateway);
      const path = `/disputes/${caseId}/dismiss`;
      for (const reason of ['', LONG]) await pages.refused(path, { reason }, EN.platform.badReason);
      await pages.act(path, { reason: 'Seen.' }, `/disputes/${caseId}`, 'reportDismissed');
      await pages.refused(path, { reason: 'Seen.' }, 'This case has no pending report.');
    });
    it('say why a case can’t be opened or ruled manually in test mode', async () => {
      const { id } = (await gateway.charge<{ id: string }>()).body;
      const fields = { chargeId: id, amount: '1,00', reason: 'The bank called.' };
      await pages.refusesOthers('/disputes', fields);
      const again = await pages.refused('/disputes', fields, BY_HAND);
      expect(again).to.include(`value="${id}"`);
      await pages.refused('/disputes', { ...fields, chargeId: HOSTILE }, disputes.badCharge);
      await pages.refused('/disputes', { ...fields, amount: '0' }, EN.create.badAmount);
      for (const reason of ['', LONG]) await pages.refused('/disputes', { ...fields, reason }, EN.platform.badReason);
      const { caseId } = await openedCase(gateway);
      await pages.refused(`/disputes/${caseId}/rule`, { verdict: 'agreed' }, BY_HAND);
      await pages.refused(`/disputes/${caseId}/rule`, { verdict: 'agreed', amount: 'x' }, EN.create.badAmount);
    });
  });

  describe('payouts', () => {
    const payoutOf = async (id: string) =>
      (
        await gateway.get<{ status: string; awaiting_approval: boolean; failure_reason: string | null }>(
          `/v1/payouts/${id}`,
        )
      ).body;

    it('are listed while they await approval, and found by id', async () => {
      const { waitingPayoutId: id } = await waitingPayout(gateway);
      await gateway.untilProjected('payouts');
      expect(await pages.text('/payouts')).to.include(`/payouts/${id}`);
      for (const q of [id, id.slice(3), ` ${id} `])
        expect((await pages.show(`/payouts?q=${encodeURIComponent(q)}`)).headers.get('location')).to.equal(
          `/dashboard/platform/payouts/${id}`,
        );
      for (const q of [HOSTILE, `po_${'0'.repeat(26)}`]) {
        const { status, text } = await pages.show(`/payouts?q=${encodeURIComponent(q)}`);
        expect([status, text.includes(payouts.unknown), text.includes('<script>alert')]).to.deep.equal([
          422,
          true,
          false,
        ]);
      }
    });
    it('are approved or rejected, once', async () => {
      const { waitingPayoutId: approved } = await waitingPayout(gateway);
      await pages.act(`/payouts/${approved}/approve`, {}, `/payouts/${approved}`, 'approved');
      expect((await payoutOf(approved)).awaiting_approval).to.equal(false);
      await pages.refused(`/payouts/${approved}/approve`, {}, WAITS_NOT);
      expect(await pages.text(`/payouts/${approved}`)).to.include(EN.payouts.notWaiting);
      const { waitingPayoutId: rejected } = await waitingPayout(gateway);
      await pages.refused(`/payouts/${rejected}/reject`, { reason: LONG }, EN.platform.badReason);
      await pages.act(`/payouts/${rejected}/reject`, { reason: 'Unknown key' }, `/payouts/${rejected}`, 'rejected');
      expect(await payoutOf(rejected)).to.deep.include({ status: 'failed', failure_reason: 'rejected' });
      await pages.refused(`/payouts/${rejected}/reject`, {}, WAITS_NOT);
    });
  });
});
