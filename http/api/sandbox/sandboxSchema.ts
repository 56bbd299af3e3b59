// Requests and responses of the sandbox (rules X).
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { DISPUTE_METHODS } from '../../../domain/dispute/medCase.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import {
  accepting,
  anyInteger,
  boolean,
  declaredValue,
  described,
  exactly,
  integer,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { chargeSchema } from '../payments/chargeSchema.ts';

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

export const confirmRefundBody = accepting({
  late: optional(described('The bank pays it even if it refused it before: operators are alerted.', boolean)),
});
export const failRefundBody = accepting({ reason: optional(described('The bank’s.', string(500))) });

/** One year (rule X5). */
const ADVANCE_SECONDS_MAX = 31_536_000;
export const advanceBody = accepting({ seconds: integer(1, ADVANCE_SECONDS_MAX, 'How far.') });
export const clockSchema = exactly({
  now: described('Account time.', timestamp),
  offset_seconds: described('How far it is ahead of real time.', anyInteger),
});
export const flushSchema = exactly({ pending: described('Deliveries that are due or held back.', anyInteger) });

const { switches } = DECLARED_SETTINGS;
export const sandboxSettingsBody = accepting(
  Object.fromEntries(switches.map(({ apiName, schema }) => [apiName, optional(declaredValue(schema))])),
);
export const sandboxSettingsSchema = exactly(
  Object.fromEntries(
    switches.map(({ apiName, schema, shownSchema = schema }) => [apiName, declaredValue(shownSchema)]),
  ),
);
