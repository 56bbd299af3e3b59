// When a bank is asked what became of money on its way: soon, then each time after twice as long.
import { addMillis, DAY_MS, fromMillis, SECOND_MS, type Timestamp, toMillis } from '../../domain/kernel/time.ts';

/** After the bank took the order. */
export const FIRST_LOOK_SECONDS = 1;

/** Looks that are a day or more apart come together, at midnight UTC. */
export const nextLook = (requestedAt: Timestamp, at: Timestamp): Timestamp => {
  const pauseMs = Math.max(toMillis(at) - toMillis(requestedAt), FIRST_LOOK_SECONDS * SECOND_MS);
  return pauseMs < DAY_MS ? addMillis(at, pauseMs) : fromMillis((Math.floor(toMillis(at) / DAY_MS) + 1) * DAY_MS);
};
