// The ledger postings of payout events: the money leaves the wallet when requested, and the ledger when paid (Y4).
import { reading } from '../kernel/eventGroups.ts';
import { entry, type JournalEntry, type LedgerAccount, type Postings } from '../kernel/journal.ts';
import { negate } from '../kernel/money.ts';
import {
  PAYOUT_GROUPS,
  type PayoutConfirmedLate,
  type PayoutEvent,
  type PayoutPaid,
  type PayoutRequested,
  takenBy,
} from './payout.ts';

type Moved = Pick<PayoutRequested['data'], 'amount' | 'fee' | 'currency' | 'at'>;

const moved = (data: Moved, from: LedgerAccount, to: LedgerAccount): JournalEntry => {
  const total = takenBy(data);
  return entry(data.at, data.currency, [
    [from, negate(total)],
    [to, total],
  ]);
};

const paidFrom = (data: Moved, from: LedgerAccount): JournalEntry =>
  entry(data.at, data.currency, [
    [from, negate(takenBy(data))],
    ['provider_clearing', data.amount],
    ['provider_fees', data.fee],
  ]);

const movesMoney = reading(PAYOUT_GROUPS, {
  reads: ['request', 'review', 'end'],
  nothing: ['PayoutAbandoned', 'PayoutApproved'],
  ignores: ['underWay', 'erasure'],
});

const entryOf = (event: PayoutEvent): JournalEntry | null => {
  if (!movesMoney(event)) return null;
  switch (event.type) {
    case 'PayoutRequested':
      return moved(event.data, 'merchant_available', 'payouts_in_transit');
    case 'PayoutRejected':
    case 'PayoutCancelled':
    case 'PayoutFailed':
      return moved(event.data, 'payouts_in_transit', 'merchant_available');
    case 'PayoutPaid':
      return paidFrom(event.data, 'payouts_in_transit');
    case 'PayoutConfirmedLate':
      return paidFrom(event.data, 'merchant_available');
    default:
      return event satisfies never;
  }
};

const sentAs = ({ data }: PayoutPaid | PayoutConfirmedLate): string =>
  data.endToEndId === null ? '' : ` (${data.endToEndId})`;

const whyOf = (event: PayoutEvent): string | null => {
  if (!movesMoney(event)) return null;
  switch (event.type) {
    case 'PayoutRequested':
      return 'the merchant requested the payout';
    case 'PayoutRejected':
      return `${event.data.by} rejected the payout`;
    case 'PayoutCancelled':
      return 'the merchant cancelled the payout';
    case 'PayoutFailed':
      return `the payout failed: ${event.data.reason}`;
    case 'PayoutPaid':
      return `the bank paid the payout${sentAs(event)}`;
    case 'PayoutConfirmedLate':
      return `the bank confirmed the payout after it had failed${sentAs(event)}`;
    default:
      return event satisfies never;
  }
};

const ACCOUNTS = {
  payouts_in_transit: ['on its way to the merchant', 'arrived at the merchant, or returned'],
} as const;
declare module '../kernel/journal.ts' {
  interface LedgerAccounts {
    readonly payout: keyof typeof ACCOUNTS;
  }
}

export const payoutPostings: Postings<PayoutEvent> = {
  accounts: ACCOUNTS,
  idleTypes: movesMoney.unread,
  entryOf,
  whyOf,
};
