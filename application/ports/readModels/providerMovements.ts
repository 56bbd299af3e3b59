// Queries on Quita's orders and postings at provider connections, compared with institutions' lists.
import type { AccountId, ConnectionId, PaymentId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { Discrepancy, Finding, MovementKey, Scope } from '../providerBooks.ts';

/** A movement that Quita posted and the institution did not list. */
export interface Unlisted extends MovementKey {
  readonly accountId: AccountId;
  /** null: a requested payout. */
  readonly paymentId: PaymentId | null;
  /** End-to-end id of the received Pix that a return belongs to. */
  readonly endToEndId: string | null;
  readonly amount: number;
  readonly at: Timestamp;
}

interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

/** A movement that Quita ordered. */
export interface Order {
  readonly id: string;
  readonly accountId: AccountId;
  readonly paymentId: PaymentId | null;
}

/** Sums of a day, in minor units and unsigned. */
export interface DaySums {
  /** The balance of Quita's clearing account, before and after the day. */
  readonly opening: number;
  readonly closing: number;
  /** As listed by the institution. */
  readonly received: number;
  readonly returned: number;
  readonly paidOut: number;
  /** As posted by Quita. */
  readonly fees: number;
  /** The institution's sum minus Quita's. */
  readonly difference: number;
}

export interface ProviderMovements {
  /** Waits until all events of the log are in the read model. Throws ReadModelsBehind. */
  assertCurrent(): Promise<void>;
  /** Returns those end-to-end ids that no payment of any connection has recorded. */
  unrecorded(endToEndIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns up to `limit` posted returns (or Pix-outs) of a period that no listed item matches, after this reference. */
  unlisted(
    connectionId: ConnectionId,
    moved: 'returned' | 'paid_out',
    period: Period,
    after: string,
    limit: number,
  ): Promise<readonly Unlisted[]>;
  /** Matches listed returns with the disputes that announced them, and notes items that were posted on another day. */
  match(connectionId: ConnectionId, scope: Scope): Promise<void>;
  /**
   * Returns about `limit` differences between listed items and Quita's movements in a period, in order of time. `complete`: the time up to
   * which none is missing. Call `match` first.
   */
  discrepancies(
    connectionId: ConnectionId,
    period: Period,
    limit: number,
  ): Promise<{ readonly discrepancies: readonly Discrepancy[]; readonly complete: Timestamp }>;
  /** Returns those of these movements. */
  discrepanciesOf(connectionId: ConnectionId, movements: readonly MovementKey[]): Promise<readonly Discrepancy[]>;
  /** Returns the orders among these ids. */
  orders(connectionId: ConnectionId, ids: readonly string[]): Promise<readonly Order[]>;
}

export interface ProviderMovementReads {
  discrepancies(connectionId: ConnectionId, period: Period): Promise<readonly Discrepancy[]>;
  sums(connectionId: ConnectionId, day: string): Promise<DaySums>;
}

/** A finding as a report shows it (rule V4). */
export interface ReportedFinding {
  readonly kind: Finding['kind'];
  readonly endToEndId: string | null;
  readonly txid: string | null;
  /** `ch_…` */
  readonly charge: string | null;
  readonly expected: number | null;
  readonly found: number | null;
  readonly resolved?: { readonly at: Timestamp; readonly by: string; readonly reason: string | null };
}

export interface ReconciliationReport extends DaySums {
  /** `pc_…` */
  readonly connection: string;
  readonly day: string;
  readonly findings: readonly ReportedFinding[];
}
