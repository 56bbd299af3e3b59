// The aggregate of dispute cases and the stored format of its events.

import { aggregate } from '../kernel/aggregate.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { EvidenceId, MedCaseId } from '../kernel/ids.ts';
import { flag, integer, money, nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { DISPUTE_ERRORS } from './errors.ts';
import {
  CASE_TYPES,
  type CaseTerms,
  type Evidence,
  type MedCaseEvent,
  medCase,
  NEVER_BECAUSE,
  type NotTakenReport,
  OWED_BECAUSE,
} from './medCase.ts';

const file = {
  evidenceId: text<EvidenceId>(),
  fileName: text(),
  fileSize: integer,
  mimeType: text(),
  uploadedBy: oneOf('merchant', 'partner', 'platform'),
};
const ruling = {
  result: oneOf('agreed', 'disagreed'),
  returned: flag,
  returnedToPayer: nullable(money),
} as const;
const THIS_CASE = {
  caseId: { is: 'subject' },
  paymentId: { is: 'correlationId' },
  accountId: { is: 'account' },
  mode: { is: 'mode' },
} as const;

const medCaseSerde: Serde<MedCaseEvent> = serdeOf<MedCaseEvent>({
  MedCaseOpened: {
    version: 1,
    shape: record<CaseTerms & { at: Timestamp }>({
      caseId: text(),
      paymentId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      providerCaseId: text(),
      type: oneOf(...CASE_TYPES),
      amount: money,
      currency: text(),
      reason: nullable(text()),
      responseDeadline: nullable(time),
      amountMismatch: flag,
      held: money,
      openedAt: time,
      at: time,
    }),
    personal: ['reason'],
    unsaid: THIS_CASE,
  },
  MedCaseReportNotTaken: {
    version: 1,
    shape: record<NotTakenReport & { at: Timestamp }>({
      caseId: text(),
      paymentId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      providerCaseId: text(),
      amount: money,
      currency: text(),
      because: oneOf(...OWED_BECAUSE, ...NEVER_BECAUSE),
      isFinal: flag,
      at: time,
    }),
    personal: [],
    unsaid: THIS_CASE,
  },
  MedCaseReportDismissed: { version: 1, shape: record({ by: text(), reason: text(), at: time }), personal: ['reason'] },
  MedCaseSettled: {
    version: 1,
    shape: record({
      verdict: oneOf('held', 'lost', 'nothing'),
      amount: money,
      by: text(),
      reason: text(),
      announced: flag,
      at: time,
    }),
    personal: ['reason'],
  },
  MedCaseLateReported: {
    version: 1,
    shape: record({
      report: integer,
      result: oneOf('agreed', 'disagreed', 'withdrawn'),
      returned: flag,
      returnedToPayer: money,
      contradicts: flag,
      ruledAt: time,
      at: time,
    }),
    personal: [],
  },
  MedCaseMoneyReturned: {
    version: 1,
    shape: record({ id: text(), amount: money, returnedAt: time, at: time }),
    personal: [],
  },
  MedCaseEvidenceRequested: { version: 1, shape: record({ at: time }), personal: [] },
  MedCaseDeadlineNeared: { version: 1, shape: record({ at: time }), personal: [] },
  MedCaseEvidenceConfirmed: {
    version: 1,
    shape: record<Evidence>({ ...file, sha256: text(), grantedAt: time, at: time }),
    personal: ['fileName'],
  },
  MedCaseAppealed: { version: 1, shape: record({ reason: text(), at: time }), personal: ['reason'] },
  MedCaseAccepted: { version: 1, shape: record({ announced: flag, at: time }), personal: [] },
  MedCaseReviewRequested: {
    version: 1,
    shape: record({ ...ruling, report: integer, ruledAt: time, at: time }),
    personal: [],
  },
  MedCaseReviewApproved: { version: 1, shape: record({ at: time }), personal: [] },
  MedCaseReviewRefused: { version: 1, shape: record({ at: time }), personal: [] },
  MedCaseRejected: {
    version: 1,
    shape: record({ announced: flag, report: integer, returnedToPayer: money, ruledAt: time, at: time }),
    personal: [],
  },
  MedCasePersonalDataErased: { version: 1, shape: record({ at: time }), personal: [] },
  MedCaseClosed: {
    version: 1,
    shape: record({
      because: oneOf('disagreed', 'withdrawn'),
      moneyOutcome: oneOf('refunded_to_merchant', 'closed_without_refund'),
      announced: flag,
      report: integer,
      ruledAt: time,
      at: time,
    }),
    personal: [],
  },
});

export const MED_CASE = aggregate<MedCaseId>()({
  category: 'medCase',
  changesMax: 200,
  idPrefix: 'med_',
  decider: medCase,
  serde: medCaseSerde,
  isSealed: true,
  errors: DISPUTE_ERRORS,
  groups: partition<MedCaseEvent>()({
    course: ['MedCaseOpened', 'MedCaseEvidenceRequested', 'MedCaseAppealed'],
    deadline: ['MedCaseDeadlineNeared'],
    evidence: ['MedCaseEvidenceConfirmed'],
    review: ['MedCaseReviewRequested', 'MedCaseReviewApproved', 'MedCaseReviewRefused'],
    end: ['MedCaseAccepted', 'MedCaseRejected', 'MedCaseClosed', 'MedCaseSettled'],
    erasure: ['MedCasePersonalDataErased'],
    /** Bank reports about a case that has ended or was never opened. */
    reports: ['MedCaseLateReported', 'MedCaseMoneyReturned', 'MedCaseReportNotTaken', 'MedCaseReportDismissed'],
  }),
});
