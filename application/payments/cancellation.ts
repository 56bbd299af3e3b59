// A payment that the merchant wants cancelled: the provider is told, and its word becomes the fact. An unknown answer is resolved by
// asking again, and money that was faster wins (contract.md Transitions; rules E4, M5).
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { notCancellable, recordCancelled } from '../../domain/payment/cancel.ts';
import { type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import type { IncomingPaymentRecord } from '../../domain/transaction/transaction.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { returnIdOf } from '../core/derivedIds.ts';
import { byProcess } from '../core/eventMetadata.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import type { ProcessManager } from '../ports/processManager.ts';
import type { Settler } from './settle.ts';

/** How long the request itself has before the process takes over. */
const PATIENCE_SECONDS = 5;

export const cancellation: ProcessManager = {
  name: 'cancellation',
  categories: ['payment'],
  react: (logged) => {
    if (!isOf(logged, 'payment')) return [];
    const { account, mode, subject: key, event } = logged;
    if (event.type === 'ChargeCancelled') return [{ kind: 'clearTimer', timer: { kind: 'cancel', key } }];
    if (event.type !== 'ChargeCancelRequested') return [];
    const dueAt = addSeconds(event.data.at, PATIENCE_SECONDS);
    return [{ kind: 'timer', timer: { account, mode, kind: 'cancel', key, group: account, dueAt } }];
  },
};

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly settler: Settler;
}

export class Canceller {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Handler of one item of the queue `cancel`: a payment id. Brings a requested cancellation to its end; throws UnknownAtProvider
   * while the provider does not say. Not requested, or ended: nothing. `dueAt`: the instant of its timer, where it is known.
   */
  async run(item: string, dueAt?: Timestamp): Promise<void> {
    const { commands, accounts } = this.#needs;
    const stream = streamName.payment(item as PaymentId);
    const { state } = await commands.load(PAYMENT, stream);
    if (!exists(state) || state.charge.cancelRequestedAt === null || notCancellable(state) !== null) return;
    const { terms } = state.charge;
    if (state.transaction.status !== 'held' && !(await this.#isCancelledAtProvider(state))) return;
    const { accountId, mode } = terms;
    const at = await (dueAt === undefined ? accounts.now(accountId, mode) : accounts.actingAt(accountId, mode, dueAt));
    const back = {
      returnIdOf: (providerPaymentId: string) => returnIdOf(terms.paymentId, providerPaymentId),
      by: 'merchant',
    };
    const decide = recordCancelled(back, at);
    await commands.record(PAYMENT, stream, decide, byProcess('cancellation', terms, item, item));
  }

  /** False: it was paid, and that is settled now. */
  async #isCancelledAtProvider({ charge: { terms } }: ExistingPayment): Promise<boolean> {
    const provider = this.#needs.providers.of(terms.mode);
    if (provider === null) throw new UnknownAtProvider(`cancellation of ${terms.paymentId}`);
    const { accountId, mode, txid, methods, paymentId } = terms;
    const answers = await Promise.all(methods.map((method) => provider.cancel({ accountId, mode, txid, method })));
    if (answers.includes('unknown')) throw new UnknownAtProvider(`cancellation of ${paymentId}`);
    return answers.includes('paid') ? this.#isHeldOnceSettled(terms) : true;
  }

  /** Decides on what was paid. True: it is held, for review, which the cancellation returns (M5), or because it can't be returned. */
  async #isHeldOnceSettled(terms: ExistingPayment['charge']['terms']): Promise<boolean> {
    await this.#needs.settler.settleAll(terms);
    const { state } = await this.#needs.commands.load(PAYMENT, streamName.payment(terms.paymentId));
    if (!exists(state) || notCancellable(state) !== null) return false;
    const { status, incomingPayments } = state.transaction;
    if (status === 'held') return true;
    // What the provider refuses to send back is an operator's now, and waits for nothing that would come by itself.
    if (incomingPayments.some(({ outcome }) => outcome === 'unreturned') && incomingPayments.every(isAtRest))
      return true;
    // What was paid is on its way back to the payer (another amount): once it is there, it can be cancelled.
    throw new UnknownAtProvider(`return of what was paid for ${terms.paymentId}`);
  }
}

/** Not on its way to the payer. */
const isAtRest = ({ outcome }: IncomingPaymentRecord): boolean => outcome !== 'rejected';
