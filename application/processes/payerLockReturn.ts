// A Pix that must not be credited goes back to the payer in full, by its original end-to-end id (M4, M5).
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { recordReturn } from '../../domain/payment/afterwards.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import type { Accounts } from '../accounts.ts';
import { PAYMENT } from '../aggregates.ts';
import { byProcess } from '../because.ts';
import type { CommandHandler } from '../commandHandler.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';

export const payerLockReturn: ProcessManager = {
  name: 'payerLockReturn',
  categories: ['payment'],
  react: (logged) =>
    isOf(logged, 'payment')
      ? rejectedIds(logged.event).map((id) => job('returnReceipt', `${logged.subject}:${id}`, logged.account))
      : [],
};

const rejectedIds = (event: PaymentEvent): readonly string[] => {
  if (event.type === 'TransactionReceiptRejected') return [event.data.receipt.endToEndId];
  return event.type === 'TransactionHeldRejected' ? [event.data.endToEndId] : [];
};

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
}

/** Handler of one item of the queue `returnReceipt`: `<payment id>:<end-to-end id>`. Asked twice, the provider returns once. */
export const returnReceipt =
  ({ commands, accounts, providers }: Needs) =>
  async (item: string): Promise<void> => {
    const colon = item.indexOf(':'); // an acquirer's id may hold more of them
    const [paymentId, endToEndId] = [item.slice(0, colon), item.slice(colon + 1)];
    const stream = streamName.payment(paymentId as PaymentId);
    const { state } = await commands.load(PAYMENT, stream);
    const receipt = state.transaction.receipts.find((seen) => seen.endToEndId === endToEndId);
    if (state.charge.status === 'absent' || receipt?.outcome !== 'rejected' || receipt.returnId === null) return;
    const { terms } = state.charge;
    const back = { method: receipt.method, endToEndId, returnId: receipt.returnId, amount: receipt.amount };
    const outcome = await providers.of(terms.mode)?.returnReceipt(terms, back);
    if (outcome !== 'accepted') throw new UnknownAtProvider(`return of Pix ${endToEndId}`);
    const at = await accounts.now(terms.accountId, terms.mode);
    const why = byProcess('payerLockReturn', terms, paymentId, receipt.returnId);
    await commands.record(PAYMENT, stream, recordReturn(endToEndId, at), why);
  };
