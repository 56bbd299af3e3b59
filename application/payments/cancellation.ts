// POST /v1/payments/{id}/cancel: the wish in the stream, then the provider, whose word becomes the fact. An unknown answer is resolved by
// asking again, and money that was faster wins (contract.md Transitions; rules E4, M5).

import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { notCancellable, recordCancelled, requestCancel } from '../../domain/payment/cancel.ts';
import { assertExists, type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import type { IncomingPaymentRecord } from '../../domain/transaction/incomingPayment.ts';
import type { Accounts } from '../core/accounts.ts';
import { timedKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { returnIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForProcess, metadataForRequest } from '../core/eventMetadata.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import { clearTimer, paymentOf, processManager, reacting, setTimer } from '../core/reactions.ts';
import {
  type PaymentProviders,
  ProviderUnavailable,
  type Tenant,
  UnknownAtProvider,
} from '../ports/paymentProvider.ts';
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
    payment: reacting(PAYMENT.groups, {
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

  /** Brings a requested cancellation to its end, as `end` does. `dueAt`: the instant of its timer, where a test clock jumped over it. */
  async run(paymentId: PaymentId, dueAt?: Timestamp): Promise<void> {
    const { state } = await this.#needs.commands.load(PAYMENT, PAYMENT.stream(paymentId));
    if (exists(state)) await this.end(state, dueAt);
  }

  /**
   * Returns the payment once its cancellation was brought to an end; as it is, if none was requested or the payment has ended. Throws
   * UnknownAtProvider while the provider does not say.
   */
  async end(payment: ExistingPayment, dueAt?: Timestamp): Promise<ExistingPayment> {
    const { commands, accounts } = this.#needs;
    if (payment.charge.cancelRequestedAt === null || notCancellable(payment) !== null) return payment;
    const asked = payment.transaction.status === 'held' ? payment : await this.#askProvider(payment);
    if (notCancellable(asked) !== null) return asked;
    const { terms } = asked.charge;
    const { accountId, mode, paymentId } = terms;
    const at = await (dueAt === undefined ? accounts.now(accountId, mode) : accounts.actingAt(accountId, mode, dueAt));
    const back = {
      returnIdOf: (providerPaymentId: string) => returnIdOf(paymentId, providerPaymentId),
      by: 'merchant',
    };
    const decide = recordCancelled(back, at);
    const metadata = metadataForProcess('cancellation', terms, paymentId, paymentId);
    return assertExists((await commands.record(PAYMENT, PAYMENT.stream(paymentId), decide, metadata)).state);
  }

  /** Returns the payment that the provider has cancelled; or that was paid, with what was paid decided on. */
  async #askProvider(payment: ExistingPayment): Promise<ExistingPayment> {
    const { terms } = payment.charge;
    const provider = this.#needs.providers.of(terms.mode);
    if (provider === null) throw new UnknownAtProvider(`cancellation of ${terms.paymentId}`);
    const { accountId, mode, txid, methods, paymentId } = terms;
    const answers = await Promise.all(methods.map((method) => provider.cancel({ accountId, mode, txid, method })));
    if (answers.includes('unknown')) throw new UnknownAtProvider(`cancellation of ${paymentId}`);
    return answers.includes('paid') ? this.#settled(terms) : payment;
  }

  /**
   * Decides on what was paid and returns the payment: it has ended, or the money is held, for review, which the cancellation returns (M5),
   * or because it can't be returned.
   */
  async #settled(terms: ExistingPayment['charge']['terms']): Promise<ExistingPayment> {
    await this.#needs.settler.settleAll(terms);
    const payment = assertExists((await this.#needs.commands.load(PAYMENT, PAYMENT.stream(terms.paymentId))).state);
    const { status, incomingPayments } = payment.transaction;
    if (notCancellable(payment) !== null || status === 'held') return payment;
    // What the provider refuses to send back is an operator's now, and waits for nothing that would come by itself.
    if (incomingPayments.some(isOfOperator) && incomingPayments.every(isAtRest)) return payment;
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
    const request = requestCancel(await accounts.now(tenant.accountId, tenant.mode));
    const wished = await commands.execute(
      PAYMENT,
      PAYMENT.stream(id),
      (state) => (isOwn(state, tenant) ? request(state) : NO_PAYMENT),
      metadataForRequest(requester, tenant, id),
    );
    if (isRejection(wished)) return wished;
    const after = await canceller.end(assertExists(wished.state)).catch(unavailable);
    if (after.charge.status === 'cancelled') return after;
    return notCancellable(after) ?? reject('service_unavailable', 'The cancellation is still under way.');
  };

const unavailable = (error: unknown): never => {
  if (!(error instanceof UnknownAtProvider)) throw error;
  throw new ProviderUnavailable(
    'The payment provider did not answer. The cancellation goes on by itself; read the payment to see its end.',
  );
};
