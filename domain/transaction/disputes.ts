// A dispute as the payment records it: the held amount and the latest known state of its case. The case itself is in dispute/.

import {
  CASE_STATUSES,
  CASE_TYPES,
  DISPUTE_METHODS,
  type DisputeMethod,
  type MedCase,
  MONEY_OUTCOMES,
  type MoneyOutcome,
  type SettlingVerdict,
} from '../dispute/medCase.ts';
import { CASE_CHANGES, type CaseChange, type CaseSnapshot } from '../dispute/snapshot.ts';
import type { Fact } from '../kernel/decider.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { MedCaseId } from '../kernel/ids.ts';
import { add, type Minor, subtract, ZERO } from '../kernel/money.ts';
import { flag, integer, money, nullable, oneOf, record, type SerdeTable, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { isNamed, moved } from './incomingPayment.ts';

/** The provider's report about the start of a dispute. */
export interface Allegation {
  readonly method: DisputeMethod | null;
  readonly reason: string | null;
  /** The payer who opened it, if known. */
  readonly payer: { readonly name: string | null; readonly document: string | null };
  readonly openedAt: Timestamp;
}

/** The status of a disputed payment (W9). */
export type DisputeKind = 'CHARGEBACK' | 'DISPUTE';

/**
 * The payer, the card holder or the issuer disputes the payment. `amount` is held: the part neither refunded nor being refunded (M9, Q1).
 * For a mismatch it is 0, and the payment stays as it was until an operator settles the case.
 */
export type TransactionDisputeOpened = Fact<
  'TransactionDisputeOpened',
  Allegation & {
    readonly caseId: MedCaseId;
    readonly kind: DisputeKind;
    readonly amount: Minor;
    readonly currency: string;
    readonly amountMismatch: boolean;
    readonly reportedAmount: Minor;
    readonly at: Timestamp;
  }
>;
/** The case changed. `revision` is that of its event in the case's stream. `at` is when the service recorded it. */
export type TransactionDisputeUpdated = Fact<
  'TransactionDisputeUpdated',
  {
    readonly revision: number;
    readonly change: CaseChange;
    readonly medCase: CaseSnapshot;
    readonly ending: MedCase['ending'];
    /** Time of the end that the provider reported; null if it reported none. */
    readonly ruledAt: Timestamp | null;
    /** Whether webhooks report it (Q5). */
    readonly announced: boolean;
    readonly at: Timestamp;
  }
>;
/** The case ended: the held money returns to the merchant or is lost. */
export type TransactionDisputeResolved = Fact<
  'TransactionDisputeResolved',
  {
    readonly caseId: MedCaseId;
    readonly moneyOutcome: MoneyOutcome;
    /** Amount released from the hold; 0 if nothing was held, or if it was lost when the mismatch was settled. */
    readonly amount: Minor;
    readonly currency: string;
    /** Amount that the provider reported. */
    readonly reportedAmount: Minor;
    readonly announced: boolean;
    readonly at: Timestamp;
  }
>;
/** An operator settled a mismatch: `amount` is held or lost. For `nothing` it is 0 and the merchant keeps the money (Q1). */
export type TransactionDisputeSettled = Fact<
  'TransactionDisputeSettled',
  SettlingVerdict & {
    readonly caseId: MedCaseId;
    readonly currency: string;
    readonly reason: string;
    readonly by: string;
    readonly announced: boolean;
    readonly at: Timestamp;
  }
>;
/** The bank paid this amount to the payer, out of the money that it holds for the platform (Q11). */
export type TransactionDisputeReturned = Fact<
  'TransactionDisputeReturned',
  { readonly caseId: MedCaseId; readonly amount: Minor; readonly currency: string; readonly at: Timestamp }
>;
/**
 * A return outside Quita counts as the return of `amount` that the lost dispute took, so the merchant gets it back. `posted`: the part of
 * the return that the bank's ruling had already posted as paid. If `amount` is negative, the banks returned more than the dispute took, and
 * the merchant pays that (V10).
 */
export type TransactionDisputeReturnCounted = Fact<
  'TransactionDisputeReturnCounted',
  {
    readonly caseId: MedCaseId;
    readonly amount: Minor;
    readonly posted: Minor;
    readonly currency: string;
    readonly at: Timestamp;
  }
>;
export type DisputeEvent =
  | TransactionDisputeOpened
  | TransactionDisputeUpdated
  | TransactionDisputeSettled
  | TransactionDisputeResolved
  | TransactionDisputeReturned
  | TransactionDisputeReturnCounted;

export const DISPUTE = partition<DisputeEvent>()({
  case: ['TransactionDisputeOpened', 'TransactionDisputeUpdated'],
  given: ['TransactionDisputeReturned', 'TransactionDisputeReturnCounted'],
  verdict: ['TransactionDisputeSettled', 'TransactionDisputeResolved'],
});

export const disputeSerde: SerdeTable<DisputeEvent> = {
  TransactionDisputeOpened: {
    version: 1,
    shape: record({
      caseId: text(),
      kind: oneOf('CHARGEBACK', 'DISPUTE'),
      ...moved,
      amountMismatch: flag,
      reportedAmount: money,
      method: nullable(oneOf(...DISPUTE_METHODS)),
      reason: nullable(text()),
      payer: record({ name: nullable(text()), document: nullable(text()) }),
      openedAt: time,
    }),
    personal: ['reason', 'payer'],
  },
  TransactionDisputeUpdated: {
    version: 1,
    shape: record({
      revision: integer,
      change: oneOf(...CASE_CHANGES),
      medCase: record<CaseSnapshot>({
        caseId: text(),
        type: oneOf(...CASE_TYPES),
        status: oneOf(...CASE_STATUSES),
        amount: money,
        currency: text(),
        reason: nullable(text()),
        responseDeadline: nullable(time),
        evidenceRequestedAt: nullable(time),
        appealReason: nullable(text()),
        appealedAt: nullable(time),
        evidenceCount: integer,
        moneyOutcome: nullable(oneOf(...MONEY_OUTCOMES)),
        openedAt: time,
        closedAt: nullable(time),
        createdAt: time,
        updatedAt: time,
      }),
      ending: nullable(oneOf('agreed', 'disagreed', 'withdrawn')),
      ruledAt: nullable(time),
      announced: flag,
      at: time,
    }),
    personal: ['medCase.reason', 'medCase.appealReason'],
  },
  TransactionDisputeSettled: {
    version: 1,
    shape: record({
      caseId: text(),
      verdict: oneOf('held', 'lost', 'nothing'),
      ...moved,
      reason: text(),
      by: text(),
      announced: flag,
    }),
    personal: ['reason'],
  },
  TransactionDisputeReturned: { version: 1, shape: record({ caseId: text(), ...moved }), personal: [] },
  TransactionDisputeReturnCounted: {
    version: 1,
    shape: record({ caseId: text(), ...moved, posted: money }),
    personal: [],
  },
  TransactionDisputeResolved: {
    version: 1,
    shape: record({
      caseId: text(),
      moneyOutcome: oneOf(...MONEY_OUTCOMES),
      ...moved,
      reportedAmount: money,
      announced: flag,
    }),
    personal: [],
  },
};

/** What a payment knows of the money of a case. Steps of the case still move it after a later case has opened. */
export interface CaseMoney {
  readonly caseId: MedCaseId;
  /** The amount that the case held, or that an operator settled as held or lost. */
  readonly taken: Minor;
  /** `taken` less the part that was returned outside Quita, plus what the banks returned beyond that. Stays after the merchant has won. */
  readonly amount: Minor;
  /** Settlement of a mismatch; null if the reported amount matched. */
  readonly settling: MedCase['settling'];
  /** Amount posted as paid to the payer by the banks; 0 if none, or not reported yet. */
  readonly returnedToPayer: Minor;
  /** null while the case is open, or while a mismatch is not settled. */
  readonly moneyOutcome: MoneyOutcome | null;
  /** Revision of the latest case event that the payment recorded; -1 if none. */
  readonly revision: number;
  /** Returned outside Quita while the case was the latest; absent for 0. */
  readonly outside?: Minor;
}

/** The latest dispute of a payment. */
export interface DisputeRecord extends Allegation, CaseMoney {
  readonly kind: DisputeKind;
  readonly amountMismatch: boolean;
  readonly reportedAmount: Minor;
  readonly ending: MedCase['ending'];
  readonly ruledAt: Timestamp | null;
  /** When the service processed the latest event of the case. */
  readonly lastEventAt: Timestamp;
  /** Cases that ended before this one opened. */
  readonly earlier: readonly CaseMoney[];
  /** The payers whom these cases name, so that searches find their data (L1); absent if they name none. */
  readonly earlierPayers?: readonly Allegation['payer'][];
}

/** Returns whether the payment counts as disputed. Cases that the merchant won don't count, nor mismatches unsettled or without a hold. */
export const isDisputed = <Of extends CaseMoney>(dispute: Of | null): dispute is Of =>
  dispute !== null &&
  dispute.settling !== 'awaited' &&
  dispute.settling !== 'nothing' &&
  dispute.moneyOutcome !== 'refunded_to_merchant';

/** Returns the money of the case, which may be an earlier one, or null if the payment doesn't know the case. */
export const moneyOfCase = (latest: DisputeRecord | null, caseId: MedCaseId): CaseMoney | null => {
  if (latest === null || latest.caseId === caseId) return latest;
  return latest.earlier.find((one) => one.caseId === caseId) ?? null;
};

/** Returns the amount lost in earlier cases, each opened by a return of the banks (V10). */
export const lostBefore = (latest: DisputeRecord | null): Minor =>
  (latest?.earlier ?? []).filter(isDisputed).reduce((sum, { amount }) => add(sum, amount), ZERO);

/** Returns the amount that must remain of the payment until an operator has settled a mismatch (Q1). */
export const reservedForSettling = (dispute: DisputeRecord | null): Minor =>
  dispute?.settling === 'awaited' ? dispute.reportedAmount : ZERO;

/** Returns the dispute after the event. `before` is null if there was none. */
export const evolveDispute = (before: DisputeRecord | null, event: DisputeEvent): DisputeRecord | null => {
  switch (event.type) {
    case 'TransactionDisputeOpened': {
      const { currency: _, at, ...opened } = event.data;
      const earlier = before === null ? [] : [...before.earlier, moneyOf(before)];
      const settling = opened.amountMismatch ? 'awaited' : null;
      const fresh = { settling, returnedToPayer: ZERO, moneyOutcome: null, ending: null, ruledAt: null } as const;
      const { payer, earlierPayers = [] } = before ?? {};
      const payers = payer && isNamed(payer) ? [...earlierPayers, payer] : earlierPayers;
      return {
        ...{ ...opened, taken: opened.amount, ...fresh, revision: -1, lastEventAt: at, earlier },
        ...(payers.length > 0 && { earlierPayers: payers }),
      };
    }
    case 'TransactionDisputeUpdated': {
      const { medCase, revision, ending, ruledAt, at } = event.data;
      return before?.caseId === medCase.caseId
        ? { ...before, revision, ending, ruledAt, lastEventAt: at }
        : withMoney(before, medCase.caseId, () => ({ revision }));
    }
    case 'TransactionDisputeSettled': {
      const { caseId, verdict: settling, amount } = event.data;
      return before?.caseId === caseId ? { ...before, settling, taken: amount, amount } : before;
    }
    case 'TransactionDisputeReturned': {
      const { caseId, amount } = event.data;
      return withMoney(before, caseId, ({ returnedToPayer }) => ({ returnedToPayer: add(returnedToPayer, amount) }));
    }
    case 'TransactionDisputeReturnCounted': {
      const { caseId, amount, posted } = event.data;
      return withMoney(before, caseId, (money) => ({
        amount: subtract(money.amount, amount),
        returnedToPayer: subtract(money.returnedToPayer, posted),
      }));
    }
    case 'TransactionDisputeResolved': {
      const { caseId, moneyOutcome } = event.data;
      return before?.caseId === caseId ? { ...before, moneyOutcome } : before;
    }
    default:
      return event satisfies never;
  }
};

const moneyOf = ({
  caseId,
  taken,
  amount,
  settling,
  returnedToPayer,
  moneyOutcome,
  revision,
  outside,
}: DisputeRecord): CaseMoney => ({
  ...{ caseId, taken, amount, settling, returnedToPayer, moneyOutcome, revision },
  ...(outside !== undefined && { outside }),
});

/** Changes the money of a case, which may be an earlier one. */
const withMoney = (
  latest: DisputeRecord | null,
  caseId: MedCaseId,
  change: (money: CaseMoney) => Partial<CaseMoney>,
): DisputeRecord | null => {
  if (latest === null) return null;
  if (latest.caseId === caseId) return { ...latest, ...change(latest) };
  const earlier = latest.earlier.map((one) => (one.caseId === caseId ? { ...one, ...change(one) } : one));
  return { ...latest, earlier };
};
