// What the velocity guard asks of the read models: which of the charges that hold places have ended.
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { endedPayments } from '../../projections/payments/ended.ts';
import type { Ended } from '../operations/velocityGuard.ts';
import type { LevelWithLog } from './levelWithLog.ts';

/** A merchant that just cancelled a charge may make another at once: worst case of a read model. */
const CATCH_UP_MS = 1_000;

export const endedAmong =
  (reads: Sql, level: LevelWithLog) =>
  async (ids: readonly PaymentId[]): Promise<Ended> => {
    const { isLevel } = await level(CATCH_UP_MS);
    const { ended, unknown } = await endedPayments(reads, ids);
    return { ended, unknown: isLevel ? unknown : [] };
  };
