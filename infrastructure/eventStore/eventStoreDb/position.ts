// Positions of the EventStoreDB log: commit and prepare position of a record, as text whose order is log order.
import type { Position } from '../../../application/ports/eventStore.ts';

export interface LogPosition {
  readonly commit: bigint;
  readonly prepare: bigint;
}

/** As many digits as the largest unsigned 64-bit number has. */
const DIGITS = 20;
const FORM = /^(\d{20})\/(\d{20})$/;
/** Bytes into the log are signed on the server; beyond this it means "none" (-1) or "the end". */
const LIMIT = 2n ** 63n;

/** `<commit>/<prepare>`, 20 decimal digits each. null when the server gave no position. */
export const positionOf = (commit: string, prepare: string): Position | null => {
  if (commit === '' || prepare === '' || BigInt(commit) >= LIMIT || BigInt(commit) < 0n) return null;
  return `${commit.padStart(DIGITS, '0')}/${prepare.padStart(DIGITS, '0')}` as Position;
};

/** Throws RangeError on a text that is no position of this adapter. */
export const logPositionOf = (position: Position): LogPosition => {
  const [, commit, prepare] = FORM.exec(position) ?? [];
  if (commit === undefined || prepare === undefined)
    throw new RangeError(`not a position of this event store: ${position}`);
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
};

/** The later of the two; null stands before the first event. */
export const later = (a: Position | null, b: Position | null): Position | null =>
  a === null || (b !== null && b > a) ? b : a;
