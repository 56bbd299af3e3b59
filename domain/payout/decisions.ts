// Decisions about payouts. Cancellation, review and the bank's report are decided on the payout's stream, so that only one of them wins.
import type { Decision } from '../kernel/decider.ts';
import { type EnteredOutcome, enteredAgain, NOT_EXECUTED, notEnterable } from '../kernel/enteredOutcome.ts';
import { type Fingerprinted, isSameRequest, newFingerprint } from '../kernel/fingerprint.ts';
import type { UserId } from '../kernel/ids.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import {
  type AtBank,
  isAtBank,
  isPending,
  type Payout,
  type PayoutEvent,
  type PayoutState,
  type PayoutTerms,
} from './payout.ts';

export interface RequestPayout extends Fingerprinted {
  readonly terms: PayoutTerms;
  /** Value when the money was reserved. Money freed since then can't be spent. */
  readonly abandoned: number;
}

/** A requested payout, and whether the request replayed an earlier one (K3). */
export interface RequestedPayout {
  readonly payout: Payout;
  readonly replayed: boolean;
}

export const NO_PAYOUT: Rejection = reject('not_found', 'There is no such payout.');
export const NOT_CANCELLABLE: Rejection = reject('payout_not_cancellable', 'Only a pending payout can be cancelled.');
export const NOT_AWAITING_APPROVAL: Rejection = reject(
  'payout_not_awaiting_approval',
  'This payout doesn’t await approval.',
);

/**
 * Requests a payout. A repeat is replayed, or rejected with `idempotency_key_reused`. If the reserved money was freed in the meantime,
 * rejects with `service_unavailable`; a retry may succeed.
 */
export const requestPayout =
  (wish: RequestPayout, at: Timestamp): Decision<PayoutState, PayoutEvent, RequestedPayout> =>
  (state) => {
    if (state.status !== 'absent') return replay(state, wish);
    if (state.abandoned !== wish.abandoned)
      return reject('service_unavailable', 'The request took too long. Repeat it with the same Idempotency-Key.');
    const { terms } = wish;
    const fingerprint = newFingerprint(wish);
    return {
      events: [{ type: 'PayoutRequested', data: { ...terms, fingerprint, at } }],
      reply: { payout: asRequested({ terms, fingerprint, requestedAt: at }), replayed: false },
    };
  };

const asRequested = ({ terms, fingerprint, requestedAt }: Omit<Payout, 'status'>): Payout => ({
  status: terms.awaitsApproval ? 'awaitingApproval' : 'ready',
  terms,
  fingerprint,
  requestedAt,
});

const replay = (before: Payout, wish: Fingerprinted) =>
  isSameRequest(before.fingerprint, wish)
    ? { events: [], reply: { payout: asRequested(before), replayed: true } }
    : reject('idempotency_key_reused', 'This Idempotency-Key was already used with a different payout.', {
        param: 'Idempotency-Key',
      });

/** Frees the money of an interrupted request. No-op if the payout is already recorded. */
export const abandonRequest =
  (at: Timestamp): Decision<PayoutState, PayoutEvent, 'abandoned' | 'requested'> =>
  (state) =>
    state.status === 'absent'
      ? { events: [{ type: 'PayoutAbandoned', data: { at } }], reply: 'abandoned' }
      : { events: [], reply: 'requested' };

const moneyOf = ({ terms: { amount, fee, currency } }: Payout) => ({ amount, fee, currency });

/** Cancels a payout. No-op if already cancelled. Rejects one that is at the bank or has ended with `payout_not_cancellable`. */
export const cancelPayout =
  (at: Timestamp): Decision<PayoutState, PayoutEvent, 'cancelled'> =>
  (state) => {
    if (state.status === 'absent') return NO_PAYOUT;
    if (state.status === 'cancelled') return { events: [], reply: 'cancelled' };
    return isPending(state)
      ? { events: [{ type: 'PayoutCancelled', data: { ...moneyOf(state), at } }], reply: 'cancelled' }
      : NOT_CANCELLABLE;
  };

/** The reviewer of a payout. A null `userId` is an operator at a terminal. */
export interface Reviewer {
  readonly actor: string;
  readonly userId: UserId | null;
}
export type Review =
  | { readonly verdict: 'approved' }
  | { readonly verdict: 'rejected'; readonly reason: string | null };

/**
 * Approves or rejects a payout. Checks in order: it exists (`not_found`), the reviewer neither requested it nor issued the key that did
 * (`role_required`), it awaits approval (`payout_not_awaiting_approval`).
 */
export const reviewPayout =
  (review: Review, reviewer: Reviewer, at: Timestamp): Decision<PayoutState, PayoutEvent, Review['verdict']> =>
  (state) => {
    if (state.status === 'absent') return NO_PAYOUT;
    if (isRequester(state.terms, reviewer))
      return reject(
        'role_required',
        'You requested this payout, or issued the key that did. Someone else must review it.',
      );
    if (state.status !== 'awaitingApproval') return NOT_AWAITING_APPROVAL;
    const { actor: by } = reviewer;
    const { verdict } = review;
    const event: PayoutEvent =
      verdict === 'approved'
        ? { type: 'PayoutApproved', data: { by, at } }
        : { type: 'PayoutRejected', data: { ...moneyOf(state), by, reason: review.reason, at } };
    return { events: [event], reply: verdict };
  };

const isRequester = ({ requestedBy, keyIssuer }: PayoutTerms, { userId, actor }: Reviewer): boolean =>
  userId !== null && (keyIssuer === userId || requestedBy === actor);

/** Records that the payout is being sent to the bank, which rules out cancellation. No-op if already submitted or ended. */
export const submitPayout =
  (at: Timestamp): Decision<PayoutState, PayoutEvent, 'submitted' | 'nothing'> =>
  (state) =>
    state.status === 'ready'
      ? { events: [{ type: 'PayoutSubmitted', data: { at } }], reply: 'submitted' }
      : { events: [], reply: isAtBank(state) ? 'submitted' : 'nothing' };

export type PayoutOutcome =
  | { readonly kind: 'processing' }
  | { readonly kind: 'confirmed'; readonly endToEndId: string | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

/** Records the bank's outcome, even a confirmation after a failure. No-op if already recorded or ended. */
export const recordPayoutOutcome =
  (outcome: PayoutOutcome, at: Timestamp): Decision<PayoutState, PayoutEvent, 'recorded' | 'nothing'> =>
  (state) => {
    const event = isAtBank(state) ? eventOf(state, outcome, at) : lateEventOf(state, outcome, at);
    return event === null ? { events: [], reply: 'nothing' } : { events: [event], reply: 'recorded' };
  };

/**
 * Ends a payout with the outcome that an operator found out. No-op if it ended so. Rejects with `not_found`, or with `invalid_request` if
 * it ended otherwise, was not sent yet, or was sent less than a day ago.
 */
export const enterPayoutOutcome =
  (entered: EnteredOutcome, at: Timestamp): Decision<PayoutState, PayoutEvent, 'entered' | 'known'> =>
  (state) => {
    if (state.status === 'absent') return NO_PAYOUT;
    if (state.status === 'paid' || state.status === 'failed')
      return enteredAgain(state.status === 'paid' ? 'done' : 'refused', entered);
    const refusal = notEnterable(isAtBank(state) ? state.submittedAt : null, at);
    if (refusal !== null) return refusal;
    const end: PayoutEvent =
      entered.outcome === 'done'
        ? { type: 'PayoutPaid', data: { ...moneyOf(state), endToEndId: null, at } }
        : { type: 'PayoutFailed', data: { ...moneyOf(state), reason: NOT_EXECUTED, at } };
    return { events: [{ type: 'PayoutOutcomeEntered', data: { ...entered, at } }, end], reply: 'entered' };
  };

const lateEventOf = (state: PayoutState, outcome: PayoutOutcome, at: Timestamp): PayoutEvent | null =>
  state.status === 'failed' && outcome.kind === 'confirmed'
    ? { type: 'PayoutConfirmedLate', data: { ...moneyOf(state), endToEndId: outcome.endToEndId, at } }
    : null;

const eventOf = (state: AtBank, outcome: PayoutOutcome, at: Timestamp): PayoutEvent | null => {
  switch (outcome.kind) {
    case 'processing':
      return null;
    case 'unknown':
      return state.status === 'unknown' ? null : { type: 'PayoutOutcomeUnknown', data: { at } };
    case 'confirmed':
      return { type: 'PayoutPaid', data: { ...moneyOf(state), endToEndId: outcome.endToEndId, at } };
    case 'refused':
      return { type: 'PayoutFailed', data: { ...moneyOf(state), reason: outcome.reason, at } };
    default:
      return outcome satisfies never;
  }
};
