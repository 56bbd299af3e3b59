// How far into a log a position stands, for whoever shows the progress of long work.
import type { Position } from '../../application/ports/eventStore.ts';

/** Both adapters' positions begin with a number that grows along the log: of events (PostgreSQL), or of bytes (EventStoreDB). */
const lengthUpTo = (position: Position | null): number => Number.parseInt(position ?? '0', 10);

/** Returns 0 at the beginning and 1 at the head, or behind it. */
export const shareOf = (position: Position | null, head: Position | null): number =>
  head === null ? 1 : Math.min(1, lengthUpTo(position) / lengthUpTo(head));
