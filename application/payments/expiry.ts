// Expires charges that were not paid in time. The provider is asked first, because a payment may not have been reported yet (M4).

import Type from 'typebox';
import { pendingMethods } from '../../domain/charge/charge.ts';
import { instrumentExpiry, lastExpiry } from '../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { expire as decideExpiry } from '../../domain/payment/lifecycle.ts';
import { isAwaitingMoney } from '../../domain/payment/payment.ts';
import { idOf, payloadOf, text, timedKind } from '../core/capability.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { clearTimer, nothing, paymentOf, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { Settler } from './settle.ts';

export const expire = timedKind({
  name: 'expire',
  /** `method`: the method whose instrument expires, or was refused; absent for Pix. */
  payload: payloadOf({ paymentId: idOf<PaymentId>(), method: Type.Optional(Type.Unsafe<PaymentMethod>(text)) }),
  subjectOf: ({ paymentId }) => paymentId,
  timer: { keyOf: ({ paymentId, method }) => (method === undefined ? paymentId : `${paymentId} ${method}`) },
});

const stopTimer = (logged: { readonly subject: string }) => [clearTimer(expire, { paymentId: paymentOf(logged) })];

export const expiry = processManager({
  name: 'expiry',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        ChargePixIssued: (logged) => [
          setTimer(expire, { paymentId: paymentOf(logged) }, logged, logged.event.data.expiresAt),
        ],
        ChargeInstrumentIssued: (logged) => {
          const { method, expiresAt } = logged.event.data.instrument;
          return [setTimer(expire, { paymentId: paymentOf(logged), method }, logged, expiresAt)];
        },
        // Issuing may end after all instruments have expired. Their timers did nothing then.
        ChargeInstrumentRefused: (logged) => {
          const { method, at } = logged.event.data;
          return [setTimer(expire, { paymentId: paymentOf(logged), ...(method !== 'PIX' && { method }) }, logged, at)];
        },
        ChargeCancelled: stopTimer,
        TransactionSettled: stopTimer,
        TransactionHeld: stopTimer,
        TransactionPaymentRejected: (logged) =>
          logged.event.data.reason === 'payer_mismatch' ? stopTimer(logged) : [],
        ChargeCancelRequested: nothing,
        TransactionHeldRejected: nothing,
      },
      ignores: [
        'creation',
        'routing',
        'end',
        'resend',
        'progress',
        'release',
        'approval',
        'returns',
        'refund',
        'dispute',
        'erasure',
      ],
    }),
  },
});

interface Needs extends UseCaseNeeds {
  readonly settler: Settler;
}

/**
 * Expires a charge whose last instrument has expired, if none is being issued and the provider knows of no payment. `dueAt`: when its
 * timer was due, if a test clock skipped that instant. Throws UnknownAtProvider if the provider gives no answer; the charge stays pending
 * and the job is retried.
 */
export const expireCharge =
  ({ commands, accounts, settler }: Needs) =>
  async ({ paymentId, method = 'PIX' }: PayloadOf<typeof expire>, dueAt?: Timestamp): Promise<void> => {
    const stream = PAYMENT.stream(paymentId);
    const { state } = await commands.load(PAYMENT, stream);
    const { charge } = state;
    if (charge.status !== 'open' || !isAwaitingMoney(state) || pendingMethods(charge).length > 0) return;
    const { terms, instruments } = charge;
    const expiresAt = lastExpiry(instruments);
    if (expiresAt === null || (dueAt !== undefined && dueAt < expiresAt)) return; // the last instrument has its own timer (I8a)
    // A due timer proves only that its own instrument has expired. For a later instrument, the account's clock decides.
    const isOfLast = instrumentExpiry(instruments, method) === expiresAt;
    const { accountId, mode } = terms;
    const now = await (isOfLast ? accounts.actingAt(accountId, mode, expiresAt) : accounts.now(accountId, mode));
    if (now < expiresAt) return; // another method can still be used
    await settler.settleAll(terms);
    await commands.record(
      PAYMENT,
      stream,
      decideExpiry(now),
      metadataForProcess('expiry', terms, terms.paymentId, terms.paymentId),
    );
  };
