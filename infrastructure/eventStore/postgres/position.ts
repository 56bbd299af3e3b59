// Positions of the Postgres log: 1, 2, 3 … in commit order, shown as 19 digits so that text order is log order.
import type { Position } from '../../../application/ports/eventStore.ts';

/** As many digits as the largest bigint has. */
const DIGITS = 19;
const FORM = /^\d{19}$/;

/** `place` ≥ 1, a safe integer: 9·10¹⁵ events are beyond any log. */
export const positionOf = (place: number): Position => String(place).padStart(DIGITS, '0') as Position;

/** The place of a position of this adapter; 0 for null, which stands before the first event. Throws RangeError on any other text. */
export const placeOf = (position: Position | null): number => {
  if (position === null) return 0;
  const place = FORM.test(position) ? Number(position) : Number.NaN;
  if (!Number.isSafeInteger(place)) throw new RangeError(`not a position of this event store: ${position}`);
  return place;
};

export const positionOrNull = (place: number): Position | null => (place === 0 ? null : positionOf(place));
