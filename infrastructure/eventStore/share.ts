// The progress of long work through a log.
import type { Position } from '../../application/ports/eventStore.ts';

/** Both adapters' positions begin with a number that grows along the log: of events (PostgreSQL), or of bytes (EventStoreDB). */
const lengthUpTo = (position: Position | null): number => Number.parseInt(position ?? '0', 10);

/** Returns the fraction of the log up to `position`: 0 at the beginning, 1 at or after the head. */
export const shareOf = (position: Position | null, head: Position | null): number =>
  head === null ? 1 : Math.min(1, lengthUpTo(position) / lengthUpTo(head));
