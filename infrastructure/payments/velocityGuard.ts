// The velocity guard in Postgres: one row per live charge of the last hour. One database function counts and inserts under a lock.
import type { PaymentReads } from '../../application/ports/readModels/payments.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { VelocityGuard, VelocityReservation } from '../../application/ports/velocityGuard.ts';
import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import { addMillis, addSeconds, HOUR_MS, type Timestamp } from '../../domain/kernel/time.ts';

interface Needs {
  readonly db: SqlPool;
  readonly payments: Pick<PaymentReads, 'endedAmong'>;
}

/** A creation is stored or abandoned well within this time. */
const CREATION_SECONDS_MAX = 60;

export const velocityGuard = ({ db, payments }: Needs): VelocityGuard => {
  const reserveOnce = async (reservation: VelocityReservation) => {
    const { paymentId, accountId, customer, at, customerPerHour, accountPerHour } = reservation;
    const { rows } = await db.query<{ outcome: 'reserved' | 'customer' | 'account' }>({
      name: 'reserve_velocity',
      text: 'SELECT operations.reserve_velocity($1, $2, $3, $4, $5, $6) AS outcome',
      values: [paymentId, accountId, customer, at, customerPerHour, accountPerHour],
    });
    return (rows[0] as (typeof rows)[number]).outcome;
  };
  /** Deletes reservations of ended charges and of creations that were never stored. Returns false if there were none. */
  const releaseEnded = async (accountId: AccountId, at: Timestamp): Promise<boolean> => {
    const { rows } = await db.query<{ id: PaymentId; isYoung: boolean }>(
      'SELECT payment_id AS id, reserved_at > $2 AS "isYoung" FROM operations.velocity_reservations WHERE account_id = $1 AND reserved_at > $3',
      [accountId, addSeconds(at, -CREATION_SECONDS_MAX), addMillis(at, -HOUR_MS)],
    );
    const young = new Set(rows.filter(({ isYoung }) => isYoung).map(({ id }) => id));
    const { ended, unknown } = await payments.endedAmong(rows.map(({ id }) => id));
    const free = [...ended, ...unknown.filter((id) => !young.has(id))];
    // Rows are locked in a fixed order, so that concurrent releases can't deadlock.
    if (free.length > 0)
      await db.query(
        `DELETE FROM operations.velocity_reservations WHERE payment_id IN
           (SELECT v.payment_id FROM operations.velocity_reservations v WHERE v.payment_id = ANY($1::text[]) ORDER BY v.payment_id FOR UPDATE)`,
        [free],
      );
    return free.length > 0;
  };
  return {
    reserve: async (reservation) => {
      const outcome = await reserveOnce(reservation);
      // Ended reservations are released only when the limit is reached.
      if (outcome === 'reserved' || !(await releaseEnded(reservation.accountId, reservation.at))) return outcome;
      return reserveOnce(reservation);
    },
  };
};
