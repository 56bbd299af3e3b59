// The sandbox route that simulates a payer's Pix (rules X).

import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import type { SandboxPayment, SandboxPayResult } from '../../../application/sandbox/payInSandbox.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import type { SettleOutcome } from '../../../domain/payment/settle.ts';
import { isEndToEndId } from '../../../domain/pix/ids.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { json, jsonBody, type KeyContext, route } from '../../kernel/route.ts';
import { assertFollowed } from '../../kernel/upToDate.ts';
import { IN_SANDBOX, VISIBLE_MS } from '../sandbox/sandboxSchema.ts';
import { chargeParam } from './charges.ts';
import { paidSchema, payBody } from './sandboxSchema.ts';

const payProblems = ({ end_to_end_id: id }: SandboxPayment): readonly CodedProblem[] =>
  id === undefined || isEndToEndId(id)
    ? []
    : [
        {
          code: 'invalid_request',
          param: 'end_to_end_id',
          message: 'must consist of E, an ISPB, a UTC minute and 11 letters or digits',
        },
      ];

type PayOutcome = SettleOutcome | 'refused';

/** Returns the outcome of a Pix as the reads show it, or null if they don't show it yet. */
const outcomeOf = ({ transaction }: ExistingPayment, id: string): PayOutcome | null => {
  const incoming = transaction.incomingPayments.find((seen) => seen.providerPaymentId === id);
  if (incoming === undefined || incoming.outcome === 'rejected') return null; // not back yet
  if (incoming.outcome === 'returned') return incoming.reason === 'payer_mismatch' ? 'refunded' : 'returned';
  return incoming.outcome === 'settled' ? 'settled' : 'held'; // for review, or because its return was refused
};

/** Sends the Pix once a background job has issued the code of the payment. Waits at most VISIBLE_MS for it. */
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
    if (payment === null) throw new ReadModelsBehind('the charge is not visible in the reads');
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
  const seen = await services.untilPaymentSeen(caller.tenant, id, VISIBLE_MS, (payment) => {
    const outcome = outcomeOf(payment, sent.endToEndId);
    return outcome && { payment, outcome };
  });
  return seen ? answer(seen.payment, seen.outcome) : answer(await read(), sent.expected, 202);
};

export const sandboxPayRoute = route('POST', '/v1/sandbox/charges/{id}/pay', {
  operationId: 'sandboxPay',
  summary: 'Simulate a Pix payment',
  description:
    'Simulates a payer’s Pix. Without a body, the exact amount is paid. Send another amount, another document or a late payment to test those cases.',
  ...IN_SANDBOX,
  params: chargeParam,
  body: jsonBody({
    schema: payBody,
    codes: { amount: 'invalid_amount' },
    refine: payProblems,
  }),
  responses: {
    200: json('The outcome of the Pix, which is visible in reads.', paidSchema),
    202: json('The expected outcome, if it is not visible in reads within 5 seconds.', paidSchema),
  },
  handle: (context) => pay(context, context.body),
});
