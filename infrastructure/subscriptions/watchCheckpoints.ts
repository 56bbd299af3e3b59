// How far followers in other processes are: their notices tell at once; their checkpoints are read at the start, and again while
// nothing is heard of them, because a notice can be missed.

import type { Sql } from '../../application/ports/sql.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import type { LogProgress } from './progress.ts';

const LOOK_MS = 500;

export const watchCheckpoints = async (
  db: Sql,
  progress: LogProgress,
  onError: (error: Error) => void,
): Promise<() => void> => {
  const look = async () => {
    for (const { name, position } of (await readCheckpoints(db, progress.names)).values())
      if (position !== null) progress.moved([name], position);
  };
  await look();
  const timer = setInterval(() => {
    if (progress.stuckMs() > LOOK_MS) look().catch(onError);
  }, LOOK_MS);
  return () => clearInterval(timer);
};
