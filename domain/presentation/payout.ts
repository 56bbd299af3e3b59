// The public view of payouts, both requested ones and the Pix-outs of cash-out refunds, and their webhook messages of both families
// (rules M6, M11, Y2, W9).

import type { Json } from '../kernel/json.ts';
import { type Minor, ZERO } from '../kernel/money.ts';
import type { Message } from '../kernel/publisher.ts';
import { ERASED } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { pixKeyKind } from '../pix/pixKey.ts';
import { canonicalEvents, canonicalMessage, legacyEvents, legacyMessage } from './envelope.ts';
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
  /** Masked; null for the payer's own document, which is never shown. */
  readonly destination: string | null;
  /** Id of the cash-out refund; null for a requested payout. */
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

/** Returns the part of a Pix key that is shown: enough to recognize it. Random keys are shown in full, as they reveal nothing. */
export const maskedPixKey = (key: string): string => {
  if (key === ERASED) return key;
  const kind = pixKeyKind(key);
  if (kind === 'random') return key;
  return kind === 'email'
    ? `${key.charAt(0)}***${key.slice(key.indexOf('@'))}`
    : `${key.slice(0, 3)}***${key.slice(-2)}`;
};

export const PAYOUT_EVENTS = [
  ...canonicalEvents({
    'payout.created': 'Payout requested.',
    'payout.paid': 'Payout settled.',
    'payout.failed': 'Payout failed or was rejected.',
  }),
  ...legacyEvents({
    'withdrawal.created': 'Withdrawal requested.',
    'withdrawal.completed': 'Withdrawal settled.',
    'withdrawal.failed': 'Withdrawal failed or was rejected.',
    'withdrawal.status_changed': 'The status of a withdrawal changed.',
  }),
];

export type PayoutStep = 'created' | 'paid' | 'failed' | 'cancelled';

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

/** Fields of a legacy message about the payout besides id, amount and status. */
interface WithdrawalLabels {
  readonly transactionId: string;
  readonly withdrawalId: string;
  readonly refundId?: string;
  readonly customerId?: string;
}

/**
 * Returns the messages of a step. As with payments, creation is not a change of status (W9a). Once PAID, the legacy message has the fields
 * of its paid envelope (contract.md Legacy envelope). The fee of a Pix-out is added to its amount (M11).
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
