// On the very first start read models do not exist until the projector leads: nothing can be served before.
import type { Sql } from '../../application/ports/sql.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import { PROJECTIONS } from '../../projections/registry.ts';

const LOOK_MS = 50;

export const untilReadModelsExist = async (db: Sql, signal?: AbortSignal): Promise<void> => {
  const names = PROJECTIONS.map(({ name }) => name);
  while (!signal?.aborted && (await readCheckpoints(db, names)).size < names.length) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};
