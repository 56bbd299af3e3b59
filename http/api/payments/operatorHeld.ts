// Money that is held for an operator of the platform, over all accounts (rule O1).

import { heldSettlementOf } from '../../../application/payments/heldSettlement.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import {
  accepting,
  anyInteger,
  boolean,
  described,
  exactly,
  id,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
} from '../../kernel/jsonSchema.ts';
import { actorOf, jsonBody, type Route, route } from '../../kernel/route.ts';
import { total, upToThousand } from '../ops/paging.ts';
import { FOR_OPERATORS } from '../ops/tags.ts';

const mode = oneOfTexts(['test', 'live']);

const heldSchema = exactly({
  paymentId: id(PAYMENT.idPrefix),
  accountId: id(ACCOUNT.idPrefix),
  mode,
  amount: described('Minor units.', anyInteger),
  currency: string(),
  providerPaymentId: described(
    'Of a Pix its end-to-end id; of a late confirmation the id of its return, Pix-out or refund.',
    string(),
  ),
  payerName: orNull(string()),
  expectedPayerTaxId: orNull(string()),
  reason: described(
    '`no_payer_document`: it may be credited. `confirmed_late`: the provider paid what it had refused. Else why it was not credited.',
    string(),
  ),
  returnRefused: described('What the provider said when it was to go back; null: it was not asked.', orNull(string())),
  heldSince: string(),
});

const listHeldRoute = route({
  method: 'GET',
  path: '/ops/v1/held',
  operationId: 'listHeld',
  summary: 'Pix held for review, refused when sent back, or confirmed after a refusal, longest held first',
  description:
    'Returns the Pix payments that wait for an operator: held for review, or rejected by the bank on return.',
  ...FOR_OPERATORS,
  query: { limit: upToThousand },
  refusesUnknownQuery: true,
  reads: ['payments'],
  responses: {
    200: {
      kind: 'json',
      description: 'What is held, and of how many payments in all.',
      schema: exactly({ data: listOf(heldSchema), total }),
    },
  },
  errors: [],
  handle: async ({ query, services: { platform } }) => {
    const { held, total: all } = await platform.listHeld(query.limit);
    return { status: 200, body: { data: held, total: all } };
  },
});

export const NO_PAYMENT = reject('not_found', 'There is no such payment.');
export const paymentParam = {
  id: {
    description: 'A `tx_` or `ch_` id, or a raw one.',
    schema: { type: 'string' },
    parse: (text: string) => parseId<PaymentId>(text, PREFIX.charge, PAYMENT.idPrefix) ?? NO_PAYMENT,
  },
} as const;

const reviewedSchema = exactly({ paymentId: id(PAYMENT.idPrefix), status: string(), isNew: boolean });
const REVIEWED = {
  200: {
    kind: 'json',
    description: 'How the payment is now, and whether it had not been decided so before.',
    schema: reviewedSchema,
  },
} as const;

const releaseHeldRoute = route({
  method: 'POST',
  path: '/ops/v1/held/{id}/release',
  operationId: 'releaseHeld',
  params: paymentParam,
  summary: 'Let a held Pix pass: it is credited, and the payment is paid',
  description: 'Credits a held Pix to the merchant. The payment becomes paid.',
  ...FOR_OPERATORS,
  responses: REVIEWED,
  errors: ['not_found', 'held_already_settled'],
  handle: async (context) => {
    const done = await context.services.platform.reviewHeld(context.params.id, 'release', actorOf(context), null);
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

const returnHeldRoute = route({
  method: 'POST',
  path: '/ops/v1/held/{id}/return',
  operationId: 'returnHeld',
  params: paymentParam,
  summary: 'Send a held Pix back to its payer, or ask again where the bank refused; refunded once it has accepted',
  description:
    'Returns a held Pix to its payer. If the bank rejected an earlier return, it is requested again. The payment becomes refunded once the bank accepts.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: accepting({
      providerPaymentId: optional(described('This one alone, when several of the payment are held.', string(64))),
    }),
  }),
  responses: REVIEWED,
  errors: ['not_found', 'held_already_settled'],
  handle: async (context) => {
    const { params, body, services } = context;
    const pix = body.providerPaymentId ?? null;
    const done = await services.platform.reviewHeld(params.id, 'return', actorOf(context), pix);
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

const settleHeldRoute = route({
  method: 'POST',
  path: '/ops/v1/held/{id}/settle',
  operationId: 'settleHeld',
  params: paymentParam,
  summary: 'Pay out or write off money whose return the bank refuses for good',
  description:
    'Settles a return that the bank refused for good: by a Pix-out to a key, or by writing the amount off to the platform’s account.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: exactly({
      pixOut: optional(described('Pix key to pay it out to; the platform bears the fee.', string(77))),
      writtenOff: optional(described('`true`: it goes to the platform’s account.', boolean)),
      reason: string(500),
      providerPaymentId: optional(described('This one alone, when several of the payment wait.', string(64))),
    }),
  }),
  responses: REVIEWED,
  errors: ['not_found', 'held_already_settled'],
  handle: async (context) => {
    const { params, body, services } = context;
    const settlement = heldSettlementOf(body);
    if (isRejection(settlement)) return settlement;
    const done = await services.platform.reviewHeld(
      params.id,
      settlement,
      actorOf(context),
      body.providerPaymentId ?? null,
    );
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

export const OPERATOR_HELD_ROUTES: readonly Route[] = [
  listHeldRoute,
  releaseHeldRoute,
  returnHeldRoute,
  settleHeldRoute,
];
