import { DISPUTE_METHODS } from '../../../domain/dispute/medCase.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import * as s from '../../kernel/jsonSchema.ts';

export const medBody = s.accepting({
  amount: s.optional(
    s.integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount that the bank reports. Default: the amount of the charge.'),
  ),
  method: s.optional(
    s.described('What happened, according to the payer. Default: other.', s.oneOfTexts(DISPUTE_METHODS)),
  ),
  reason: s.optional(s.described('The alleged reason.', s.string(500))),
  response_deadline: s.optional(
    s.orNull(
      s.described('An ISO 8601 date-time; null for an unknown deadline. Default: 3 days from now.', s.string(40)),
    ),
  ),
  owed: s.optional(
    s.described('Report without a check that the charge can be disputed now, as a bank would. Returns 202.', s.boolean),
  ),
  provider_case_id: s.optional(
    s.described(
      'The bank’s own id of the case. A repeat with the same id returns the same case.',
      s.string(64, { minLength: 1 }),
    ),
  ),
  payer: s.optional(
    s.described(
      'The payer who opened the dispute.',
      s.accepting({
        name: s.optional(s.orNull(s.described('Name of the payer.', s.string(200)))),
        document: s.optional(s.orNull(s.described('The document that the bank reports.', s.string(32)))),
      }),
    ),
  ),
});
export const decideCaseBody = s.accepting({
  result: s.described(
    '`agreed`: the payer is right and the case is lost. `disagreed`: the case is won.',
    s.oneOfTexts(['agreed', 'disagreed']),
  ),
  returned: s.optional(
    s.described('Whether the money returns to the merchant. Applies to `disagreed` only. Default: true.', s.boolean),
  ),
  returned_to_payer: s.optional(
    s.integer(
      0,
      AMOUNT_MAX,
      'The amount that the payer receives, at most the amount of the charge. Requires `agreed`. Default: the whole retained amount.',
    ),
  ),
  review: s.optional(s.described('Whether an operator must approve the outcome first. Default: false.', s.boolean)),
  owed: s.optional(
    s.described(
      'Report even if the case has ended, as a bank might. Returns 202 without waiting for the effect.',
      s.boolean,
    ),
  ),
});
/** The response to a report with `owed`. */
export const owedSchema = s.exactly({ provider_case_id: s.described('The bank’s own id of the case.', s.string()) });
export const reviewBody = s.accepting({ approve: s.described('Whether to approve the outcome.', s.boolean) });
