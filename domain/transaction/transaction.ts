// The money: what arrived for a charge and what became of it. What was asked for is in charge/.
import type { PaymentMethod } from '../charge/methods.ts';
import { type Decider, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { Minor } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { ChargedFees } from './fees.ts';

/** As the bank names the payer; the document may be missing. */
export interface Payer {
  readonly name: string | null;
  readonly document: string | null;
}

/** One Pix that arrived, as the provider tells it. The end-to-end id is unique in the whole network: the dedup key. */
export interface Receipt {
  readonly endToEndId: string;
  readonly amount: Minor;
  readonly payer: Payer;
  /** The provider's payment time: lateness is judged by it (M4). */
  readonly paidAt: Timestamp;
}

export type RejectionReason = 'wrong_amount' | 'second_payment' | 'charge_ended' | 'payer_mismatch';

export interface Settlement extends ChargedFees {
  readonly receipt: Receipt;
  readonly method: PaymentMethod;
  readonly currency: string;
  /** When the net becomes available; null when it is at once (M2). */
  readonly availableAt: Timestamp | null;
  readonly at: Timestamp;
}

/** The demand was paid in full and the net is the merchant's. Fees are fixed here for ever (M1). */
export type TransactionSettled = Fact<'TransactionSettled', Settlement>;
/** A Pix arrived for a payer-locked charge without a payer document: kept, never credited, until an operator decides (M5). */
export type TransactionHeld = Fact<
  'TransactionHeld',
  { readonly receipt: Receipt; readonly currency: string; readonly at: Timestamp }
>;
/** A Pix arrived that must not be credited; it is owed to the payer in full (M4, M5). */
export type TransactionReceiptRejected = Fact<
  'TransactionReceiptRejected',
  {
    readonly receipt: Receipt;
    readonly currency: string;
    readonly reason: RejectionReason;
    /** Names the return at the provider, so that asking twice returns once. */
    readonly returnId: string;
    readonly at: Timestamp;
  }
>;
/** The provider accepted the return of a rejected Pix. */
export type TransactionReceiptReturned = Fact<
  'TransactionReceiptReturned',
  { readonly endToEndId: string; readonly amount: Minor; readonly currency: string; readonly at: Timestamp }
>;
/** The hold on settled money ended: the net moved from pending to available (M2). */
export type TransactionFundsReleased = Fact<
  'TransactionFundsReleased',
  { readonly amount: Minor; readonly currency: string; readonly at: Timestamp }
>;

export type TransactionEvent =
  | TransactionSettled
  | TransactionHeld
  | TransactionReceiptRejected
  | TransactionReceiptReturned
  | TransactionFundsReleased;

/** Every Pix ever seen for the payment, in order of arrival. */
export interface ReceiptRecord {
  readonly endToEndId: string;
  readonly amount: Minor;
  readonly outcome: 'settled' | 'held' | 'rejected' | 'returned';
  readonly reason: RejectionReason | null;
  readonly returnId: string | null;
}

interface Seen {
  readonly receipts: readonly ReceiptRecord[];
}
export type TransactionState =
  | (Seen & { readonly status: 'none' })
  | (Seen & { readonly status: 'held'; readonly receipt: Receipt })
  /** Payer lock violated; the return is asked for and not yet accepted. */
  | (Seen & { readonly status: 'returning'; readonly receipt: Receipt })
  | (Seen & { readonly status: 'returned'; readonly receipt: Receipt; readonly returnedAt: Timestamp })
  | (Seen & { readonly status: 'settled'; readonly settlement: Settlement; readonly releasedAt: Timestamp | null });

const recordOf = (
  receipt: Receipt,
  outcome: ReceiptRecord['outcome'],
  reason: RejectionReason | null = null,
  returnId: string | null = null,
): ReceiptRecord => ({ endToEndId: receipt.endToEndId, amount: receipt.amount, outcome, reason, returnId });

const returned = (receipts: readonly ReceiptRecord[], endToEndId: string): readonly ReceiptRecord[] =>
  receipts.map((r) => (r.endToEndId === endToEndId && r.outcome === 'rejected' ? { ...r, outcome: 'returned' } : r));

const evolve = (state: TransactionState, event: TransactionEvent): TransactionState => {
  switch (event.type) {
    case 'TransactionSettled': {
      const receipts = [...state.receipts, recordOf(event.data.receipt, 'settled')];
      return { status: 'settled', receipts, settlement: event.data, releasedAt: null };
    }
    case 'TransactionHeld': {
      const { receipt } = event.data;
      return { status: 'held', receipts: [...state.receipts, recordOf(receipt, 'held')], receipt };
    }
    case 'TransactionReceiptRejected': {
      const { receipt, reason, returnId } = event.data;
      const receipts = [...state.receipts, recordOf(receipt, 'rejected', reason, returnId)];
      return reason === 'payer_mismatch' ? { status: 'returning', receipts, receipt } : { ...state, receipts };
    }
    case 'TransactionReceiptReturned': {
      const receipts = returned(state.receipts, event.data.endToEndId);
      return state.status === 'returning' && state.receipt.endToEndId === event.data.endToEndId
        ? { status: 'returned', receipts, receipt: state.receipt, returnedAt: event.data.at }
        : { ...state, receipts };
    }
    case 'TransactionFundsReleased':
      return state.status === 'settled' ? { ...state, releasedAt: event.data.at } : state;
    default:
      return ignore(state, event);
  }
};

export const transaction: Decider<TransactionState, TransactionEvent> = {
  initial: { status: 'none', receipts: [] },
  evolve,
};
