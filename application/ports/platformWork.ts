// What an operator of the platform is shown of its work, over all accounts, and what it has begun again (rule O1). Ids bear their
// prefixes: this is shown as it stands, by `--json` and by the routes.

import type { CaseStatus, MoneyOutcome, NeverBecause, SettlingVerdict } from '../../domain/dispute/medCase.ts';
import type { StreamName } from '../../domain/kernel/event.ts';
import type { AccountId, MedCaseId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { LedgerAccount } from '../../domain/ledger/journal.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { HeldVerdict } from '../payments/reviewHeld.ts';
import type { RecordedEvent } from './eventStore.ts';
import type { CaseWaitsBecause } from './readModels/cases.ts';
import type { DisputesRest } from './readModels/ledger.ts';
import type { LoggedRequest } from './requestLog.ts';

export interface HeldItem {
  readonly paymentId: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly amount: number;
  readonly currency: string;
  readonly providerPaymentId: string;
  readonly payerName: string | null;
  readonly expectedPayerTaxId: string | null;
  readonly reason: string;
  /** What the provider said when it was to be sent back; null: it was not asked. */
  readonly returnRefused: string | null;
  readonly heldSince: string;
}

/** A dispute case, or a report that opened none, that waits for an operator; once for each reason. */
export interface CaseReviewItem {
  readonly caseId: string;
  /** The bank's id. */
  readonly providerCaseId: string;
  readonly chargeId: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** null: there is no case. */
  readonly status: CaseStatus | null;
  /** As it was reported. */
  readonly amount: number;
  readonly currency: string;
  readonly because: CaseWaitsBecause;
  /** Why no payment can take the report; null: for another reason it waits. */
  readonly reason: NeverBecause | null;
  /** What was ruled, or reported after the end; null: neither waits. */
  readonly result: 'agreed' | 'disagreed' | 'withdrawn' | null;
  /** Whether the bank said that the money comes back; null like `result`. */
  readonly returned: boolean | null;
  /** How much the payer got, as the bank said; null: it did not say so. */
  readonly returnedToPayer: number | null;
  readonly since: string;
}

export interface DeadLetterItem {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly paymentId: string;
  readonly eventType: string;
  /** null: to the payment's own URL. */
  readonly endpointId: string | null;
  readonly createdAt: string;
}

/** A read model or a process, and how far it has followed the log. */
export interface ConsumerStanding {
  readonly name: string;
  readonly position: string | null;
  readonly isCaughtUp: boolean;
}

/** What does not add up; empty lists are the only good answer, beside sums of zero. */
export interface LedgerFindings {
  readonly sums: readonly { readonly currency: string; readonly sum: number; readonly postings: number }[];
  readonly entries: readonly {
    readonly stream: string;
    /** null: it is not about a payment. */
    readonly payment_id: string | null;
    readonly revision: number;
    readonly sum: number;
  }[];
  readonly balances: readonly {
    readonly account_id: string;
    readonly mode: string;
    readonly currency: string;
    readonly ledger_account: string;
    readonly balance: number;
    readonly postings: number;
  }[];
  /** The rest on the account `disputes`: the platform's gain (positive) or loss (Q11). The ledger balances all the same. */
  readonly disputes: readonly DisputesRest[];
  readonly isBalanced: boolean;
}

/** A posting that follows from an event of a payment. */
export interface LedgerLine {
  readonly revision: number;
  /** Of the postings of its event, from 0. */
  readonly line: number;
  readonly event: string;
  readonly at: Timestamp;
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Signed minor units; credit is positive. */
  readonly amount: number;
  /** Of the account in this payment, after this posting. */
  readonly sum: number;
  /** What it does to the account, and why, in words. */
  readonly what: string;
}

export interface PaymentLedger {
  readonly paymentId: string;
  readonly postings: readonly LedgerLine[];
  /** Of all of them, by currency: zero. */
  readonly totals: readonly { readonly currency: string; readonly sum: number }[];
  /** Postings that are in only one of both: the ledger as it is kept, and as it follows from the events. None is the only good answer. */
  readonly differences: readonly string[];
}

export interface VerifyFindings {
  readonly position: string | null;
  readonly rows: number;
  readonly differenceCount: number;
  /** The first hundred; null: the row is missing there. */
  readonly differences: readonly {
    readonly table: string;
    readonly live: string | null;
    readonly replayed: string | null;
  }[];
  /** Streams that are left out, from these revisions on. */
  readonly parked: readonly { readonly consumer: string; readonly stream: string; readonly revision: number }[];
}

export interface FailedJobItem {
  readonly id: string;
  readonly queue: string;
  readonly state: 'failed' | 'retry';
  readonly accountId: string;
  readonly mode: Mode;
  readonly attempts: number;
  readonly error: string;
  readonly failedAt: string;
  readonly nextAttemptAt: string | null;
}

/** Work of which one runs at a time is being done by another. The message says which. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/** How far long work is: `share` from 0 to 1. */
export interface WorkProgress {
  readonly share: number;
  readonly what: string;
}

/** A stream that a read model or process does not take any more. */
export interface ParkedItem {
  readonly consumer: string;
  readonly stream: string;
  /** null, as the mode: neither the event nor the first one of its stream has it. */
  readonly accountId: string | null;
  readonly mode: string | null;
  /** Of the first event that was not taken. */
  readonly revision: number;
  readonly eventId: string;
  readonly eventType: string;
  /** Without personal data. */
  readonly error: string;
  readonly parkedAt: string;
}

/** What became of a parked stream that was to be taken up again. */
export interface TakenUp {
  readonly consumer: string;
  readonly stream: string;
  /** `waiting`: nobody who leads has taken it up yet; it stays asked for. */
  readonly outcome: 'taken' | 'parked' | 'waiting';
  /** Of the event at which it is parked now. */
  readonly revision: number | null;
  readonly error: string | null;
}

/** null: every one. */
export interface WhichParked {
  readonly stream: StreamName | null;
  readonly consumer: string | null;
}

export interface ParkedWork {
  /** Longest parked first. */
  listParked(consumer: string | null): Promise<readonly ParkedItem[]>;
  /** Who has parked the stream, and its events from the first that was not taken; null: nobody has. */
  showParked(
    stream: StreamName,
    consumer: string | null,
  ): Promise<{ readonly parked: readonly ParkedItem[]; readonly events: readonly RecordedEvent[] } | null>;
  /**
   * Has streams taken up again, and waits for it: half a minute after the last one of them at most, and never longer than the signal.
   * Returns what became of each; none: nothing of that kind is parked.
   */
  retryParked(which: WhichParked, signal: AbortSignal): Promise<readonly TakenUp[]>;
  /**
   * Passes over the events at which they are parked, which is recorded in the log, and goes on like `retryParked`. `forced`: consumers for
   * which it is meant though they would miss money, or what merchants are shown; `unmeant`: those that were not named, and nothing is done.
   */
  skipParked(
    which: WhichParked,
    why: { readonly reason: string; readonly forced: readonly string[] },
    by: Changer,
    signal: AbortSignal,
  ): Promise<readonly TakenUp[] | { readonly unmeant: readonly string[] }>;
}

export interface PlatformWork extends ParkedWork {
  /** Payments of which something is held, longest first. `total` counts those beyond `limit` too. */
  listHeld(
    limit: number,
  ): Promise<{ readonly held: readonly HeldItem[]; readonly total: number; readonly rest: number }>;
  /** Rejects as `reviewHeld` does. */
  reviewHeld(
    id: PaymentId,
    verdict: HeldVerdict,
    by: Changer,
    providerPaymentId: string | null,
  ): Promise<{ readonly paymentId: string; readonly status: string; readonly isNew: boolean } | Rejection>;
  /** Dispute cases that wait for an operator, oldest first. `total` counts those beyond `limit` too. */
  listCaseReviews(limit: number): Promise<{ readonly waiting: readonly CaseReviewItem[]; readonly total: number }>;
  /** Has the outcome that is reviewed count, or refuses it. `not_found`; `case_not_open`: none waits. */
  reviewCase(
    id: MedCaseId,
    approve: boolean,
    by: Changer,
  ): Promise<
    { readonly caseId: string; readonly status: CaseStatus; readonly moneyOutcome: MoneyOutcome | null } | Rejection
  >;
  /** Settles a mismatch (Q1). `not_found`, `case_not_open`, `invalid_amount`. */
  settleCase(
    id: MedCaseId,
    verdict: SettlingVerdict,
    reason: string,
    by: Changer,
  ): Promise<
    { readonly caseId: string; readonly status: CaseStatus; readonly moneyOutcome: MoneyOutcome | null } | Rejection
  >;
  /**
   * Takes a report off the list, named by its case or the bank's id of it. `not_found`; `case_not_open`: none waits; `invalid_request`:
   * several cases have that id.
   */
  dismissReport(name: string, reason: string, by: Changer): Promise<{ readonly caseId: string } | Rejection>;
  /** Deliveries given up, by account and mode, oldest first; null: of every account. */
  listDeadLetters(
    accountId: AccountId | null,
    limit: number,
  ): Promise<{ readonly deliveries: readonly DeadLetterItem[]; readonly total: number }>;
  /** Every account and mode that has any; null: of every account. */
  tenantsWithDeadLetters(
    accountId: AccountId | null,
  ): Promise<readonly { readonly accountId: AccountId; readonly mode: Mode }[]>;
  /** Their names, as `rebuild` takes them. */
  readonly readModels: readonly string[];
  /**
   * Builds read models anew beside the live copies and swaps; `all` of them, or one of `readModels`. Returns a report of each. Throws
   * AlreadyRunning. Cut off, the next one goes on where it was.
   */
  rebuild(
    name: string,
    signal: AbortSignal,
    onProgress: (progress: WorkProgress) => void,
  ): Promise<readonly { readonly projection: string; readonly events: number; readonly seconds: number }[]>;
  /**
   * Compares every read model with a replay of the log, and each row with the fold of its stream. Throws AlreadyRunning. Cut off, it
   * leaves nothing behind.
   */
  verify(signal: AbortSignal, onProgress: (progress: WorkProgress) => void): Promise<VerifyFindings>;
  /** Yields the log in pages: from its beginning or its end on, up to what it holds now or, `isLive`, until the signal. */
  readLog(from: 'start' | 'end', isLive: boolean, signal: AbortSignal): AsyncIterable<readonly RecordedEvent[]>;
  listConsumers(): Promise<{ readonly head: string | null; readonly consumers: readonly ConsumerStanding[] }>;
  checkLedger(): Promise<LedgerFindings>;
  /** null: there is no such payment. Throws StreamUnreadable. */
  showLedger(id: PaymentId): Promise<PaymentLedger | null>;
  /**
   * The newest requests of the last 30 days that bore the id, and the events that they caused, in order; null: the log was moved or put
   * back since.
   */
  findRequest(
    requestId: string,
    signal: AbortSignal,
  ): Promise<{ readonly requests: readonly LoggedRequest[]; readonly events: readonly RecordedEvent[] | null }>;
  /** Events of a stream from a revision on. */
  readStream(stream: StreamName, from: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** Work that failed, of one queue or all (null). */
  listFailedJobs(
    queue: string | null,
    limit: number,
  ): Promise<{ readonly jobs: readonly FailedJobItem[]; readonly total: number }>;
  /** Begins what failed for good again, by id, by queue, or all of it. Returns what it begins. */
  redriveJobs(which: {
    readonly id: string | null;
    readonly queue: string | null;
  }): Promise<readonly { readonly id: string; readonly queue: string; readonly payloads: readonly unknown[] }[]>;
}
