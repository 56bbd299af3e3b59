// Returns money that must not be credited. The payer gets the full amount back, by the original end-to-end id (M4, M5).

import type { PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { recordReturn, recordReturnRefusal, recordReturnUnknown } from '../../domain/payment/lifecycle.ts';
import { leftOf } from '../../domain/transaction/incomingPayment.ts';
import { idOf, jobKind, payloadOf, text } from '../core/capability.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { outcomeOfFirst, outcomeOfRepeat } from '../core/nextLook.ts';
import { enqueue, nothing, paymentOf, processManager, reacting } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';

export const returnPayment = jobKind({
  name: 'returnPayment',
  payload: payloadOf({ paymentId: idOf<PaymentId>(), providerPaymentId: text }),
  subjectOf: ({ paymentId, providerPaymentId }) => `${paymentId} ${providerPaymentId}`,
});

const enqueueReturn = (logged: { readonly subject: string }, providerPaymentId: string) => [
  enqueue(returnPayment, { paymentId: paymentOf(logged), providerPaymentId }),
];

export const rejectedPaymentReturn = processManager({
  name: 'rejectedPaymentReturn',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        TransactionPaymentRejected: (logged) => enqueueReturn(logged, logged.event.data.incoming.providerPaymentId),
        TransactionHeldRejected: (logged) => enqueueReturn(logged, logged.event.data.providerPaymentId),
        TransactionReturnRetried: (logged) => enqueueReturn(logged, logged.event.data.providerPaymentId),
        TransactionReturnRefused: nothing,
        TransactionReturnOutcomeUnknown: nothing,
        TransactionReturnOutcomeEntered: nothing,
      },
      ignores: [
        'demand',
        'methods',
        'money',
        'hold',
        'approval',
        'back',
        'outside',
        'settling',
        'refund',
        'dispute',
        'erasure',
      ],
    }),
  },
});

interface Needs extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly alerts: Pick<OperatorAlerts, 'returnRefused'>;
}

/**
 * Returns a received payment to its payer. Idempotent: the provider returns it once. If the provider refuses, the payment waits for an
 * operator. `mayBeRepeat`: a process that was killed may have sent the return without recording it. Throws UnknownAtProvider if the outcome
 * is unknown.
 */
export const sendBack =
  ({ commands, accounts, providers, alerts }: Needs) =>
  async ({ paymentId, providerPaymentId }: PayloadOf<typeof returnPayment>, mayBeRepeat = false): Promise<void> => {
    const begunAt = accounts.realNow();
    const stream = PAYMENT.stream(paymentId);
    const { state } = await commands.load(PAYMENT, stream);
    const incoming = state.transaction.incomingPayments.find((seen) => seen.providerPaymentId === providerPaymentId);
    if (state.charge.status === 'absent' || incoming?.outcome !== 'rejected' || incoming.returnId === null) return;
    const { terms } = state.charge;
    const { method, returnId, unanswered } = incoming;
    const amount = leftOf(incoming);
    const metadataOfCharge = terms.mode === 'test' ? terms.metadata : null;
    const back = { method, providerPaymentId, returnId, amount, metadata: metadataOfCharge };
    const provider = await providers.of(terms);
    if (provider === null) throw new UnknownAtProvider(`return of Pix ${providerPaymentId}`);
    const answer = await provider.returnPayment(terms, back);
    const { accountId, mode } = terms;
    const at = await accounts.now(accountId, mode);
    const sentAt = unanswered?.returnId === returnId ? unanswered.at : null;
    const outcome =
      mayBeRepeat || sentAt !== null
        ? outcomeOfRepeat(answer, sentAt, at)
        : outcomeOfFirst(answer, begunAt, accounts.realNow());
    const metadata = metadataForProcess('rejectedPaymentReturn', terms, paymentId, returnId);
    if (outcome.kind === 'unknown')
      await commands.record(PAYMENT, stream, recordReturnUnknown(providerPaymentId, returnId, at), metadata);
    // A return under way isn't done: the job asks again until the provider reports the outcome.
    if (outcome.kind === 'unknown' || outcome.kind === 'processing')
      throw new UnknownAtProvider(`return of Pix ${providerPaymentId}`);
    if (outcome.kind === 'done') {
      await commands.record(PAYMENT, stream, recordReturn(providerPaymentId, returnId, at), metadata);
      return;
    }
    const { reason } = outcome;
    const done = await commands.record(
      PAYMENT,
      stream,
      recordReturnRefusal(providerPaymentId, returnId, reason, at),
      metadata,
    );
    if (done.appended > 0) alerts.returnRefused({ accountId, mode }, { paymentId, providerPaymentId, reason });
  };
