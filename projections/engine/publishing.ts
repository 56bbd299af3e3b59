// Replaces the views of the read models that this process begins to lead, if this program defines others. A long transaction may read
// such a view, so this has connections of its own, and the read models never wait for it.
import { eachInTurn } from '../../application/ports/eachInTurn.ts';
import { repeating } from '../../application/ports/repeating.ts';
import { isLockUnavailable, type SqlPool } from '../../application/ports/sql.ts';
import type { Projection } from './projection.ts';
import { endLongReads, isPublished } from './publishedViews.ts';
import { publishAnew } from './schemaVersions.ts';

export interface PublishingOptions {
  readonly projections: readonly Projection[];
  readonly db: SqlPool;
  /** Whether this process leads the read model or one of its partitions. */
  readonly isLed: (name: string) => boolean;
  readonly onError: (error: Error) => void;
}

const LOOK_MS = 1_000;

/** Starts the work. Returns a function that stops it. */
export const startPublishing = ({ projections, db, isLed, onError }: PublishingOptions): (() => Promise<void>) => {
  const stopping = new AbortController();
  const published = new Set<string>();
  const look = async (projection: Projection): Promise<void> => {
    const { name } = projection;
    if (!isLed(name)) published.delete(name);
    else if (!published.has(name) && !stopping.signal.aborted && (await publishIfChanged(db, projection)))
      published.add(name);
  };
  const work = repeating(LOOK_MS, () => eachInTurn(projections, look), { onError });
  work.within(0);
  return () => {
    stopping.abort();
    return work.stop();
  };
};

/** Returns false if a long transaction reads a view, or if the live copy has another version: the caller asks again. */
export const publishIfChanged = async (db: SqlPool, projection: Projection): Promise<boolean> => {
  if (await isPublished(db, projection)) return true;
  try {
    return await db.transaction((tx) => publishAnew(tx, projection));
  } catch (error) {
    if (!isLockUnavailable(error)) throw error;
    await endLongReads(db, projection);
    return false;
  }
};
