// Request and response schemas of the dispute case routes (contract.md Dispute case).
import { type TSchema, Type } from 'typebox';
import { APPEAL_REASON_MAX, APPEAL_REASON_MIN } from '../../../domain/dispute/decisions.ts';
import { CASE_STATUSES, CASE_TYPES, MONEY_OUTCOMES } from '../../../domain/dispute/medCase.ts';
import {
  accepting,
  anyInteger,
  boolean,
  constant,
  described,
  exactly,
  id,
  listOf,
  oneOfTexts,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

export const oneOfTextsOrNull = <const Value extends string>(values: readonly Value[]) =>
  Type.Unsafe<Value | null>({ type: ['string', 'null'], enum: [...values, null] });

export const medCaseSchema = exactly({
  id: described('`med_` and the raw id.', id('med_')),
  object: constant('med_case'),
  type: described('`med` is a Pix dispute.', oneOfTexts(CASE_TYPES)),
  status: oneOfTexts(CASE_STATUSES),
  amount: described('The disputed amount that the bank reported, in the smallest unit.', anyInteger),
  currency: described('The currency of the charge.', string(8)),
  charge_id: described('The disputed charge.', id('ch_')),
  reason: described('The alleged reason.', orNull(string())),
  response_deadline: described('The deadline for a response; null if unknown.', orNull(timestamp)),
  evidence_requested_at: described('When the platform requested evidence; null if it did not.', orNull(timestamp)),
  appeal_reason: described('The reason given in the appeal.', orNull(string())),
  appealed_at: orNull(timestamp),
  evidence_count: described('The number of confirmed evidence files.', anyInteger),
  money_outcome: described(
    'What happened to the disputed amount; null while the case is open or appealed.',
    oneOfTextsOrNull(MONEY_OUTCOMES),
  ),
  opened_at: timestamp,
  closed_at: orNull(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
}) satisfies TSchema;

export const medCaseListSchema = exactly({
  object: constant('list'),
  data: listOf(medCaseSchema),
  has_more: boolean,
  next_cursor: described(
    'Pass it as `starting_after` to get the next page; null on the last page.',
    orNull(id('med_')),
  ),
});

export const appealBody = accepting({
  reason: described('Why the dispute is not justified.', string(APPEAL_REASON_MAX, { minLength: APPEAL_REASON_MIN })),
});

/** The outcome of a case for the disputed money (rule Q5). */
export const resolutionSchema = exactly({
  object: { type: 'string', const: 'med_resolution' },
  case_id: id('med_'),
  charge_id: id('ch_'),
  amount: { ...anyInteger, description: 'The disputed amount that the bank reported, in the smallest unit.' },
  currency: string(8),
  money_outcome: { type: 'string', enum: [...MONEY_OUTCOMES] },
  resolved_at: timestamp,
});
