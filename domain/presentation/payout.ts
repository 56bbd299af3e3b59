// Payouts as the outside sees them: the public object of requested payouts and of the Pix-outs of cash-out refunds, and their webhook
// messages of both families (rules M6, M11, Y2, W9).

import type { Json } from '../kernel/json.ts';
import { type Minor, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { PAYMENT } from '../payment/payment.ts';
import { PAYOUT, type Payout, type PayoutEvent, type PayoutState } from '../payout/payout.ts';

import { pixKeyKind } from '../pix/pixKey.ts';
import { canonicalMessage, legacyMessage, type Message } from './envelope.ts';
import type { Publisher } from './publisher.ts';
import type { TransactionStatus } from './status.ts';

export const PAYOUT_STATUSES = ['pending', 'processing', 'paid', 'failed', 'cancelled'] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];

export interface PayoutView {
  readonly id: string;
  readonly object: 'payout';
  readonly amount: Minor;
  readonly currency: string;
  readonly status: PayoutStatus;
  readonly method: 'pix';
  /** Masked; null: the payer's own document, which is never shown. */
  readonly destination: string | null;
  /** Of a cash-out refund; null: the payout was requested. */
  readonly refund_id: string | null;
  readonly charge_id: string | null;
  readonly fee: Minor;
  readonly end_to_end_id: string | null;
  readonly failure_reason: string | null;
  readonly created_at: Timestamp;
  readonly paid_at: Timestamp | null;
  readonly description: string | null;
  readonly metadata: { readonly [key: string]: Json };
  readonly awaiting_approval: boolean;
}

/** Returns what is shown of a Pix key: enough to recognise it. A random key says nothing about anyone. */
export const maskedPixKey = (key: string): string => {
  const kind = pixKeyKind(key);
  if (kind === 'random') return key;
  return kind === 'email'
    ? `${key.charAt(0)}***${key.slice(key.indexOf('@'))}`
    : `${key.slice(0, 3)}***${key.slice(-2)}`;
};

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
    id: PAYOUT.idPrefix + payoutId,
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

// --- Messages ---

type PayoutStep = 'created' | 'paid' | 'failed' | 'cancelled';

const PUBLISHED: {
  readonly [S in PayoutStep]: {
    readonly type: string;
    readonly legacy: string;
    readonly status: TransactionStatus;
  };
} = {
  created: { type: 'payout.created', legacy: 'withdrawal.created', status: 'PENDING' },
  paid: { type: 'payout.paid', legacy: 'withdrawal.completed', status: 'PAID' },
  failed: { type: 'payout.failed', legacy: 'withdrawal.failed', status: 'REFUSED' },
  cancelled: { type: 'payout.failed', legacy: 'withdrawal.failed', status: 'CANCELLED' },
};

/** What a legacy message says of the payout beyond its id, amount and status. */
interface WithdrawalLabels {
  readonly transactionId: string;
  readonly withdrawalId: string;
  readonly refundId?: string;
  readonly customerId?: string;
}

/**
 * The messages of a step. As with payments, creation is no change of status (W9a). Once PAID the legacy one has the fields that its
 * envelope has then (contract.md Legacy envelope). The fee of a Pix-out comes on top of its amount (M11).
 */
export const stepMessages = (
  step: PayoutStep,
  at: Timestamp,
  amount: Minor,
  view: () => PayoutView,
  labels: () => WithdrawalLabels,
  previousStatus: TransactionStatus = 'PENDING',
): readonly Message[] => {
  const { type, legacy, status } = PUBLISHED[step];
  const data = () => {
    const { customerId, ...ids } = labels();
    return {
      ...ids,
      amount,
      status,
      previousStatus,
      ...(status === 'PAID' && { paidWith: 'PIX', providerFee: ZERO, platformFee: ZERO, netAmount: amount }),
      occurredAt: at,
      ...(customerId !== undefined && { customerId }),
    };
  };
  return [
    canonicalMessage(type, at, view),
    legacyMessage(legacy, at, data),
    ...(step === 'created' ? [] : [legacyMessage('withdrawal.status_changed', at, data)]),
  ];
};

const STEP: { readonly [Type in PayoutEvent['type']]: PayoutStep | null } = {
  PayoutRequested: 'created',
  PayoutAbandoned: null,
  PayoutApproved: null,
  PayoutRejected: 'failed',
  PayoutCancelled: 'cancelled',
  PayoutSubmitted: null,
  PayoutOutcomeUnknown: null,
  PayoutPaid: 'paid',
  PayoutFailed: 'failed',
  PayoutConfirmedLate: 'paid',
};

const LEGACY_STATUS: { readonly [S in PayoutStatus]: TransactionStatus } = {
  pending: 'PENDING',
  processing: 'PROCESSING',
  paid: 'PAID',
  failed: 'REFUSED',
  cancelled: 'CANCELLED',
};

/** Returns the messages that one event of a requested payout publishes; none when it is internal. */
export const requestedPayoutMessages = (
  before: PayoutState,
  event: PayoutEvent,
  after: PayoutState,
): readonly Message[] => {
  const step = STEP[event.type];
  if (step === null || after.status === 'absent') return [];
  const { payoutId, amount } = after.terms;
  return stepMessages(
    step,
    event.data.at,
    amount,
    () => requestedPayoutView(after),
    () => ({ transactionId: PAYMENT.idPrefix + payoutId, withdrawalId: PAYOUT.idPrefix + payoutId }),
    before.status === 'absent' ? 'PENDING' : LEGACY_STATUS[payoutStatus(before)],
  );
};

export const payoutPublisher: Publisher<PayoutState, PayoutEvent> = {
  isPublished: ({ type }) => STEP[type] !== null,
  messagesOf: requestedPayoutMessages,
};
