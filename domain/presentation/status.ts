// The only table of statuses (contract.md "Transaction statuses and their public charge status"). All shown statuses derive from it.
import { unreachable } from '../kernel/decider.ts';
import { type Minor, ZERO } from '../kernel/money.ts';
import type { ExistingPayment } from '../payment/payment.ts';
import { isDisputed } from '../transaction/disputes.ts';
import { refundedAmount } from '../transaction/refunds.ts';
import type { SettledTransaction } from '../transaction/transaction.ts';

export const PUBLIC_STATUS_OF = {
  PENDING: 'pending',
  WAITING_PAYMENT: 'pending',
  PROCESSING: 'processing',
  PAID: 'paid',
  APPROVED: 'paid',
  REFUSED: 'failed',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  REFUNDED: 'refunded',
  CHARGEBACK: 'disputed',
  DISPUTE: 'disputed',
} as const;

export type TransactionStatus = keyof typeof PUBLIC_STATUS_OF;
export type PublicStatus = (typeof PUBLIC_STATUS_OF)[TransactionStatus];

/** Returns the status. Received money decides first, then the end of the charge, then work in progress. */
export const transactionStatus = ({ charge, transaction }: ExistingPayment): TransactionStatus => {
  switch (transaction.status) {
    case 'settled':
      return settledStatus(transaction);
    case 'held':
    case 'returning':
      return 'PROCESSING';
    case 'returned':
      return 'REFUNDED';
    case 'refused':
      return 'REFUSED';
    case 'none':
    case 'processing':
      return charge.status === 'open' && transaction.status === 'processing'
        ? 'PROCESSING'
        : UNPAID_STATUS[charge.status];
    default:
      return unreachable(transaction);
  }
};

const UNPAID_STATUS = {
  requested: 'PENDING',
  open: 'WAITING_PAYMENT',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
  failed: 'REFUSED',
} as const;

const settledStatus = ({ settlement, refunds, dispute }: SettledTransaction): TransactionStatus => {
  if (isDisputed(dispute)) return dispute.kind;
  if (refundedAmount(refunds) === settlement.incoming.amount) return 'REFUNDED';
  return settlement.method === 'CREDIT_CARD' ? 'APPROVED' : 'PAID';
};

/** Returns the amount returned to the payer: completed refunds, or the full amount of a payer-lock return (I15). */
export const amountRefunded = ({ transaction }: ExistingPayment): Minor => {
  if (transaction.status === 'returned') return transaction.incoming.amount;
  return transaction.status === 'settled' ? refundedAmount(transaction.refunds) : ZERO;
};

export const publicStatus = (payment: ExistingPayment): PublicStatus => PUBLIC_STATUS_OF[transactionStatus(payment)];

export const TRANSACTION_STATUSES = Object.keys(PUBLIC_STATUS_OF) as readonly TransactionStatus[];

/** Returns the transaction statuses that a public status covers, for filtering lists. */
export const transactionStatusesOf = (status: PublicStatus): readonly TransactionStatus[] =>
  TRANSACTION_STATUSES.filter((one) => PUBLIC_STATUS_OF[one] === status);
export const PUBLIC_STATUSES: readonly PublicStatus[] = [...new Set(Object.values(PUBLIC_STATUS_OF))];
