// Request and response schemas of the sandbox's payers and acquirers (rules X).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { chargeSchema } from './chargeSchema.ts';

export const payBody = s.accepting({
  amount: s.optional(s.integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in centavos. Default: the amount of the charge.')),
  payer: s.optional(
    s.described(
      'The payer. Default: the customer.',
      s.accepting({
        name: s.optional(s.described('Name of the payer.', s.string(200))),
        // Banks also send masked, empty or wrong documents (M5).
        document: s.optional(
          s.orNull(s.described('The document that the bank reports; null if it reports none.', s.string(32))),
        ),
      }),
    ),
  ),
  end_to_end_id: s.optional(s.described('The end-to-end id of the Pix. Default: a generated id.', s.string(32))),
  late: s.optional(s.described('Whether the payment is made after the charge expired.', s.boolean)),
});

export const paidSchema = s.exactly({
  end_to_end_id: s.orNull(
    s.described('The end-to-end id of the Pix; null if a bank would have refused to send it.', s.string(32)),
  ),
  outcome: s.described(
    'The outcome of the Pix.',
    s.oneOfTexts(['settled', 'returned', 'refunded', 'held', 'duplicate', 'refused']),
  ),
  charge: s.described('The charge, as reads show it.', chargeSchema),
});

export const authorizeBody = s.accepting({
  method: s.optional(
    s.described('One of the payment’s methods. Default: the first one other than PIX.', s.oneOfTexts(PAYMENT_METHODS)),
  ),
});
export const refuseBody = s.accepting({
  reason: s.optional(s.described('The reason that the acquirer gives.', s.string(500))),
});
