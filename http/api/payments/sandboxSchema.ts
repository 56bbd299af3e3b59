// Request and response schemas of the sandbox's payers and acquirers (rules X).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
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
import { chargeSchema } from './chargeSchema.ts';

export const payBody = accepting({
  amount: optional(integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in centavos. Default: the amount of the charge.')),
  payer: optional(
    described(
      'The payer. Default: the customer.',
      accepting({
        name: optional(described('Name of the payer.', string(200))),
        // Banks also send masked, empty or wrong documents (M5).
        document: optional(
          orNull(described('The document that the bank reports; null if it reports none.', string(32))),
        ),
      }),
    ),
  ),
  end_to_end_id: optional(described('The end-to-end id of the Pix. Default: a generated id.', string(32))),
  late: optional(described('Whether the payment is made after the charge expired.', boolean)),
});

export const paidSchema = exactly({
  end_to_end_id: orNull(
    described('The end-to-end id of the Pix; null if a bank would have refused to send it.', string(32)),
  ),
  outcome: described(
    'The outcome of the Pix.',
    oneOfTexts(['settled', 'returned', 'refunded', 'held', 'duplicate', 'refused']),
  ),
  charge: described('The charge, as reads show it.', chargeSchema),
});

export const authorizeBody = accepting({
  method: optional(
    described('One of the payment’s methods. Default: the first one other than PIX.', oneOfTexts(PAYMENT_METHODS)),
  ),
});
export const refuseBody = accepting({
  reason: optional(described('The reason that the acquirer gives.', string(500))),
});
