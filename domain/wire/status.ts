// One table of statuses (interface.md "Transaction statuses and their public charge status"); everything shown derives from it.
import { unreachable } from '../kernel/decider.ts';
import type { ExistingPayment } from '../payment/payment.ts';

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

export const transactionStatus = ({ charge, transaction }: ExistingPayment): TransactionStatus => {
  switch (transaction.status) {
    case 'settled':
      return transaction.settlement.method === 'CREDIT_CARD' ? 'APPROVED' : 'PAID';
    case 'held':
    case 'returning':
      return 'PROCESSING';
    case 'returned':
      return 'REFUNDED';
    case 'none':
      break;
    default:
      return unreachable(transaction);
  }
  switch (charge.status) {
    case 'requested':
      return 'PENDING';
    case 'open':
      return 'WAITING_PAYMENT';
    case 'expired':
      return 'EXPIRED';
    case 'failed':
      return 'REFUSED';
    default:
      return unreachable(charge);
  }
};

export const publicStatus = (payment: ExistingPayment): PublicStatus => PUBLIC_STATUS_OF[transactionStatus(payment)];
