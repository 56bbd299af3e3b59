// POST /v1/payments/{id}/cancel: records the request, then asks the provider and records its answer. If the answer is unknown, the provider
// is asked again. If the payment was paid first, the payment wins (contract.md Transitions; rules E4, M5).

import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { notCancellable, recordCancelled, requestCancel } from '../../domain/payment/cancel.ts';
import { assertExists, type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import type { IncomingPaymentRecord } from '../../domain/transaction/incomingPayment.ts';
import { ofPayment, timedKind } from '../core/capability.ts';
import { returnIdOf } from '../core/derivedIds.ts';
import { type Actor, metadataForProcess, metadataForRequest } from '../core/eventMetadata.ts';
import { clearTimer, paymentOf, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { type PaymentProviders, ProviderUnavailable, UnknownAtProvider } from '../ports/paymentProvider.ts';
import { isOwn, NO_PAYMENT } from './ownPayment.ts';
import type { Settler } from './settle.ts';

/** Time that the HTTP request has to finish the cancellation before the process takes over. */
const PATIENCE_SECONDS = 5;

export const cancel = timedKind({ name: 'cancel', ...ofPayment });

export const cancellation = processManager({
  name: 'cancellation',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        ChargeCancelRequested: (logged) => {
          const dueAt = addSeconds(logged.event.data.at, PATIENCE_SECONDS);
          return [setTimer(cancel, { paymentId: paymentOf(logged) }, logged, dueAt, logged.account)];
        },
        ChargeCancelled: (logged) => [clearTimer(cancel, { paymentId: paymentOf(logged) })],
      },
      ignores: [
        'creation',
        'routing',
        'end',
        'resend',
        'methods',
        'money',
        'held',
        'returns',
        'refund',
        'dispute',
        'erasure',
      ],
    }),
  },
});

interface Needs extends UseCaseNeeds {
  readonly providers: PaymentProviders;
  readonly settler: Settler;
}

/** The payment after its cancellation at the provider. `by`: who cancelled it there. */
interface CancelledAtProvider {
  readonly payment: ExistingPayment;
  readonly by: 'merchant' | 'provider';
}

export class Canceller {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Completes a requested cancellation, as `end` does. `dueAt`: when its timer was due, if a test clock skipped that instant. */
  async run(paymentId: PaymentId, dueAt?: Timestamp): Promise<void> {
    const { state } = await this.#needs.commands.load(PAYMENT, PAYMENT.stream(paymentId));
    if (exists(state)) await this.end(state, dueAt);
  }

  /**
   * Completes the requested cancellation and returns the payment. Returns the payment unchanged if no cancellation was requested or the
   * payment has ended. Throws UnknownAtProvider if the provider gives no definite answer.
   */
  async end(payment: ExistingPayment, dueAt?: Timestamp): Promise<ExistingPayment> {
    const { commands, accounts } = this.#needs;
    if (payment.charge.cancelRequestedAt === null || notCancellable(payment) !== null) return payment;
    const isHeld = payment.transaction.status === 'held';
    const { payment: current, by }: CancelledAtProvider = isHeld
      ? { payment, by: 'merchant' }
      : await this.#cancelAtProvider(payment);
    if (notCancellable(current) !== null) return current;
    const { terms } = current.charge;
    const { accountId, mode, paymentId } = terms;
    const at = await accounts.actingAt(accountId, mode, dueAt);
    const back = {
      returnIdOf: (providerPaymentId: string) => returnIdOf(paymentId, providerPaymentId),
      by,
    };
    const decide = recordCancelled(back, at);
    const metadata = metadataForProcess('cancellation', terms, paymentId, paymentId);
    return assertExists((await commands.record(PAYMENT, PAYMENT.stream(paymentId), decide, metadata)).state);
  }

  /** Cancels the instruments at the provider and returns the payment. If it was paid in the meantime, the money is settled first. */
  async #cancelAtProvider(payment: ExistingPayment): Promise<CancelledAtProvider> {
    const { terms } = payment.charge;
    const provider = await this.#needs.providers.of(terms);
    if (provider === null) throw new UnknownAtProvider(`cancellation of ${terms.paymentId}`);
    const { accountId, mode, txid, methods, paymentId } = terms;
    const answers = await Promise.all(methods.map((method) => provider.cancel({ accountId, mode, txid, method })));
    if (answers.includes('unknown')) throw new UnknownAtProvider(`cancellation of ${paymentId}`);
    const by = answers.includes('removed') ? 'provider' : 'merchant';
    return { payment: answers.includes('paid') ? await this.#settled(terms) : payment, by };
  }

  /**
   * Settles the received money and returns the payment. Afterwards the payment has ended, or its money is held: either for review, in
   * which case the cancellation returns it (M5), or because the provider refused to return it; or all of it went back.
   */
  async #settled(terms: ExistingPayment['charge']['terms']): Promise<ExistingPayment> {
    await this.#needs.settler.settleAll(terms);
    const payment = assertExists((await this.#needs.commands.load(PAYMENT, PAYMENT.stream(terms.paymentId))).state);
    const { status, incomingPayments } = payment.transaction;
    if (notCancellable(payment) !== null || status === 'held') return payment;
    // All money went back, or waits for an operator because the provider refused to return it. The code that a wrong amount closed at the
    // provider takes no other payment, so waiting would be pointless (V8).
    if (incomingPayments.length > 0 && incomingPayments.every(isAtRest)) return payment;
    // A payment of the wrong amount is being returned to the payer. The charge can be cancelled once the return is complete.
    throw new UnknownAtProvider(`return of the money received for ${terms.paymentId}`);
  }
}

/** Not being returned to the payer. */
const isAtRest = ({ outcome }: IncomingPaymentRecord): boolean => outcome !== 'rejected';

interface CancelNeeds extends UseCaseNeeds {
  readonly canceller: Canceller;
}

/**
 * Cancels a payment and returns it. Rejects with `transaction_not_cancellable` if it was cancelled before, settled or has ended (E4).
 * Throws ProviderUnavailable if the provider gives no definite answer; the provider is asked again with or without a repeated request.
 */
export const cancelPayment =
  ({ commands, accounts, canceller }: CancelNeeds) =>
  async (tenant: Tenant, id: PaymentId, requester: Actor): Promise<ExistingPayment | Rejection> => {
    const request = requestCancel(await accounts.now(tenant.accountId, tenant.mode));
    const requested = await commands.execute(
      PAYMENT,
      PAYMENT.stream(id),
      (state) => (isOwn(state, tenant) ? request(state) : NO_PAYMENT),
      metadataForRequest(requester, tenant, id),
    );
    if (isRejection(requested)) return requested;
    const after = await canceller.end(assertExists(requested.state)).catch(unavailable);
    if (after.charge.status === 'cancelled') return after;
    return notCancellable(after) ?? reject('service_unavailable', 'The cancellation is still in progress.');
  };

/** The provider did not answer, or it still returns money to the payer. */
const unavailable = (error: unknown): never => {
  if (!(error instanceof UnknownAtProvider)) throw error;
  throw new ProviderUnavailable(
    'The payment provider has not confirmed the cancellation yet. It continues in the background; retrieve the payment to see the result.',
  );
};
