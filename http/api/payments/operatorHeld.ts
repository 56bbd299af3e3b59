// Routes for the held money of all accounts, for operators of the platform (rule O1).

import { heldSettlementOf } from '../../../application/payments/heldPayments.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, ok, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS, total, upToThousand } from '../ops/operatorRoutes.ts';
import { paymentParam } from './payment.ts';

const heldSchema = s.exactly({
  paymentId: s.id(PAYMENT.idPrefix),
  accountId: s.id(ACCOUNT.idPrefix),
  mode: s.mode,
  amount: s.described('The amount in minor units.', s.anyInteger),
  currency: s.string(),
  providerPaymentId: s.described(
    'The end-to-end id of the Pix, or the id of the return, Pix-out or refund that was confirmed late.',
    s.string(),
  ),
  payerName: s.orNull(s.string()),
  expectedPayerTaxId: s.orNull(s.string()),
  reason: s.described(
    'Why the money was not credited. `no_payer_document`: it can still be credited. `confirmed_late`: the provider paid after it had refused.',
    s.string(),
  ),
  returnRefused: s.described(
    'Why the provider refused to return the money; null if no return was requested.',
    s.orNull(s.string()),
  ),
  heldSince: s.string(),
});

const listHeldRoute = route('GET', '/ops/v1/held', {
  operationId: 'listHeld',
  summary: 'List held money',
  description:
    'Returns the money that waits for an operator, longest held first: Pix held for review, returns that the bank rejected, and late confirmations.',
  ...FOR_OPERATORS,
  query: { limit: upToThousand },
  refusesUnknownQuery: true,
  reads: ['payments'],
  responses: {
    200: json(
      'The held amounts, and the total number of payments concerned.',
      s.exactly({ data: s.listOf(heldSchema), total }),
    ),
  },
  handle: async ({ query, services: { platform } }) => {
    const { held, total: all } = await platform.listHeld(query.limit);
    return { status: 200, body: { data: held, total: all } };
  },
});

const reviewedSchema = s.exactly({ paymentId: s.id(PAYMENT.idPrefix), status: s.string(), isNew: s.boolean });
const REVIEWED = {
  200: json('The status of the payment. `isNew` is false if the same decision was made before.', reviewedSchema),
} as const;

const releaseHeldRoute = route('POST', '/ops/v1/held/{id}/release', {
  operationId: 'releaseHeld',
  params: paymentParam,
  summary: 'Release a held Pix',
  description: 'Credits a held Pix to the merchant. The payment becomes paid.',
  ...FOR_OPERATORS,
  responses: REVIEWED,
  errors: ['held_already_settled'],
  handle: async (context) =>
    ok(await context.services.platform.reviewHeld(context.params.id, 'release', actorOf(context), null)),
});

const returnHeldRoute = route('POST', '/ops/v1/held/{id}/return', {
  operationId: 'returnHeld',
  params: paymentParam,
  summary: 'Return a held Pix to its payer',
  description:
    'Returns a held Pix to its payer. If the bank rejected an earlier return, it is requested again. The payment becomes refunded once the bank accepts.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.accepting({
      providerPaymentId: s.optional(s.described('Only this Pix, if the payment has several held ones.', s.string(64))),
    }),
  }),
  responses: REVIEWED,
  errors: ['held_already_settled'],
  handle: async (context) => {
    const { params, body, services } = context;
    const pix = body.providerPaymentId ?? null;
    return ok(await services.platform.reviewHeld(params.id, 'return', actorOf(context), pix));
  },
});

const settleHeldRoute = route('POST', '/ops/v1/held/{id}/settle', {
  operationId: 'settleHeld',
  params: paymentParam,
  summary: 'Settle a permanently refused return',
  description:
    'Settles a return that the bank refuses permanently: pays the amount to a Pix key, or writes it off to the platform’s account.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.exactly({
      pixOut: s.optional(s.described('The Pix key to pay the amount to. The platform bears the fee.', s.string(77))),
      writtenOff: s.optional(s.described('`true` writes the amount off to the platform’s account.', s.boolean)),
      reason: s.string(500),
      providerPaymentId: s.optional(
        s.described('Only this Pix, if the payment has several refused returns.', s.string(64)),
      ),
    }),
  }),
  responses: REVIEWED,
  errors: ['held_already_settled', 'payment_erased'],
  handle: async (context) => {
    const { params, body, services } = context;
    const settlement = heldSettlementOf(body);
    if (isRejection(settlement)) return settlement;
    return ok(
      await services.platform.reviewHeld(params.id, settlement, actorOf(context), body.providerPaymentId ?? null),
    );
  },
});

export const OPERATOR_HELD_ROUTES: readonly Route[] = [
  listHeldRoute,
  releaseHeldRoute,
  returnHeldRoute,
  settleHeldRoute,
];
