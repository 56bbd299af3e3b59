// A charge nobody paid in time expires; the provider is asked first, because it may know better (M4).
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { expire } from '../../domain/payment/afterwards.ts';
import type { Accounts } from '../accounts.ts';
import { PAYMENT } from '../aggregates.ts';
import { byProcess } from '../because.ts';
import type { CommandHandler } from '../commandHandler.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import type { ProcessManager } from '../ports/processManager.ts';
import { type Settler, UnknownAtProvider } from './settlement.ts';

export const expiry: ProcessManager = {
  name: 'expiry',
  categories: ['payment'],
  react: (logged) => {
    if (!isOf(logged, 'payment')) return [];
    const { account, mode, subject: key, event } = logged;
    switch (event.type) {
      case 'ChargePixIssued':
        return [
          { kind: 'timer', timer: { account, mode, kind: 'expire', key, group: null, dueAt: event.data.expiresAt } },
        ];
      case 'TransactionSettled':
      case 'TransactionHeld':
        return [{ kind: 'clearTimer', timer: { kind: 'expire', key } }];
      case 'TransactionReceiptRejected':
        return event.data.reason === 'payer_mismatch' ? [{ kind: 'clearTimer', timer: { kind: 'expire', key } }] : [];
      default:
        return [];
    }
  },
};

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly settler: Settler;
}

/** Handler of one item of the queue `expire`: a payment id. Throws UnknownAtProvider: the charge stays pending and is asked for again. */
export const expireCharge =
  ({ commands, accounts, providers, settler }: Needs) =>
  async (item: string): Promise<void> => {
    const stream = streamName.payment(item as PaymentId);
    const { state } = await commands.load(PAYMENT, stream);
    if (state.charge.status !== 'open' || state.transaction.status !== 'none') return;
    const { terms, pix } = state.charge;
    const receipts = await providers.forPix(terms.mode)?.receiptsOf(terms, pix.txid);
    if (receipts?.kind !== 'known') throw new UnknownAtProvider(`payments of charge ${item} before its expiry`);
    for (const receipt of receipts.value) await settler.settle(terms.paymentId, receipt);
    const now = await accounts.actingAt(terms.accountId, terms.mode, pix.expiresAt);
    const outcome = await commands.execute(PAYMENT, stream, expire(now), byProcess('expiry', terms, item, item));
    if (isRejection(outcome)) throw new Error(`expiry of ${item} refused: ${outcome.message}`);
  };
