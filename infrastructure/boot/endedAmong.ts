// What the velocity guard asks of the read models: which of the charges that hold places have ended.
import type { Progress } from '../../application/ports/readModels.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { endedPayments } from '../../projections/payments/ended.ts';
import type { Ended } from '../velocity/velocityGuard.ts';

/** A merchant that just cancelled a charge may make another at once: worst case of a read model. */
const CATCH_UP_MS = 1_000;

export const endedAmong =
  (reads: Sql, progress: Progress, learnHead: () => Promise<void>) =>
  async (ids: readonly PaymentId[]): Promise<Ended> => {
    await learnHead(); // what another process wrote may not have been announced yet
    const isLevel = await progress.caughtUp(CATCH_UP_MS);
    const { ended, unknown } = await endedPayments(reads, ids);
    return { ended, unknown: isLevel ? unknown : [] };
  };
