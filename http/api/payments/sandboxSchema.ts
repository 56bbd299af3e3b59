// Requests and responses of the sandbox's payers and acquirers (rules X).
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
  amount: optional(integer(AMOUNT_MIN, AMOUNT_MAX, 'Centavos. Default: those of the charge.')),
  payer: optional(
    described(
      'Who pays. Default: the customer.',
      accepting({
        name: optional(described('Name of the payer.', string(200))),
        // As a bank may send it: masked, empty or wrong too (M5).
        document: optional(orNull(described('As the bank tells it; null: it tells none.', string(32)))),
      }),
    ),
  ),
  end_to_end_id: optional(described('Of the Pix; made up when left out.', string(32))),
  late: optional(described('The payment time lies after the expiry.', boolean)),
});

export const paidSchema = exactly({
  end_to_end_id: orNull(described('Of the Pix; null: no bank would send one.', string(32))),
  outcome: described(
    'What became of the Pix.',
    oneOfTexts(['settled', 'returned', 'refunded', 'held', 'duplicate', 'refused']),
  ),
  charge: described('The charge as reads show it.', chargeSchema),
});

export const authorizeBody = accepting({
  method: optional(
    described('One of the payment’s methods. Default: the first that is no Pix.', oneOfTexts(PAYMENT_METHODS)),
  ),
});
export const refuseBody = accepting({ reason: optional(described('The acquirer’s.', string(500))) });
