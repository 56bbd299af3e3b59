// An operator's settlement of refused returns (M10), and late confirmations by the provider after a refusal. Both are stored with the
// incoming payment or with the refund.

import type { Fact } from '../kernel/decider.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { RefundId } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import { money, nullable, record, type SerdeTable, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { REFUND } from '../refund/refund.ts';
import {
  type EarlierReturn,
  earlierReturn,
  type HeldPayout,
  type IncomingPaymentRecord,
  type LateConfirmation,
  type Moved,
  moved,
  NO_EARLIER_RETURN,
} from './incomingPayment.ts';
import type { RefundRecord } from './refunds.ts';

/** An operator requested a Pix-out to a Pix key instead. The platform bears the fee; no money has moved yet. */
export type TransactionHeldPayoutRequested = Fact<
  'TransactionHeldPayoutRequested',
  Moved & {
    readonly providerPaymentId: string;
    /** Id of the Pix-out at the provider and of its stream. */
    readonly payoutId: RefundId;
    readonly destination: string;
    readonly fee: Minor;
    readonly reason: string;
    readonly by: string;
  }
>;
/** The Pix-out arrived; nothing is owed to the payer. */
export type TransactionHeldPayoutPaid = Fact<
  'TransactionHeldPayoutPaid',
  Moved & {
    readonly providerPaymentId: string;
    readonly payoutId: RefundId;
    readonly fee: Minor;
    readonly endToEndId: string | null;
  }
>;
/** The provider refused the Pix-out; the money awaits an operator again. */
export type TransactionHeldPayoutFailed = Fact<
  'TransactionHeldPayoutFailed',
  {
    readonly providerPaymentId: string;
    readonly payoutId: RefundId;
    readonly reason: string;
    readonly at: Timestamp;
  }
>;
/** An operator wrote off the money, which becomes the platform's. */
export type TransactionHeldWrittenOff = Fact<
  'TransactionHeldWrittenOff',
  Moved & { readonly providerPaymentId: string; readonly reason: string; readonly by: string }
>;
/**
 * The provider confirmed a return, or the Pix-out in its place, after refusing it and after the money went elsewhere. The amount left the
 * provider twice: it is a claim until an operator writes it off. `id` is that of the return or Pix-out; `fee` is that of a Pix-out.
 */
export type TransactionReturnConfirmedLate = Fact<
  'TransactionReturnConfirmedLate',
  Moved & EarlierReturn & { readonly providerPaymentId: string; readonly id: string; readonly fee: Minor }
>;
/** The provider confirmed a refund after it had failed. The merchant keeps the returned money; the amount is a claim, as above. */
export type TransactionRefundConfirmedLate = Fact<
  'TransactionRefundConfirmedLate',
  Moved & { readonly refundId: RefundId; readonly fee: Minor; readonly endToEndId: string | null }
>;
/** An operator wrote off such a claim, which the platform bears. `id` is that of the return, Pix-out or refund. */
export type TransactionLateConfirmationWrittenOff = Fact<
  'TransactionLateConfirmationWrittenOff',
  Moved & { readonly id: string; readonly reason: string; readonly by: string }
>;
export type HeldSettlementEvent =
  | TransactionHeldPayoutRequested
  | TransactionHeldPayoutPaid
  | TransactionHeldPayoutFailed
  | TransactionHeldWrittenOff
  | TransactionReturnConfirmedLate
  | TransactionRefundConfirmedLate
  | TransactionLateConfirmationWrittenOff;

export const HELD_SETTLEMENT = partition<HeldSettlementEvent>()({
  payout: ['TransactionHeldPayoutRequested', 'TransactionHeldPayoutFailed'],
  gone: ['TransactionHeldPayoutPaid', 'TransactionHeldWrittenOff'],
  late: ['TransactionReturnConfirmedLate', 'TransactionRefundConfirmedLate', 'TransactionLateConfirmationWrittenOff'],
});

export const heldSettlementSerde: SerdeTable<HeldSettlementEvent> = {
  TransactionHeldPayoutRequested: {
    version: 1,
    shape: record({
      providerPaymentId: text(),
      payoutId: text(),
      ...moved,
      destination: text(),
      fee: money,
      reason: text(),
      by: text(),
    }),
    personal: ['destination', 'reason'],
  },
  TransactionHeldPayoutPaid: {
    version: 1,
    shape: record({ providerPaymentId: text(), payoutId: text(), ...moved, fee: money, endToEndId: nullable(text()) }),
    personal: [],
  },
  TransactionHeldPayoutFailed: {
    version: 1,
    shape: record({ providerPaymentId: text(), payoutId: text(), reason: text(), at: time }),
    personal: ['reason'],
  },
  TransactionHeldWrittenOff: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...moved, reason: text(), by: text() }),
    personal: ['reason'],
  },
  TransactionReturnConfirmedLate: {
    version: 1,
    shape: record({ providerPaymentId: text(), id: text(), ...moved, fee: money, ...earlierReturn }),
    personal: [],
    unsaid: NO_EARLIER_RETURN,
  },
  TransactionRefundConfirmedLate: {
    version: 1,
    shape: record({ refundId: text(), ...moved, fee: money, endToEndId: nullable(text()) }),
    personal: [],
  },
  TransactionLateConfirmationWrittenOff: {
    version: 1,
    shape: record({ id: text(), ...moved, reason: text(), by: text() }),
    personal: ['reason'],
  },
};

type RecordEvent = Exclude<HeldSettlementEvent, TransactionRefundConfirmedLate | TransactionLateConfirmationWrittenOff>;

const withPayout = (
  { payouts = [] }: IncomingPaymentRecord,
  id: RefundId,
  outcome: HeldPayout['outcome'],
): Pick<IncomingPaymentRecord, 'payouts'> => ({
  payouts: payouts.map((one) => (one.payoutId === id ? { ...one, outcome } : one)),
});

/** Returns the incoming payment after an event that names it. */
export const evolveHeldRecord = (record: IncomingPaymentRecord, event: RecordEvent): IncomingPaymentRecord => {
  switch (event.type) {
    case 'TransactionHeldPayoutRequested': {
      const { payoutId, destination, amount, fee, at: requestedAt } = event.data;
      const payout: HeldPayout = { payoutId, destination, amount, fee, requestedAt, outcome: 'requested' };
      return { ...record, outcome: 'payingOut', payouts: [...(record.payouts ?? []), payout] };
    }
    case 'TransactionHeldPayoutPaid':
      return {
        ...record,
        ...withPayout(record, event.data.payoutId, 'paid'),
        outcome: 'paidOut',
        lastMovedAt: event.data.at,
      };
    case 'TransactionHeldPayoutFailed': {
      const { payoutId, reason, at } = event.data;
      const number = (record.refusal?.number ?? 0) + 1;
      return {
        ...record,
        ...withPayout(record, payoutId, 'failed'),
        outcome: 'unreturned',
        refusal: { reason, at, number },
      };
    }
    case 'TransactionHeldWrittenOff':
      return { ...record, outcome: 'writtenOff', lastMovedAt: event.data.at };
    case 'TransactionReturnConfirmedLate': {
      const { id, amount, at } = event.data;
      return { ...record, late: [...(record.late ?? []), { id, amount, at, isWrittenOff: false }] };
    }
    default:
      return event satisfies never;
  }
};

/** Returns the refund after its late confirmation. */
export const evolveLateRefund = (refund: RefundRecord, { data }: TransactionRefundConfirmedLate): RefundRecord => {
  const { refundId, amount, at } = data;
  const id = REFUND.idPrefix + refundId;
  return refund.refundId === refundId ? { ...refund, late: { id, amount, at, isWrittenOff: false } } : refund;
};

/** Returns the record with the late confirmation of this id marked as written off. */
export const writtenOffLate = <T extends { readonly late?: LateConfirmation | readonly LateConfirmation[] }>(
  one: T,
  id: string,
): T => {
  const { late } = one;
  if (late === undefined) return one;
  const of = (it: LateConfirmation): LateConfirmation => (it.id === id ? { ...it, isWrittenOff: true } : it);
  return { ...one, late: 'id' in late ? of(late) : late.map(of) };
};
