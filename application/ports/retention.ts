// The progress of the erasure of old data (rule L3). Operational data: if it is lost, old payments are checked again.

import type { Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Place } from './personalData.ts';

export type RetainedKind = 'payment' | 'payout';

export interface Deferred extends Tenant {
  readonly kind: RetainedKind;
  readonly id: string;
}

export interface RetentionProgress {
  /** Returns the place up to which the tenant's items were checked, or null at first. */
  lookedAt(kind: RetainedKind, tenant: Tenant): Promise<Place<string> | null>;
  setLookedAt(kind: RetainedKind, tenant: Tenant, place: Place<string>): Promise<void>;
  /** Remembers an item whose data can't be erased yet, to check it again at `again`. */
  defer(item: Deferred, again: Timestamp): Promise<void>;
  /** Returns up to `limit` items that are due for another check. */
  due(now: Timestamp, limit: number): Promise<readonly Deferred[]>;
  forget(item: Deferred): Promise<void>;
}
