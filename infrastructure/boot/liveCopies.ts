// Before the projector leads: every read model has tables of this version.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import { ensureLive } from '../../projections/engine/copies.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { rebuild } from '../../projections/engine/rebuild.ts';

/** Missing ones are created empty and caught up live; those of another version are rebuilt beside the old copy, which is read meanwhile. */
export const prepareLiveCopies =
  (projections: readonly Projection[], log: EventLog, openSession: OpenLeaderSession) =>
  async (session: LeaderSession): Promise<void> => {
    for (const projection of projections) {
      const condition = await session.transaction((tx) => ensureLive(tx, projection, log.store.storeId));
      if (condition === 'outdated') await rebuild(projection, log, openSession);
    }
  };
