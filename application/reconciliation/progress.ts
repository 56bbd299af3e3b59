// The progress of the comparison with a provider's list of payments.

import { addMillis, HOUR_MS, type Timestamp } from '../../domain/kernel/time.ts';

/** A provider may list a payment up to this long after it was made, so each round reads this much again. */
export const OVERLAP_MS = HOUR_MS;

/** Returns `until`, or null if it lies in the future: it came from a host with a wrong clock, so the real progress is unknown. */
export const plausible = (until: Timestamp | null, now: Timestamp): Timestamp | null =>
  until !== null && until > addMillis(now, OVERLAP_MS) ? null : until;
