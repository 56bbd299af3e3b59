// The evidence files of a dispute case: upload grants, confirmation, and their maximum number (rule Q6).
import { expect } from 'chai';
import { confirmEvidence, confirmOnce, EVIDENCE_MAX, evidenceRefusal } from '../../../domain/dispute/evidence.ts';
import { type MedCaseEvent, medCase } from '../../../domain/dispute/medCase.ts';
import { snapshotOf } from '../../../domain/dispute/snapshot.ts';
import type { EvidenceId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { given } from '../../support/given.ts';
import { at } from '../../support/samples.ts';
import { caseAfter, caseOpened } from '../../world/medCases.ts';

const AT = at('17:00:00');
const OPEN = [caseOpened()];
const APPEALED: readonly MedCaseEvent[] = [...OPEN, { type: 'MedCaseAppealed', data: { reason: 'It came.', at: AT } }];
const ACCEPTED: MedCaseEvent = { type: 'MedCaseAccepted', data: { announced: true, at: AT } };
const RULED = { announced: true, report: 2, returnedToPayer: toMinor(1), ruledAt: AT, at: AT };
const REJECTED: MedCaseEvent = { type: 'MedCaseRejected', data: RULED };
const CLOSED: MedCaseEvent = {
  type: 'MedCaseClosed',
  data: { because: 'withdrawn', moneyOutcome: 'refunded_to_merchant', ...RULED },
};

describe('evidence of a case', () => {
  const file = {
    evidenceId: '00000000000000000000000mv1' as EvidenceId,
    fileName: 'recibo.png',
    fileSize: 1_234,
    mimeType: 'image/png',
    uploadedBy: 'merchant' as const,
  };
  const evidence = { ...file, sha256: 'ab'.repeat(32), grantedAt: AT, at: at('17:05:00') };
  const confirmed: MedCaseEvent = { type: 'MedCaseEvidenceConfirmed', data: evidence };
  it('is confirmed once and then counted', () => {
    given(medCase, ...OPEN)
      .when(confirmEvidence(evidence))
      .then(confirmed, evidence)
      .again(evidence);
    expect(snapshotOf(caseAfter(...OPEN)).evidenceCount).to.equal(0);
    expect(snapshotOf(caseAfter(...OPEN, confirmed)).evidenceCount).to.equal(1);
  });
  it('is stored once per file name and content when a form is submitted twice', () => {
    const again = { ...evidence, evidenceId: '00000000000000000000000mv2' as EvidenceId, at: at('17:06:00') };
    const renamed = { ...again, fileName: 'outro.png' };
    const changed = { ...again, sha256: 'cd'.repeat(32) };
    given(medCase, ...OPEN)
      .when(confirmOnce(evidence))
      .then(confirmed, evidence)
      .again(evidence);
    for (const state of [[...OPEN, confirmed] as const, [...OPEN, confirmed, ACCEPTED] as const])
      given(medCase, ...state)
        .when(confirmOnce(again))
        .then(evidence);
    for (const other of [renamed, changed])
      given(medCase, ...OPEN, confirmed)
        .when(confirmOnce(other))
        .then({ type: 'MedCaseEvidenceConfirmed', data: other }, other);
    given(medCase, ...OPEN, confirmed)
      .when(confirmEvidence(again))
      .then({ type: 'MedCaseEvidenceConfirmed', data: again }, again);
    given(medCase).when(confirmOnce(evidence)).rejected('not_found');
  });
  it('is limited to twenty files, both when requested and when confirmed', () => {
    const others = Array.from({ length: EVIDENCE_MAX }, (_, n): MedCaseEvent => {
      const evidenceId = `0000000000000000000000m${String(n).padStart(3, '0')}` as EvidenceId;
      return { type: 'MedCaseEvidenceConfirmed', data: { ...evidence, evidenceId } };
    });
    const full = [...OPEN, ...others];
    expect(evidenceRefusal(caseAfter(...full))?.code).to.equal('evidence_limit_reached');
    expect(evidenceRefusal(caseAfter(...full.slice(0, -1)))).to.equal(null);
    given(medCase, ...full)
      .when(confirmEvidence(evidence))
      .rejected('evidence_limit_reached');
    given(medCase, ...full, ACCEPTED)
      .when(confirmEvidence(evidence))
      .rejected('case_not_open');
    given(medCase, ...full.slice(0, -1))
      .when(confirmEvidence(evidence))
      .then(confirmed, evidence);
    const first = (others[0] as Extract<MedCaseEvent, { type: 'MedCaseEvidenceConfirmed' }>).data;
    given(medCase, ...full)
      .when(confirmEvidence(first))
      .then(first);
  });
  it('is accepted for open and appealed cases; a confirmed file stays confirmed after the case ends', () => {
    expect(evidenceRefusal(caseAfter(...APPEALED))).to.equal(null);
    expect(evidenceRefusal(medCase.initial)?.code).to.equal('not_found');
    for (const end of [ACCEPTED, REJECTED, CLOSED])
      expect(evidenceRefusal(caseAfter(...OPEN, end))?.code).to.equal('case_not_open');
    given(medCase, ...OPEN, ACCEPTED)
      .when(confirmEvidence(evidence))
      .rejected('case_not_open');
    given(medCase, ...OPEN, confirmed, ACCEPTED)
      .when(confirmEvidence(evidence))
      .then(evidence);
  });
});
