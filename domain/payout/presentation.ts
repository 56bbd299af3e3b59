// The public view of a requested payout and its webhook messages (rules Y2, W9).

import { PREFIX } from '../kernel/ids.ts';
import type { Message, Publisher } from '../kernel/publisher.ts';
import {
  maskedPixKey,
  PAYOUT_EVENTS,
  type PayoutStatus,
  type PayoutStep,
  type PayoutView,
  stepMessages,
} from '../presentation/payout.ts';
import type { TransactionStatus } from '../presentation/status.ts';
import type { Payout, PayoutEvent, PayoutState } from './payout.ts';

const STATUS: { readonly [S in Payout['status']]: PayoutStatus } = {
  awaitingApproval: 'pending',
  ready: 'pending',
  submitted: 'processing',
  unknown: 'processing',
  paid: 'paid',
  failed: 'failed',
  rejected: 'failed',
  cancelled: 'cancelled',
};

export const payoutStatus = ({ status }: Payout): PayoutStatus => STATUS[status];

const failureReason = (payout: Payout): string | null => {
  if (payout.status === 'rejected') return 'rejected';
  return payout.status === 'failed' ? payout.reason : null;
};

export const requestedPayoutView = (payout: Payout): PayoutView => {
  const { payoutId, amount, currency, destination, fee, description, metadata } = payout.terms;
  return {
    id: PREFIX.payout + payoutId,
    object: 'payout',
    amount,
    currency,
    status: payoutStatus(payout),
    method: 'pix',
    destination: maskedPixKey(destination),
    refund_id: null,
    charge_id: null,
    fee,
    end_to_end_id: payout.status === 'paid' ? payout.endToEndId : null,
    failure_reason: failureReason(payout),
    created_at: payout.requestedAt,
    paid_at: payout.status === 'paid' ? payout.paidAt : null,
    description,
    metadata,
    awaiting_approval: payout.status === 'awaitingApproval',
  };
};

const STEP: { readonly [Type in PayoutEvent['type']]: PayoutStep | null } = {
  PayoutRequested: 'created',
  PayoutAbandoned: null,
  PayoutApproved: null,
  PayoutRejected: 'failed',
  PayoutCancelled: 'cancelled',
  PayoutSubmitted: null,
  PayoutOutcomeUnknown: null,
  PayoutOutcomeEntered: null,
  PayoutPaid: 'paid',
  PayoutFailed: 'failed',
  PayoutConfirmedLate: 'paid',
  PayoutPersonalDataErased: null,
};

const LEGACY_STATUS: { readonly [S in PayoutStatus]: TransactionStatus } = {
  pending: 'PENDING',
  processing: 'PROCESSING',
  paid: 'PAID',
  failed: 'REFUSED',
  cancelled: 'CANCELLED',
};

/** Returns the messages of a payout event; none if the event is internal. */
const messagesOf = (before: PayoutState, event: PayoutEvent, after: PayoutState): readonly Message[] => {
  const step = STEP[event.type];
  if (step === null || after.status === 'absent') return [];
  const { payoutId, amount } = after.terms;
  return stepMessages(
    step,
    event.data.at,
    amount,
    () => requestedPayoutView(after),
    () => ({ transactionId: PREFIX.transaction + payoutId, withdrawalId: PREFIX.payout + payoutId }),
    before.status === 'absent' ? 'PENDING' : LEGACY_STATUS[payoutStatus(before)],
  );
};

export const payoutPublisher: Publisher<PayoutState, PayoutEvent> = {
  catalogue: PAYOUT_EVENTS,
  isPublished: ({ type }) => STEP[type] !== null,
  messagesOf,
};
