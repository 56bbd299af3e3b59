// A Pix that must not be credited goes back to the payer in full, by its original end-to-end id (M4, M5).
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { recordReturn, recordReturnRefusal } from '../../domain/payment/lifecycle.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { byProcess } from '../core/eventMetadata.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type { PaymentProviders, Tenant } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';

export const payerLockReturn: ProcessManager = {
  name: 'payerLockReturn',
  categories: ['payment'],
  react: (logged) =>
    isOf(logged, 'payment')
      ? rejectedIds(logged.event).map((id) => job('returnPayment', `${logged.subject}:${id}`))
      : [],
};

const rejectedIds = (event: PaymentEvent): readonly string[] => {
  if (event.type === 'TransactionPaymentRejected') return [event.data.incoming.providerPaymentId];
  const isAsked = event.type === 'TransactionHeldRejected' || event.type === 'TransactionReturnRetried';
  return isAsked ? [event.data.providerPaymentId] : [];
};

/** The provider refuses to send this back. */
export interface RefusedReturn extends Tenant {
  readonly paymentId: PaymentId;
  readonly providerPaymentId: string;
  readonly reason: string;
}

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  /** Once a refusal: an operator must know. */
  readonly onRefused: (refused: RefusedReturn) => void;
}

/**
 * Handler of one item of the queue `returnPayment`: `<payment id>:<end-to-end id>`. Asked twice, the provider returns once; what it refuses
 * is not asked again, and waits for an operator.
 */
export const returnPayment =
  ({ commands, accounts, providers, onRefused }: Needs) =>
  async (item: string): Promise<void> => {
    const colon = item.indexOf(':'); // an acquirer's id may hold more of them
    const [paymentId, providerPaymentId] = [item.slice(0, colon) as PaymentId, item.slice(colon + 1)];
    const stream = streamName.payment(paymentId);
    const { state } = await commands.load(PAYMENT, stream);
    const incoming = state.transaction.incomingPayments.find((seen) => seen.providerPaymentId === providerPaymentId);
    if (state.charge.status === 'absent' || incoming?.outcome !== 'rejected' || incoming.returnId === null) return;
    const { terms } = state.charge;
    const { method, returnId, amount } = incoming;
    const outcome = await providers
      .of(terms.mode)
      ?.returnPayment(terms, { method, providerPaymentId, returnId, amount });
    if (outcome === undefined || outcome.kind === 'unknown')
      throw new UnknownAtProvider(`return of Pix ${providerPaymentId}`);
    const { accountId, mode } = terms;
    const at = await accounts.now(accountId, mode);
    const why = byProcess('payerLockReturn', terms, paymentId, returnId);
    if (outcome.kind === 'accepted') {
      await commands.record(PAYMENT, stream, recordReturn(providerPaymentId, at), why);
      return;
    }
    const { reason } = outcome;
    const done = await commands.record(
      PAYMENT,
      stream,
      recordReturnRefusal(providerPaymentId, returnId, reason, at),
      why,
    );
    if (done.appended > 0) onRefused({ accountId, mode, paymentId, providerPaymentId, reason });
  };
