import { DISPUTE_METHODS } from '../../../domain/dispute/medCase.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import {
  accepting,
  boolean,
  described,
  exactly,
  integer,
  oneOfTexts,
  optional,
  orNull,
  string,
} from '../../kernel/jsonSchema.ts';

export const medBody = accepting({
  amount: optional(
    integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount that the bank reports. Default: the amount of the charge.'),
  ),
  method: optional(described('What happened, according to the payer. Default: other.', oneOfTexts(DISPUTE_METHODS))),
  reason: optional(described('The alleged reason.', string(500))),
  response_deadline: optional(
    orNull(described('An ISO 8601 date-time; null for an unknown deadline. Default: 3 days from now.', string(40))),
  ),
  owed: optional(
    described('Report without a check that the charge can be disputed now, as a bank would. Returns 202.', boolean),
  ),
  provider_case_id: optional(
    described(
      'The bank’s own id of the case. A repeat with the same id returns the same case.',
      string(64, { minLength: 1 }),
    ),
  ),
  payer: optional(
    described(
      'The payer who opened the dispute.',
      accepting({
        name: optional(orNull(described('Name of the payer.', string(200)))),
        document: optional(orNull(described('The document that the bank reports.', string(32)))),
      }),
    ),
  ),
});
export const decideCaseBody = accepting({
  result: described(
    '`agreed`: the payer is right and the case is lost. `disagreed`: the case is won.',
    oneOfTexts(['agreed', 'disagreed']),
  ),
  returned: optional(
    described('Whether the money returns to the merchant. Applies to `disagreed` only. Default: true.', boolean),
  ),
  returned_to_payer: optional(
    integer(
      0,
      AMOUNT_MAX,
      'The amount that the payer receives, at most the amount of the charge. Requires `agreed`. Default: the whole retained amount.',
    ),
  ),
  review: optional(described('Whether an operator must approve the outcome first. Default: false.', boolean)),
  owed: optional(
    described(
      'Report even if the case has ended, as a bank might. Returns 202 without waiting for the effect.',
      boolean,
    ),
  ),
});
/** The response to a report with `owed`. */
export const owedSchema = exactly({ provider_case_id: described('The bank’s own id of the case.', string()) });
export const reviewBody = accepting({ approve: described('Whether to approve the outcome.', boolean) });
