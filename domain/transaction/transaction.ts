// The transaction: money that arrived for a charge, and its outcome. The request for it is in charge/.

import { PAYMENT_METHODS, type PaymentMethod } from '../charge/methods.ts';
import { type Decider, type Fact, ignore } from '../kernel/decider.ts';
import { type EnteredOutcome, enteredFields } from '../kernel/enteredOutcome.ts';
import { partition } from '../kernel/eventGroups.ts';
import { flag, money, nullable, oneOf, record, type SerdeTable, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { DISPUTE, type DisputeEvent, type DisputeRecord, disputeSerde, evolveDispute } from './disputes.ts';
import type { ChargedFees } from './fees.ts';
import {
  evolveHeldRecord,
  evolveLateRefund,
  HELD_SETTLEMENT,
  type HeldSettlementEvent,
  heldSettlementSerde,
  writtenOffLate,
} from './heldSettlement.ts';
import {
  type EarlierReturn,
  earlierReturn,
  type IncomingPayment,
  type IncomingPaymentRecord,
  isNamed,
  type Moved,
  moved,
  NO_EARLIER_RETURN,
  type Payer,
  type RejectionReason,
  recordOf,
  replaced,
} from './incomingPayment.ts';
import {
  evolveRefunds,
  REFUND_MOVEMENTS,
  type RefundMovement,
  type RefundRecord,
  refundMovementSerde,
} from './refunds.ts';
import {
  disputeAfterReturn,
  evolveOutside,
  returnedOutsideSerde,
  type TransactionReturnedOutside,
} from './returnedOutside.ts';

export interface Settlement extends ChargedFees {
  readonly incoming: IncomingPayment;
  readonly method: PaymentMethod;
  readonly currency: string;
  /** When the net becomes available; null for immediately (M2). */
  readonly availableAt: Timestamp | null;
  readonly at: Timestamp;
}

/** The payer started to pay: a card payment or its 3DS check is in progress. */
export type TransactionProcessing = Fact<
  'TransactionProcessing',
  { readonly method: PaymentMethod; readonly at: Timestamp }
>;
/** Acquirer or issuer declined the method. `isFinal`: it was the last remaining method. */
export type TransactionRefused = Fact<
  'TransactionRefused',
  {
    readonly method: PaymentMethod;
    readonly reason: string;
    readonly providerErrorCode: string;
    readonly isFinal: boolean;
    readonly at: Timestamp;
  }
>;
/** The charge was paid in full and the net belongs to the merchant. This fixes the fees permanently (M1). */
export type TransactionSettled = Fact<'TransactionSettled', Settlement>;
/** A Pix without a payer document arrived for a payer-locked charge. It is not credited until an operator decides (M5). */
export type TransactionHeld = Fact<
  'TransactionHeld',
  { readonly incoming: IncomingPayment; readonly currency: string; readonly at: Timestamp }
>;
/** An operator released a held Pix, which is credited in the same append. */
export type TransactionHeldReleased = Fact<
  'TransactionHeldReleased',
  Moved & { readonly providerPaymentId: string; readonly by: string }
>;
/** A held Pix is being returned, because an operator decided so or the merchant cancelled the payment. */
export type TransactionHeldRejected = Fact<
  'TransactionHeldRejected',
  Moved & {
    readonly providerPaymentId: string;
    readonly returnId: string;
    readonly reason: 'operator' | 'cancelled';
    readonly by: string;
  }
>;
/** A payment arrived that must not be credited; it is owed to the payer in full (M4, M5). */
export type TransactionPaymentRejected = Fact<
  'TransactionPaymentRejected',
  {
    readonly incoming: IncomingPayment;
    readonly currency: string;
    readonly reason: RejectionReason;
    /** Id of the return at the provider, so that a repeated request returns the money once. */
    readonly returnId: string;
    readonly at: Timestamp;
  }
>;
/** The provider accepted the return of a rejected payment. */
export type TransactionPaymentReturned = Fact<
  'TransactionPaymentReturned',
  Moved & EarlierReturn & { readonly providerPaymentId: string }
>;
/** The provider refused the return: it keeps the money, owed to the payer, until an operator decides. */
export type TransactionReturnRefused = Fact<
  'TransactionReturnRefused',
  Moved & { readonly providerPaymentId: string; readonly reason: string }
>;
/** The provider did not report the outcome of the return with this id; it is asked until it does (V9). */
export type TransactionReturnOutcomeUnknown = Fact<
  'TransactionReturnOutcomeUnknown',
  { readonly providerPaymentId: string; readonly returnId: string; readonly at: Timestamp }
>;
/** An operator entered the outcome of a return; the event with its effect is in the same append. */
export type TransactionReturnOutcomeEntered = Fact<
  'TransactionReturnOutcomeEntered',
  EnteredOutcome & { readonly providerPaymentId: string; readonly at: Timestamp }
>;
/** An operator requested the return again under a new id, because the provider's refusal of the earlier id is final. */
export type TransactionReturnRetried = Fact<
  'TransactionReturnRetried',
  { readonly providerPaymentId: string; readonly returnId: string; readonly by: string; readonly at: Timestamp }
>;
/** The hold on settled money ended: the net moved from pending to available (M2). */
export type TransactionFundsReleased = Fact<'TransactionFundsReleased', Moved>;
export type TransactionEvent =
  | TransactionReturnedOutside
  | TransactionProcessing
  | TransactionRefused
  | TransactionSettled
  | TransactionHeld
  | TransactionHeldReleased
  | TransactionHeldRejected
  | TransactionPaymentRejected
  | TransactionPaymentReturned
  | TransactionReturnRefused
  | TransactionReturnRetried
  | TransactionReturnOutcomeUnknown
  | TransactionReturnOutcomeEntered
  | HeldSettlementEvent
  | TransactionFundsReleased
  | RefundMovement
  | DisputeEvent;

export const MONEY = partition<TransactionSettled | TransactionFundsReleased>()({
  settlement: ['TransactionSettled'],
  release: ['TransactionFundsReleased'],
});
export const HELD = partition<
  TransactionHeld | TransactionHeldReleased | TransactionHeldRejected | TransactionPaymentRejected
>()({
  hold: ['TransactionHeld'],
  approval: ['TransactionHeldReleased'],
  rejection: ['TransactionPaymentRejected', 'TransactionHeldRejected'],
});
export const RETURNS = partition<
  | TransactionPaymentReturned
  | TransactionReturnRefused
  | TransactionReturnRetried
  | TransactionReturnOutcomeUnknown
  | TransactionReturnOutcomeEntered
  | TransactionReturnedOutside
>()({
  order: [
    'TransactionReturnRefused',
    'TransactionReturnRetried',
    'TransactionReturnOutcomeUnknown',
    'TransactionReturnOutcomeEntered',
  ],
  back: ['TransactionPaymentReturned'],
  outside: ['TransactionReturnedOutside'],
});

interface Seen {
  readonly incomingPayments: readonly IncomingPaymentRecord[];
  /** Declined methods; others may still pay. */
  readonly declined: readonly PaymentMethod[];
}
export type SettledTransaction = Seen & {
  readonly status: 'settled';
  readonly settlement: Settlement;
  readonly releasedAt: Timestamp | null;
  /** In order of reservation. */
  readonly refunds: readonly RefundRecord[];
  /** The latest dispute. */
  readonly dispute: DisputeRecord | null;
};
export type TransactionState =
  | (Seen & { readonly status: 'none' })
  | (Seen & { readonly status: 'processing'; readonly method: PaymentMethod })
  | (Seen & {
      readonly status: 'refused';
      readonly failure: { readonly reason: string; readonly providerErrorCode: string; readonly at: Timestamp };
    })
  | (Seen & { readonly status: 'held'; readonly incoming: IncomingPayment })
  /** Payer-lock violation, or an operator's decision; the return is requested and not yet accepted. */
  | (Seen & { readonly status: 'returning'; readonly incoming: IncomingPayment })
  | (Seen & { readonly status: 'returned'; readonly incoming: IncomingPayment; readonly returnedAt: Timestamp })
  | SettledTransaction;

/** Returns the payment's latest dispute, or null. */
export const latestDispute = (transaction: TransactionState): DisputeRecord | null =>
  transaction.status === 'settled' ? transaction.dispute : null;

const seenOf = ({ incomingPayments, declined }: Seen): Seen => ({ incomingPayments, declined });

const evolve = (state: TransactionState, event: TransactionEvent): TransactionState => {
  const seen = seenOf(state);
  switch (event.type) {
    case 'TransactionProcessing':
      return state.status === 'none' ? { ...seen, status: 'processing', method: event.data.method } : state;
    case 'TransactionRefused': {
      const { method, reason, providerErrorCode, isFinal, at } = event.data;
      if (state.status !== 'none' && state.status !== 'processing') return state;
      const declined = [...state.declined, method];
      if (isFinal) return { ...seen, declined, status: 'refused', failure: { reason, providerErrorCode, at } };
      // If another method is in progress, the payment stays in that state.
      return state.status === 'processing' && state.method !== method
        ? { ...state, declined }
        : { ...seen, declined, status: 'none' };
    }
    case 'TransactionHeld':
    case 'TransactionHeldReleased':
    case 'TransactionHeldRejected':
      return evolveHeld(state, event);
    case 'TransactionPaymentRejected': {
      const { incoming, reason, returnId } = event.data;
      const record = recordOf(incoming, 'rejected', reason, returnId);
      if (reason === 'payer_mismatch')
        return { ...seen, incomingPayments: [...state.incomingPayments, record], status: 'returning', incoming };
      const { payer } = incoming;
      const incomingPayments = [...state.incomingPayments, isNamed(payer) ? { ...record, payer } : record];
      return { ...state, incomingPayments } as TransactionState;
    }
    case 'TransactionPaymentReturned': {
      const { providerPaymentId, at: lastMovedAt } = event.data;
      const change = { outcome: 'returned', lastMovedAt } as const;
      const incomingPayments = replaced(state.incomingPayments, providerPaymentId, change);
      return withoutDebt(state, incomingPayments, event.data);
    }
    case 'TransactionReturnedOutside':
      return evolveReturnedOutside(state, event);
    case 'TransactionReturnRefused':
    case 'TransactionReturnRetried':
    case 'TransactionReturnOutcomeUnknown':
      return { ...state, incomingPayments: evolveReturn(state.incomingPayments, event) };
    case 'TransactionReturnOutcomeEntered':
      return state;
    case 'TransactionSettled': {
      const { incoming } = event.data;
      const wasHeld = state.incomingPayments.some(
        ({ providerPaymentId }) => providerPaymentId === incoming.providerPaymentId,
      );
      const incomingPayments = wasHeld
        ? replaced(state.incomingPayments, incoming.providerPaymentId, { outcome: 'settled' })
        : [...state.incomingPayments, recordOf(incoming, 'settled')];
      const fresh = { releasedAt: null, refunds: [], dispute: null };
      return { ...seen, incomingPayments, status: 'settled', settlement: event.data, ...fresh };
    }
    case 'TransactionFundsReleased':
      return state.status === 'settled' ? { ...state, releasedAt: event.data.at } : state;
    default:
      if (REFUND_MOVEMENTS.has(event))
        return state.status === 'settled' ? { ...state, refunds: evolveRefunds(state.refunds, event) } : state;
      if (DISPUTE.has(event))
        return state.status === 'settled' ? { ...state, dispute: evolveDispute(state.dispute, event) } : state;
      if (HELD_SETTLEMENT.has(event)) return evolveHeldSettlement(state, event);
      return ignore(state, event);
  }
};

const evolveReturnedOutside = (state: TransactionState, { data }: TransactionReturnedOutside): TransactionState => {
  const { providerPaymentId } = data;
  const incomingPayments = state.incomingPayments.map((one) =>
    one.providerPaymentId === providerPaymentId ? evolveOutside(one, data) : one,
  );
  if (state.status === 'settled')
    return { ...state, incomingPayments, dispute: disputeAfterReturn(state.dispute, data) };
  const after = incomingPayments.find((one) => one.providerPaymentId === providerPaymentId);
  return after?.outcome === 'returned' ? withoutDebt(state, incomingPayments, data) : { ...state, incomingPayments };
};

const evolveReturn = (
  incomingPayments: readonly IncomingPaymentRecord[],
  event: TransactionReturnRefused | TransactionReturnRetried | TransactionReturnOutcomeUnknown,
): readonly IncomingPaymentRecord[] => {
  if (event.type === 'TransactionReturnOutcomeUnknown') {
    const { providerPaymentId, ...unanswered } = event.data;
    return replaced(incomingPayments, providerPaymentId, { unanswered });
  }
  if (event.type === 'TransactionReturnRetried')
    return replaced(incomingPayments, event.data.providerPaymentId, {
      outcome: 'rejected',
      returnId: event.data.returnId,
    });
  const { providerPaymentId, reason, at } = event.data;
  const before = incomingPayments.find((one) => one.providerPaymentId === providerPaymentId)?.refusal?.number ?? 0;
  return replaced(incomingPayments, providerPaymentId, {
    outcome: 'unreturned',
    refusal: { reason, at, number: before + 1 },
  });
};

type HeldEvent = TransactionHeld | TransactionHeldReleased | TransactionHeldRejected;
const evolveHeld = (state: TransactionState, event: HeldEvent): TransactionState => {
  const seen = seenOf(state);
  switch (event.type) {
    case 'TransactionHeld': {
      const { incoming } = event.data;
      return {
        ...seen,
        incomingPayments: [...state.incomingPayments, recordOf(incoming, 'held')],
        status: 'held',
        incoming,
      };
    }
    case 'TransactionHeldReleased': // the settlement in the same append has the details
      return {
        ...state,
        incomingPayments: replaced(state.incomingPayments, event.data.providerPaymentId, { reason: 'released' }),
      };
    case 'TransactionHeldRejected': {
      if (state.status !== 'held') return state;
      const { providerPaymentId, returnId, reason } = event.data;
      const incomingPayments = replaced(state.incomingPayments, providerPaymentId, {
        outcome: 'rejected',
        reason,
        returnId,
      });
      return reason === 'operator'
        ? { ...seen, incomingPayments, status: 'returning', incoming: state.incoming }
        : { ...seen, incomingPayments, status: 'none' };
    }
    default:
      return ignore(state, event);
  }
};

/** Removes the debt to the payer. If a payer lock had prevented crediting this payment, the transaction ends with it. */
const withoutDebt = (
  state: TransactionState,
  incomingPayments: readonly IncomingPaymentRecord[],
  { providerPaymentId, at }: { readonly providerPaymentId: string; readonly at: Timestamp },
): TransactionState =>
  (state.status === 'returning' || state.status === 'held') && state.incoming.providerPaymentId === providerPaymentId
    ? { declined: state.declined, incomingPayments, status: 'returned', incoming: state.incoming, returnedAt: at }
    : { ...state, incomingPayments };

/** Returns the transaction after the event. */
const evolveHeldSettlement = (state: TransactionState, event: HeldSettlementEvent): TransactionState => {
  if (event.type === 'TransactionRefundConfirmedLate')
    return state.status === 'settled'
      ? { ...state, refunds: state.refunds.map((refund) => evolveLateRefund(refund, event)) }
      : state;
  if (event.type === 'TransactionLateConfirmationWrittenOff') {
    const { id } = event.data;
    const incomingPayments = state.incomingPayments.map((one) => writtenOffLate(one, id));
    return state.status === 'settled'
      ? { ...state, incomingPayments, refunds: state.refunds.map((one) => writtenOffLate(one, id)) }
      : { ...state, incomingPayments };
  }
  const { providerPaymentId } = event.data;
  const incomingPayments = state.incomingPayments.map((one) =>
    one.providerPaymentId === providerPaymentId ? evolveHeldRecord(one, event) : one,
  );
  const isGone = event.type === 'TransactionHeldPayoutPaid' || event.type === 'TransactionHeldWrittenOff';
  return isGone ? withoutDebt(state, incomingPayments, event.data) : { ...state, incomingPayments };
};

export const transaction: Decider<TransactionState, TransactionEvent> = {
  initial: { status: 'none', incomingPayments: [], declined: [] },
  evolve,
};

// --- Stored format ---

const method = oneOf(...PAYMENT_METHODS);
const incoming = record<IncomingPayment>({
  method,
  providerPaymentId: text(),
  amount: money,
  payer: record<Payer>({ name: nullable(text()), document: nullable(text()) }),
  paidAt: time,
});

export const transactionSerde: SerdeTable<TransactionEvent> = {
  TransactionProcessing: { version: 1, shape: record({ method, at: time }), personal: [] },
  TransactionRefused: {
    version: 1,
    shape: record({ method, reason: text(), providerErrorCode: text(), isFinal: flag, at: time }),
    personal: ['reason'],
  },
  TransactionSettled: {
    version: 1,
    shape: record({
      incoming,
      method,
      currency: text(),
      providerFee: money,
      platformFee: money,
      netAmount: money,
      availableAt: nullable(time),
      at: time,
    }),
    personal: ['incoming.payer'],
    unsaid: { availableAt: { usually: null } },
  },
  TransactionHeld: {
    version: 1,
    shape: record({ incoming, currency: text(), at: time }),
    personal: ['incoming.payer'],
  },
  TransactionHeldReleased: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...moved, by: text() }),
    personal: [],
  },
  TransactionHeldRejected: {
    version: 1,
    shape: record({
      providerPaymentId: text(),
      ...moved,
      returnId: text(),
      reason: oneOf('operator', 'cancelled'),
      by: text(),
    }),
    personal: [],
  },
  TransactionPaymentRejected: {
    version: 1,
    shape: record({
      incoming,
      currency: text(),
      reason: oneOf('wrong_amount', 'second_payment', 'charge_ended', 'payer_mismatch'),
      returnId: text(),
      at: time,
    }),
    personal: ['incoming.payer'],
  },
  TransactionPaymentReturned: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...moved, ...earlierReturn }),
    personal: [],
    unsaid: NO_EARLIER_RETURN,
  },
  TransactionReturnRefused: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...moved, reason: text() }),
    personal: ['reason'],
  },
  TransactionReturnRetried: {
    version: 1,
    shape: record({ providerPaymentId: text(), returnId: text(), by: text(), at: time }),
    personal: [],
  },
  TransactionReturnOutcomeUnknown: {
    version: 1,
    shape: record({ providerPaymentId: text(), returnId: text(), at: time }),
    personal: [],
  },
  TransactionReturnOutcomeEntered: {
    version: 1,
    shape: record({ providerPaymentId: text(), ...enteredFields }),
    personal: ['reason'],
  },
  ...returnedOutsideSerde,
  ...heldSettlementSerde,
  TransactionFundsReleased: { version: 1, shape: record(moved), personal: [] },
  ...refundMovementSerde,
  ...disputeSerde,
};
