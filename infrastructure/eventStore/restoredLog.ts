// The one line about a log that was restored to an older state while somebody followed it.
import { type Position, UnknownPosition } from '../../application/ports/eventStore.ts';

/** `found`: what the log has where the follower stands. */
export const restoredLog = (
  at: Position | null,
  found: 'no event' | 'another event',
  cause?: unknown,
): UnknownPosition =>
  new UnknownPosition(
    `the event store has ${found} at position ${at}, up to which it was followed: was a backup restored? Restore both stores, the event store last`,
    { cause },
  );
