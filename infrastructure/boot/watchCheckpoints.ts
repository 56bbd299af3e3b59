// How far followers in other processes are: their notices tell at once; their checkpoints are read at the start, and again while
// nothing is heard of them, because a notice can be missed.

import type { Position } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import type { LogProgress } from './progress.ts';

const LOOK_MS = 500;

export const watchCheckpoints = async (
  db: Sql,
  names: readonly string[],
  progress: LogProgress,
  onError: (error: Error) => void,
): Promise<() => void> => {
  const look = async () => {
    const known = await readCheckpoints(db, names);
    const positions = names.map((name) => known.get(name)?.position ?? null);
    if (!positions.includes(null)) progress.moved((positions as Position[]).toSorted()[0] as Position);
  };
  await look();
  const timer = setInterval(() => {
    if (progress.stuckMs() > LOOK_MS) look().catch(onError);
  }, LOOK_MS);
  return () => clearInterval(timer);
};
