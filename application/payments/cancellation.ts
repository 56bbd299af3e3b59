// POST /v1/payments/{id}/cancel: the wish in the stream, then the provider, whose word becomes the fact. An unknown answer is resolved by
// asking again, and money that was faster wins (contract.md Transitions; rules E4, M5).

import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { notCancellable, recordCancelled, requestCancel } from '../../domain/payment/cancel.ts';
import { PAYMENT_GROUPS } from '../../domain/payment/eventGroups.ts';
import { assertExists, type ExistingPayment, exists, PAYMENT } from '../../domain/payment/payment.ts';
import type { IncomingPaymentRecord } from '../../domain/transaction/transaction.ts';
import type { Accounts } from '../core/accounts.ts';
import { timedKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { returnIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForProcess, metadataForRequest } from '../core/eventMetadata.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import { clearTimer, paymentOf, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { PaymentProviders, Tenant } from '../ports/paymentProvider.ts';
import { ProviderUnavailable, UnknownAtProvider } from '../ports/paymentProvider.ts';
import { isOwn, NO_PAYMENT } from './ownPayment.ts';
import type { Settler } from './settle.ts';

/** How long the request itself has before the process takes over. */
const PATIENCE_SECONDS = 5;

export const cancel = timedKind({
  name: 'cancel',
  payload: payloadOf({ paymentId: idOf<PaymentId>() }),
  subjectOf: ({ paymentId }) => paymentId,
});

export const cancellation = processManager({
  name: 'cancellation',
  movesMoney: true,
  reactions: {
    payment: reacting(PAYMENT_GROUPS, {
      reads: {
        ChargeCancelRequested: (logged) => {
          const dueAt = addSeconds(logged.event.data.at, PATIENCE_SECONDS);
          return [setTimer(cancel, { paymentId: paymentOf(logged) }, logged, dueAt, logged.account)];
        },
        ChargeCancelled: (logged) => [clearTimer(cancel, { paymentId: paymentOf(logged) })],
      },
      ignores: ['creation', 'end', 'resend', 'methods', 'money', 'held', 'returns', 'refund', 'dispute'],
    }),
  },
});

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
   * Brings a requested cancellation to its end; throws UnknownAtProvider while the provider does not say. Not requested, or ended: does
   * nothing. `dueAt`: the instant of its timer, where a test clock jumped over it.
   */
  async run(paymentId: PaymentId, dueAt?: Timestamp): Promise<void> {
    const { commands, accounts } = this.#needs;
    const stream = PAYMENT.stream(paymentId);
    const { state } = await commands.load(PAYMENT, stream);
    if (!exists(state) || state.charge.cancelRequestedAt === null || notCancellable(state) !== null) return;
    const { terms } = state.charge;
    if (state.transaction.status !== 'held' && !(await this.#isCancelledAtProvider(state))) return;
    const { accountId, mode } = terms;
    const at = await (dueAt === undefined ? accounts.now(accountId, mode) : accounts.actingAt(accountId, mode, dueAt));
    const back = {
      returnIdOf: (providerPaymentId: string) => returnIdOf(paymentId, providerPaymentId),
      by: 'merchant',
    };
    const decide = recordCancelled(back, at);
    await commands.record(PAYMENT, stream, decide, metadataForProcess('cancellation', terms, paymentId, paymentId));
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
    const { state } = await this.#needs.commands.load(PAYMENT, PAYMENT.stream(terms.paymentId));
    if (!exists(state) || notCancellable(state) !== null) return false;
    const { status, incomingPayments } = state.transaction;
    if (status === 'held') return true;
    // What the provider refuses to send back is an operator's now, and waits for nothing that would come by itself.
    if (incomingPayments.some(isOfOperator) && incomingPayments.every(isAtRest)) return true;
    // What was paid is on its way back to the payer (another amount): once it is there, it can be cancelled.
    throw new UnknownAtProvider(`return of what was paid for ${terms.paymentId}`);
  }
}

/** Refused by the provider: the bank keeps it whatever an operator does about it. */
const isOfOperator = ({ outcome, refusal }: IncomingPaymentRecord): boolean =>
  refusal !== undefined && outcome !== 'returned' && outcome !== 'settled';

/** Not on its way to the payer. */
const isAtRest = ({ outcome }: IncomingPaymentRecord): boolean => outcome !== 'rejected';

interface CancelNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly canceller: Canceller;
}

/**
 * The cancelled payment. Throws ProviderUnavailable when the provider does not say; it is asked until it does, by a repeat of the
 * request or without one. Cancelled before, settled or ended: `transaction_not_cancellable` (E4).
 */
export const cancelPayment =
  ({ commands, accounts, canceller }: CancelNeeds) =>
  async (tenant: Tenant, id: PaymentId, requester: Actor): Promise<ExistingPayment | Rejection> => {
    const stream = PAYMENT.stream(id);
    const before = await commands.load(PAYMENT, stream);
    if (!isOwn(before.state, tenant)) return NO_PAYMENT;
    const { accountId, mode } = tenant;
    const metadata = metadataForRequest(requester, tenant, id);
    const wished = await commands.execute(
      PAYMENT,
      stream,
      requestCancel(await accounts.now(accountId, mode)),
      metadata,
    );
    if (isRejection(wished)) return wished;
    await canceller.run(id).catch(unavailable);
    const after = assertExists((await commands.load(PAYMENT, stream)).state);
    if (after.charge.status === 'cancelled') return after;
    return notCancellable(after) ?? reject('service_unavailable', 'The cancellation is still under way.');
  };

const unavailable = (error: unknown): never => {
  if (!(error instanceof UnknownAtProvider)) throw error;
  throw new ProviderUnavailable(
    'The payment provider did not answer. The cancellation goes on by itself; read the payment to see its end.',
  );
};
