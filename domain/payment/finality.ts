// When a payment ended: its money is where it belongs, and no decision is left (rule L3).
import { later, type Timestamp } from '../kernel/time.ts';
import type { TransactionState } from '../transaction/transaction.ts';
import { heldMoney } from './heldMoney.ts';
import type { ExistingPayment } from './payment.ts';
import { pendingWork } from './pendingWork.ts';

/** Returns why the payment has not ended yet, as the end of a sentence, or null if it has. */
export const unfinishedBecause = (payment: ExistingPayment): string | null => {
  const { charge, transaction } = payment;
  if (transaction.status === 'settled') {
    const { dispute } = transaction;
    if (dispute !== null && (dispute.moneyOutcome === null || dispute.settling === 'awaited'))
      return 'a dispute of it is open';
  } else if (charge.status === 'requested' || charge.status === 'open') {
    const isEnded = transaction.status === 'returned' || transaction.status === 'refused';
    if (!isEnded) return 'it can still be paid';
  }
  if (heldMoney(payment).length > 0) return 'money of it awaits an operator';
  return transaction.status === 'held' || transaction.status === 'returning' || pendingWork(payment).length > 0
    ? 'money of it is under way'
    : null;
};

/** Returns the latest time of a change that the payment's state records. */
export const endOf = ({ charge, transaction }: ExistingPayment): Timestamp => {
  const times: (Timestamp | null | undefined)[] = [
    charge.terms.createdAt,
    'failure' in charge ? charge.failure.at : null,
    ...timesOf(transaction),
  ];
  return times.reduce<Timestamp>((last, at) => (at == null ? last : later(last, at)), charge.terms.createdAt);
};

const timesOf = (transaction: TransactionState): readonly (Timestamp | null | undefined)[] => {
  const seen = transaction.incomingPayments.flatMap(({ refusal, payouts = [], late = [], lastMovedAt }) => [
    refusal?.at,
    lastMovedAt,
    ...payouts.map(({ requestedAt }) => requestedAt),
    ...late.map(({ at }) => at),
  ]);
  switch (transaction.status) {
    case 'none':
    case 'processing':
      return seen;
    case 'refused':
      return [...seen, transaction.failure.at];
    case 'held':
    case 'returning':
      return [...seen, transaction.incoming.paidAt];
    case 'returned':
      return [...seen, transaction.returnedAt];
    case 'settled': {
      const { settlement, releasedAt, refunds, dispute } = transaction;
      const ofRefunds = refunds.flatMap(({ requestedAt, outcome, late }) => [
        requestedAt,
        late?.at,
        'at' in outcome ? outcome.at : null,
      ]);
      return [...seen, settlement.at, settlement.availableAt, releasedAt, ...ofRefunds, dispute?.lastEventAt];
    }
    default:
      return transaction satisfies never;
  }
};
