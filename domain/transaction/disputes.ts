// A dispute as the payment has it: what is held, and what its case was last seen at. The case itself is in dispute/.
import type { DisputeMethod, MedCase, MoneyOutcome } from '../dispute/medCase.ts';
import type { CaseChange, CaseSnapshot } from '../dispute/snapshot.ts';
import type { Fact } from '../kernel/event.ts';
import type { MedCaseId } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';

/** What the provider says about the beginning of a dispute. */
export interface Allegation {
  readonly method: DisputeMethod | null;
  readonly reason: string | null;
  /** Who opened it, when that is told. */
  readonly payer: { readonly name: string | null; readonly document: string | null };
  readonly openedAt: Timestamp;
}

/** The status that a disputed payment has (W9). */
export type DisputeKind = 'CHARGEBACK' | 'DISPUTE';

/**
 * The payer, the card's holder or the issuer wants it back. `amount` is what is held of it: what is neither refunded nor on its way (M9,
 * Q1); 0 where the reported amount is not the payment's, which then goes on as it was.
 */
export type TransactionDisputeOpened = Fact<
  'TransactionDisputeOpened',
  Allegation & {
    readonly caseId: MedCaseId;
    readonly kind: DisputeKind;
    readonly amount: Minor;
    readonly currency: string;
    readonly amountMismatch: boolean;
    readonly at: Timestamp;
  }
>;
/** The case went on. `revision`: of its event in the stream of the case. `at`: when the service took it up. */
export type TransactionDisputeUpdated = Fact<
  'TransactionDisputeUpdated',
  {
    readonly revision: number;
    readonly change: CaseChange;
    readonly medCase: CaseSnapshot;
    readonly ending: MedCase['ending'];
    /** As the provider reported the end; null: it reported none. */
    readonly ruledAt: Timestamp | null;
    /** Whether webhooks tell of it (Q5). */
    readonly announced: boolean;
    readonly at: Timestamp;
  }
>;
/** The case has ended: what was held goes back to the merchant, or is gone. */
export type TransactionDisputeResolved = Fact<
  'TransactionDisputeResolved',
  {
    readonly caseId: MedCaseId;
    readonly moneyOutcome: MoneyOutcome;
    /** What was held; 0: nothing. */
    readonly amount: Minor;
    readonly currency: string;
    /** As the provider reported it. */
    readonly reportedAmount: Minor;
    readonly announced: boolean;
    readonly at: Timestamp;
  }
>;
export type DisputeEvent = TransactionDisputeOpened | TransactionDisputeUpdated | TransactionDisputeResolved;

/** The latest dispute of a payment. */
export interface DisputeRecord extends Allegation {
  readonly caseId: MedCaseId;
  readonly kind: DisputeKind;
  /** Held, or lost; once it was returned, what had been held. */
  readonly amount: Minor;
  readonly amountMismatch: boolean;
  /** null: the case is under way. */
  readonly moneyOutcome: MoneyOutcome | null;
  readonly ending: MedCase['ending'];
  readonly ruledAt: Timestamp | null;
  /** Of the last event of the case that the payment was told of; -1: of none. */
  readonly revision: number;
  /** When the service processed the latest event of the case. */
  readonly lastEventAt: Timestamp;
  /** Cases that ended before this one opened. */
  readonly earlier: readonly MedCaseId[];
}

/** Whether the payment is disputed: the case is under way, or was not decided in the merchant's favour with the money returned. */
export const isDisputed = (dispute: DisputeRecord | null): dispute is DisputeRecord =>
  dispute !== null && !dispute.amountMismatch && dispute.moneyOutcome !== 'refunded_to_merchant';

/** null: it had none before. */
export const evolveDispute = (before: DisputeRecord | null, event: DisputeEvent): DisputeRecord | null => {
  switch (event.type) {
    case 'TransactionDisputeOpened': {
      const { currency: _, at, ...opened } = event.data;
      const earlier = before === null ? [] : [...before.earlier, before.caseId];
      return { ...opened, moneyOutcome: null, ending: null, ruledAt: null, revision: -1, lastEventAt: at, earlier };
    }
    case 'TransactionDisputeUpdated': {
      const { medCase, revision, ending, ruledAt, at } = event.data;
      return before?.caseId === medCase.caseId ? { ...before, revision, ending, ruledAt, lastEventAt: at } : before;
    }
    case 'TransactionDisputeResolved': {
      const { caseId, moneyOutcome } = event.data;
      return before?.caseId === caseId ? { ...before, moneyOutcome } : before;
    }
    default:
      return event satisfies never;
  }
};
