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
  amount: optional(integer(AMOUNT_MIN, AMOUNT_MAX, 'As the bank reports it. Default: that of the charge.')),
  method: optional(described('What the payer says happened. Default: other.', oneOfTexts(DISPUTE_METHODS))),
  reason: optional(described('The alleged reason.', string(500))),
  response_deadline: optional(
    orNull(described('An ISO 8601 date-time. null: the bank says that it is unknown. Default: 3 days.', string(40))),
  ),
  owed: optional(
    described('Report as a bank would, without asking whether the charge can be disputed now. Answers 202.', boolean),
  ),
  provider_case_id: optional(
    described('The bank’s own id of the case: the same one answers the same case.', string(64, { minLength: 1 })),
  ),
  payer: optional(
    described(
      'Who opened it.',
      accepting({
        name: optional(orNull(described('Name of the payer.', string(200)))),
        document: optional(orNull(described('As the bank tells it.', string(32)))),
      }),
    ),
  ),
});
export const decideCaseBody = accepting({
  result: described('agreed: the payer is right, lost. disagreed: won.', oneOfTexts(['agreed', 'disagreed'])),
  returned: optional(described('Counts with disagreed: whether the money comes back. Default true.', boolean)),
  returned_to_payer: optional(
    integer(
      0,
      AMOUNT_MAX,
      'How much the payer got; with agreed only, at most the charge’s amount. Default: all of the hold.',
    ),
  ),
  review: optional(described('An operator has to approve it first. Default false.', boolean)),
  owed: optional(
    described('Report as a bank would, also on an ended case. Answers 202 without waiting for the effect.', boolean),
  ),
});
/** What the bank reported without asking. */
export const owedSchema = exactly({ provider_case_id: described('The bank’s own id of the case.', string()) });
export const reviewBody = accepting({ approve: described('Whether the outcome counts.', boolean) });
