// Erases data whose retention has passed, if ERASE_AFTER_RETENTION is on (rule L3). It follows each tenant's order of creation, a number of
// tenants at a time. An item that is unreadable or can't be erased yet is checked again later. Real time decides which items are checked,
// account time whether they are erased.

import { keptUntil } from '../../domain/kernel/erasure.ts';
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addMillis, DAY_MS, fromMillis, HOUR_MS, type Timestamp } from '../../domain/kernel/time.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import { throwFirst } from '../ports/eachInTurn.ts';
import type { Deferred, RetainedKind, RetentionProgress } from '../ports/retention.ts';
import type { Clock } from '../ports/system.ts';
import { type EraseNeeds, eraseOne } from './eraseData.ts';
import type { OwnerId } from './findPerson.ts';

export interface RetentionNeeds extends EraseNeeds {
  readonly clock: Clock;
  readonly retentionProgress: RetentionProgress;
  readonly erasesAfterRetention: boolean;
  /** Whether the clock can be trusted. A clock that is far ahead would erase data too early. */
  readonly mayWork: () => boolean;
}

/** Items checked in one run. At one run per minute, at most 720,000 a day are erased. */
export const PER_RUN = 500;
/** Tenants checked in one run for each kind, so that a run costs the same with any number of them. */
export const TENANTS_PER_RUN = 200;
/** Most items end within a day of their creation. If checked earlier, nearly all would have to be checked twice. */
const ENDS_WITHIN_MS = DAY_MS;
/** Rows appear soon after their creation, but not in its order. An item whose row appeared after a later one's would be missed. */
const APPEARS_WITHIN_MS = HOUR_MS;
/** Pause before an item that can't be erased is checked again. */
const AGAIN_MS = 30 * DAY_MS;
const BY = { actor: 'process:retention', requestId: null };
const ORDER = { reason: 'retention passed', despiteRetention: false };

const ownerOf = ({ kind, id }: Deferred): OwnerId =>
  kind === 'payment' ? { payment: id as PaymentId } : { payout: id as PayoutId };

/** The tenant of each kind after which the next run begins. A restart costs another round. */
export type RetentionTurns = Map<RetainedKind, Tenant>;

interface Run {
  readonly now: Timestamp;
  readonly unreadable: StreamUnreadable[];
}

/** Erases the next items whose retention has passed. Throws the first StreamUnreadable after the others are erased. */
export const eraseAfterRetention = async (needs: RetentionNeeds, turns: RetentionTurns): Promise<void> => {
  if (!needs.erasesAfterRetention || !needs.mayWork()) return;
  const now = fromMillis(needs.clock.now());
  const run: Run = { now, unreadable: [] };
  let left = PER_RUN;
  for (const item of await needs.retentionProgress.due(now, PER_RUN)) {
    await eraseOld(needs, item, run);
    left--;
  }
  for (const kind of ['payment', 'payout'] as const) left = await eraseNext(needs, turns, kind, run, left);
  throwFirst(run.unreadable);
};

/** Checks up to `left` items of a kind. Returns how many are left. */
const eraseNext = async (
  needs: RetentionNeeds,
  turns: RetentionTurns,
  kind: RetainedKind,
  run: Run,
  left: number,
): Promise<number> => {
  const { retentionProgress: progress, personalPayments, personalPayouts, retentionYears } = needs;
  const reads = kind === 'payment' ? personalPayments : personalPayouts;
  const margin = retentionYears === 0 ? APPEARS_WITHIN_MS : ENDS_WITHIN_MS;
  const before = keptUntil(addMillis(run.now, -margin), -retentionYears);
  let rest = left;
  const tenants = await reads.tenantsAfter(turns.get(kind) ?? null, TENANTS_PER_RUN);
  for (const tenant of tenants) {
    if (rest <= 0) return 0;
    const after = await progress.lookedAt(kind, tenant);
    const places = await reads.createdBefore(tenant, before, after as never, rest);
    for (const { id } of places) await eraseOld(needs, { kind, id, ...tenant }, run);
    const last = places.at(-1);
    if (last !== undefined) await progress.setLookedAt(kind, tenant, last);
    rest -= places.length;
    if (rest > 0) turns.set(kind, tenant); // all items that are old enough were checked
  }
  if (rest > 0 && tenants.length < TENANTS_PER_RUN) turns.delete(kind);
  return rest;
};

const eraseOld = async (needs: RetentionNeeds, item: Deferred, { now, unreadable }: Run): Promise<void> => {
  const done = await unlessUnreadable(eraseOne(needs)(ownerOf(item), item, ORDER, BY));
  if (done instanceof StreamUnreadable) unreadable.push(done);
  if (done instanceof StreamUnreadable || (isRejection(done) && done.code !== 'not_found'))
    await needs.retentionProgress.defer(item, addMillis(now, AGAIN_MS));
  else await needs.retentionProgress.forget(item);
};
