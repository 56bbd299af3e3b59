// The velocity guard on Postgres: a row for each live charge of the last hour, counted and added by one function under one lock.
import type { PaymentReads } from '../../application/ports/readModels/payments.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { VelocityGuard, VelocityPlace } from '../../application/ports/velocityGuard.ts';
import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import { addMillis, addSeconds, HOUR_MS, type Timestamp } from '../../domain/kernel/time.ts';

interface Needs {
  readonly db: SqlPool;
  readonly payments: Pick<PaymentReads, 'endedAmong'>;
}

/** A creation is stored or given up long before. */
const CREATION_SECONDS_MAX = 60;

export const velocityGuard = ({ db, payments }: Needs): VelocityGuard => {
  const takeOnce = async (place: VelocityPlace) => {
    const { paymentId, accountId, customer, at, customerPerHour, accountPerHour } = place;
    const { rows } = await db.query<{ taken: 'taken' | 'customer' | 'account' }>({
      name: 'take_velocity',
      text: 'SELECT operations.take_velocity($1, $2, $3, $4, $5, $6) AS taken',
      values: [paymentId, accountId, customer, at, customerPerHour, accountPerHour],
    });
    return (rows[0] as (typeof rows)[number]).taken;
  };
  /** Whether places were given back: of charges that have ended, and of creations that were never stored. */
  const freePlaces = async (accountId: AccountId, at: Timestamp): Promise<boolean> => {
    const { rows } = await db.query<{ id: PaymentId; isYoung: boolean }>(
      'SELECT payment_id AS id, taken_at > $2 AS "isYoung" FROM operations.velocity WHERE account_id = $1 AND taken_at > $3',
      [accountId, addSeconds(at, -CREATION_SECONDS_MAX), addMillis(at, -HOUR_MS)],
    );
    const young = new Set(rows.filter(({ isYoung }) => isYoung).map(({ id }) => id));
    const { ended, unknown } = await payments.endedAmong(rows.map(({ id }) => id));
    const free = [...ended, ...unknown.filter((id) => !young.has(id))];
    // In one order, so that two that free the same places never wait for each other.
    if (free.length > 0)
      await db.query(
        `DELETE FROM operations.velocity WHERE payment_id IN
           (SELECT v.payment_id FROM operations.velocity v WHERE v.payment_id = ANY($1::text[]) ORDER BY v.payment_id FOR UPDATE)`,
        [free],
      );
    return free.length > 0;
  };
  return {
    take: async (place) => {
      const taken = await takeOnce(place);
      // Who holds a place is looked at only when there is none left: a place is given back when it is needed.
      if (taken === 'taken' || !(await freePlaces(place.accountId, place.at))) return taken;
      return takeOnce(place);
    },
  };
};
