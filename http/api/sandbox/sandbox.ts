// The sandbox: what the outside world would do (rules X). Answers come when the effect is visible in reads.

import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import type { SandboxPayment, SandboxPayResult } from '../../../application/sandbox/payInSandbox.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import type { SettleOutcome } from '../../../domain/payment/settle.ts';
import { isEndToEndId } from '../../../domain/pix/ids.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { actorOf, jsonBody, type KeyContext, route } from '../../kernel/route.ts';
import { assertFollowed } from '../../kernel/upToDate.ts';
import { chargeParam } from '../payments/charges.ts';
import { advanceBody, clockSchema, flushSchema, paidSchema, payBody } from './sandboxSchema.ts';
import { SANDBOX } from './tags.ts';

/** Longest wait for the effect; then 202, and the rest goes on (X). */
const VISIBLE_MS = 5_000;
/** Longest wait for what runs before the clock is moved. */
const AT_REST_MS = 2_000;

const payProblems = ({ end_to_end_id: id }: SandboxPayment): readonly CodedProblem[] =>
  id === undefined || isEndToEndId(id)
    ? []
    : [
        {
          code: 'invalid_request',
          param: 'end_to_end_id',
          message: 'must be E, an ISPB, a UTC minute and 11 letters or digits',
        },
      ];

type PayOutcome = SettleOutcome | 'refused';

/** What became of a Pix, as the reads show it; null while they do not yet. */
const outcomeOf = ({ transaction }: ExistingPayment, id: string): PayOutcome | null => {
  const incoming = transaction.incomingPayments.find((seen) => seen.providerPaymentId === id);
  if (incoming === undefined || incoming.outcome === 'rejected') return null; // not back yet
  if (incoming.outcome === 'returned') return incoming.reason === 'payer_mismatch' ? 'refunded' : 'returned';
  return incoming.outcome === 'settled' ? 'settled' : 'held'; // for review, or because its return was refused
};

/** A payment that was created a moment ago gets its Pix code from a job: waited for, like the effect. */
const payOnceFinalised = async (
  { services, caller, params: { id } }: KeyContext<typeof chargeParam>,
  payment: SandboxPayment,
): Promise<Exclude<SandboxPayResult, { kind: 'notFinalised' }> | Rejection> => {
  const sent = await services.untilSeen(VISIBLE_MS, async () => {
    const result = await services.payInSandbox(caller.tenant, id, payment);
    return !isRejection(result) && result.kind === 'notFinalised' ? null : result;
  });
  return sent ?? { kind: 'refused' };
};

const pay = async (context: KeyContext<typeof chargeParam>, paying: SandboxPayment) => {
  const {
    caller,
    params: { id },
    services,
  } = context;
  assertFollowed(context, id);
  const sent = await payOnceFinalised(context, paying);
  if (isRejection(sent)) return sent;
  const read = async () => {
    await services.progress.caughtUp(VISIBLE_MS, ['payments']);
    const payment = await services.views.payments.find(caller.tenant, id);
    if (payment === null) throw new ReadModelsBehind('the charge does not show in the reads');
    return payment;
  };
  const answer = (payment: ExistingPayment, outcome: PayOutcome, status: 200 | 202 = 200) => ({
    status,
    body: {
      end_to_end_id: sent.kind === 'refused' ? null : sent.endToEndId,
      outcome,
      charge: chargeView(payment),
    },
  });
  if (sent.kind !== 'sent') return answer(await read(), sent.kind);
  const seen = await services.untilSeen(VISIBLE_MS, async () => {
    const payment = await services.views.payments.find(caller.tenant, id);
    const outcome = payment && outcomeOf(payment, sent.endToEndId);
    return payment && outcome ? { payment, outcome } : null;
  });
  return seen ? answer(seen.payment, seen.outcome) : answer(await read(), sent.expected, 202);
};

export const sandboxPayRoute = route({
  method: 'POST',
  path: '/v1/sandbox/charges/{id}/pay',
  operationId: 'sandboxPay',
  summary: 'A payer pays the charge',
  tag: SANDBOX,
  principal: 'testKey',
  params: chargeParam,
  body: jsonBody({
    schema: payBody,
    codes: { amount: 'invalid_amount' },
    refine: payProblems,
  }),
  responses: {
    200: {
      kind: 'json',
      description: 'The Pix arrived; what became of it shows in the reads.',
      schema: paidSchema,
    },
    202: { kind: 'json', description: 'The same, when it does not show in the reads within 5 s.', schema: paidSchema },
  },
  errors: ['not_found'],
  handle: (context) => pay(context, context.body),
});

const clockView = async ({ caller, services }: KeyContext) => {
  const account = await services.accounts.get(caller.tenant.accountId);
  const now = await services.accounts.now(caller.tenant.accountId, 'test');
  return { now, offset_seconds: account.testClock.offsetSeconds };
};

export const getClockRoute = route({
  method: 'GET',
  path: '/v1/sandbox/clock',
  operationId: 'getSandboxClock',
  summary: 'The time of the account’s test mode',
  tag: SANDBOX,
  principal: 'testKey',
  responses: {
    200: { kind: 'json', description: 'Account time and how far it is ahead of real time.', schema: clockSchema },
  },
  errors: [],
  handle: async (context) => ({ status: 200, body: await clockView(context) }),
});

export const advanceClockRoute = route({
  method: 'POST',
  path: '/v1/sandbox/clock/advance',
  operationId: 'advanceSandboxClock',
  summary: 'Move the test clock forward; what falls due happens first',
  tag: SANDBOX,
  principal: 'testKey',
  body: jsonBody({ schema: advanceBody }),
  responses: {
    200: { kind: 'json', description: 'The new time, after all that fell due has happened.', schema: clockSchema },
    202: { kind: 'json', description: 'The new time; what fell due is still being worked off.', schema: clockSchema },
  },
  errors: [],
  handle: async (context) => {
    const { caller, services } = context;
    const { seconds } = context.body;
    const startedMs = performance.now();
    // What was begun at the old time ends at it: only what waits for an instant is met on the way.
    await services.whenIdle(caller.tenant.accountId, AT_REST_MS);
    const refused = await services.advanceClock(caller.tenant.accountId, seconds, actorOf(context));
    if (refused) return refused;
    const isDone = await services.whenClockDrained(
      caller.tenant.accountId,
      VISIBLE_MS - (performance.now() - startedMs),
    );
    return { status: isDone ? 200 : 202, body: await clockView(context) };
  },
});

export const flushDeliveriesRoute = route({
  method: 'POST',
  path: '/v1/sandbox/deliveries/flush',
  operationId: 'flushSandboxDeliveries',
  summary: 'Wait until no delivery is due',
  tag: SANDBOX,
  principal: 'testKey',
  responses: {
    200: {
      kind: 'json',
      description: 'None is due; how many are held back for an endpoint that keeps failing.',
      schema: flushSchema,
    },
    202: { kind: 'json', description: 'How many are still due after 5 s, or held back.', schema: flushSchema },
  },
  errors: [],
  handle: async ({ caller, services }) => {
    const { due, held } = await services.whenDelivered(caller.tenant, VISIBLE_MS);
    return { status: due === 0 ? 200 : 202, body: { pending: due + held } };
  },
});
