// The files of a dispute case: granted, confirmed, and how many of them (rule Q6).
import { expect } from 'chai';
import { confirmEvidence, EVIDENCE_MAX, findGrant, grantEvidence } from '../../../domain/dispute/evidence.ts';
import { type MedCaseEvent, medCase } from '../../../domain/dispute/medCase.ts';
import { snapshotOf } from '../../../domain/dispute/snapshot.ts';
import type { EvidenceId } from '../../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import { given } from '../../support/given.ts';
import { caseAfter, caseOpened } from '../../support/medCases.ts';
import { at } from '../../support/samples.ts';

const AT = at('17:00:00');
const OPEN = [caseOpened()];
const APPEALED: readonly MedCaseEvent[] = [...OPEN, { type: 'MedCaseAppealed', data: { reason: 'It came.', at: AT } }];
const ACCEPTED: MedCaseEvent = { type: 'MedCaseAccepted', data: { announced: true, at: AT } };
const RULED = { announced: true, report: 2, ruledAt: AT, at: AT };
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
  const OTHER = '00000000000000000000000mv2' as EvidenceId;
  const grant = { ...file, expiresAt: at('17:15:00'), at: AT };
  const granted: MedCaseEvent = { type: 'MedCaseEvidenceGranted', data: grant };
  const evidence = { ...file, sha256: 'ab'.repeat(32), grantedAt: AT, at: at('17:05:00') };
  const confirmed: MedCaseEvent = { type: 'MedCaseEvidenceConfirmed', data: evidence };
  it('is granted once, and confirmed once', () => {
    given(medCase, ...OPEN)
      .when(grantEvidence(grant))
      .then(granted, grant)
      .again(grant)
      .and()
      .when(confirmEvidence(evidence))
      .then(confirmed, evidence)
      .again(evidence);
  });
  it('counts once it is confirmed', () => {
    const counts = [[], [granted], [granted, confirmed]].map((events) => caseAfter(...OPEN, ...events).evidence.length);
    expect(counts).to.deep.equal([0, 0, 1]);
    const shown = snapshotOf(
      caseAfter(...OPEN, granted, confirmed, { ...granted, data: { ...grant, evidenceId: OTHER } }),
    );
    expect(shown.evidenceCount).to.equal(1);
  });
  it('is no grant any more once it is confirmed', () => {
    expect(findGrant(caseAfter(...OPEN, granted), file.evidenceId)).to.deep.equal(grant);
    expect(findGrant(caseAfter(...OPEN, granted, confirmed), file.evidenceId)).to.equal(null);
  });
  it('is one of twenty at most, when it is granted and again when it is confirmed', () => {
    const others = Array.from({ length: EVIDENCE_MAX }, (_, n): MedCaseEvent => {
      const evidenceId = `0000000000000000000000m${String(n).padStart(3, '0')}` as EvidenceId;
      return { type: 'MedCaseEvidenceConfirmed', data: { ...evidence, evidenceId } };
    });
    const full = [...OPEN, granted, ...others];
    given(medCase, ...full)
      .when(grantEvidence({ ...grant, evidenceId: OTHER }))
      .rejected('evidence_limit_reached');
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
  it('leaves no grant that expired a day before another one was made', () => {
    const next = (time: Timestamp): MedCaseEvent => ({
      type: 'MedCaseEvidenceGranted',
      data: { ...grant, evidenceId: OTHER, at: time },
    });
    const aDayOn = addMillis(grant.expiresAt, DAY_MS);
    expect(findGrant(caseAfter(...OPEN, granted, next(addMillis(aDayOn, -1))), file.evidenceId)).to.deep.equal(grant);
    expect(findGrant(caseAfter(...OPEN, granted, next(aDayOn)), file.evidenceId)).to.equal(null);
  });
  it('is taken by open and appealed cases; what was confirmed before is so for ever', () => {
    given(medCase, ...APPEALED)
      .when(grantEvidence(grant))
      .then(granted, grant);
    given(medCase).when(grantEvidence(grant)).rejected('not_found');
    for (const end of [ACCEPTED, REJECTED, CLOSED])
      given(medCase, ...OPEN, end)
        .when(grantEvidence(grant))
        .rejected('case_not_open');
    given(medCase, ...OPEN, granted, ACCEPTED)
      .when(confirmEvidence(evidence))
      .rejected('case_not_open');
    given(medCase, ...OPEN, granted, confirmed, ACCEPTED)
      .when(confirmEvidence(evidence))
      .then(evidence);
  });
});
