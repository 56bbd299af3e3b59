// Request and response schemas of the dispute case routes (contract.md Dispute case).
import { type TSchema, Type } from 'typebox';
import { APPEAL_REASON_MAX, APPEAL_REASON_MIN } from '../../../domain/dispute/decisions.ts';
import { CASE_STATUSES, CASE_TYPES, MONEY_OUTCOMES } from '../../../domain/dispute/medCase.ts';
import * as s from '../../kernel/jsonSchema.ts';
import type { Tag } from '../../kernel/route.ts';

/** The chapter of the API reference that contains these routes. */
export const DISPUTES: Tag = {
  name: 'Disputes',
  description: 'Dispute cases that payers’ banks open about payments: responses, evidence and outcomes.',
};

/** The common properties of routes about disputes. */
export const ON_DISPUTES = { tag: DISPUTES, principal: 'apiKey' } as const;

export const oneOfTextsOrNull = <const Value extends string>(values: readonly Value[]) =>
  Type.Unsafe<Value | null>({ type: ['string', 'null'], enum: [...values, null] });

export const medCaseSchema = s.exactly({
  id: s.described('`med_` and the raw id.', s.id('med_')),
  object: s.constant('med_case'),
  type: s.described('`med` is a Pix dispute.', s.oneOfTexts(CASE_TYPES)),
  status: s.oneOfTexts(CASE_STATUSES),
  amount: s.described('The disputed amount that the bank reported, in the smallest unit.', s.anyInteger),
  currency: s.described('The currency of the charge.', s.string(8)),
  charge_id: s.described('The disputed charge.', s.id('ch_')),
  reason: s.described('The alleged reason.', s.orNull(s.string())),
  response_deadline: s.described('The deadline for a response; null if unknown.', s.orNull(s.timestamp)),
  evidence_requested_at: s.described(
    'When the platform requested evidence; null if it did not.',
    s.orNull(s.timestamp),
  ),
  appeal_reason: s.described('The reason given in the appeal.', s.orNull(s.string())),
  appealed_at: s.orNull(s.timestamp),
  evidence_count: s.described('The number of confirmed evidence files.', s.anyInteger),
  money_outcome: s.described(
    'What happened to the disputed amount; null while the case is open or appealed.',
    oneOfTextsOrNull(MONEY_OUTCOMES),
  ),
  opened_at: s.timestamp,
  closed_at: s.orNull(s.timestamp),
  created_at: s.timestamp,
  updated_at: s.timestamp,
}) satisfies TSchema;

export const medCaseListSchema = s.exactly({
  object: s.constant('list'),
  data: s.listOf(medCaseSchema),
  has_more: s.boolean,
  next_cursor: s.described(
    'Pass it as `starting_after` to get the next page; null on the last page.',
    s.orNull(s.id('med_')),
  ),
});

export const appealBody = s.accepting({
  reason: s.described(
    'Why the dispute is not justified.',
    s.string(APPEAL_REASON_MAX, { minLength: APPEAL_REASON_MIN }),
  ),
});

/** The outcome of a case for the disputed money (rule Q5). */
export const resolutionSchema = s.exactly({
  object: { type: 'string', const: 'med_resolution' },
  case_id: s.id('med_'),
  charge_id: s.id('ch_'),
  amount: { ...s.anyInteger, description: 'The disputed amount that the bank reported, in the smallest unit.' },
  currency: s.string(8),
  money_outcome: { type: 'string', enum: [...MONEY_OUTCOMES] },
  resolved_at: s.timestamp,
});
