// The velocity guard in Postgres: one row per live charge of the last hour, and their total. One database function counts and inserts under
// a lock.
import { boundedCache } from '../../application/ports/boundedCache.ts';
import type { PaymentReads } from '../../application/ports/readModels/payments.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { VelocityGuard, VelocityOutcome, VelocityReservation } from '../../application/ports/velocityGuard.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { addMillis, addSeconds, HOUR_MS } from '../../domain/kernel/time.ts';

interface Needs {
  readonly db: SqlPool;
  readonly payments: Pick<PaymentReads, 'endedAmong'>;
}

/** The maximum number of reservations that one refused charge checks, so that it costs the same at any limit. */
const LOOKED_AT_MAX = 2_000;
/** One release for each limit. */
const RELEASES_MAX = 2;
/** A creation is stored or abandoned well within this time. */
const CREATION_SECONDS_MAX = 60;

const RESERVE = `SELECT operations.reserve_charge($1, $2, $3, $4, $5, $6, interval '${CREATION_SECONDS_MAX} s') AS outcome`;

const ofLimit = (condition: string, since: string): string =>
  `SELECT payment_id AS id, reserved_at > $2 AS "isYoung", reserved_at::text AS until FROM operations.velocity_reservations
   WHERE account_id = $1 AND reserved_at > ${since}${condition} ORDER BY reserved_at FETCH FIRST ($4::bigint) ROWS WITH TIES`;
const OF_LIMIT = {
  customer: ofLimit(' AND customer = $5', 'greatest($3::timestamptz, $6)'),
  account: ofLimit('', 'greatest($3, (SELECT checked_until FROM operations.velocity_totals WHERE account_id = $1))'),
};

/** Stores the place up to which the account's places were checked. */
const RELEASE_OF_CUSTOMER = `SELECT operations.release_velocity($1, $2,
  (SELECT checked_until FROM operations.velocity_totals WHERE account_id = $1))`;

/** Makes the next check begin with the oldest place. Writes nothing if it already does. */
const LOOK_FROM_START = `UPDATE operations.velocity_totals SET checked_until = '-infinity'
  WHERE account_id = $1 AND checked_until > '-infinity'`;

/**
 * Customers with more than LOOKED_AT_MAX places that a process remembers. The places of a forgotten customer are checked from the start.
 */
const REMEMBERED_CUSTOMERS = 1_000;

export const velocityGuard = ({ db, payments }: Needs): VelocityGuard => {
  /** Like `checked_until` of an account's total, but for one customer and only in this process. */
  const customersCheckedUntil = boundedCache<string, string>(REMEMBERED_CUSTOMERS);
  const reserveOnce = async (reservation: VelocityReservation) => {
    const { paymentId, accountId, customer, at, customerPerHour, accountPerHour } = reservation;
    const { rows } = await db.query<{ outcome: VelocityOutcome }>({
      name: 'reserve_charge',
      text: RESERVE,
      values: [paymentId, accountId, customer, at, customerPerHour, accountPerHour],
    });
    return (rows[0] as (typeof rows)[number]).outcome;
  };
  /**
   * Frees the places of ended charges and of creations that were never stored. Checks LOOKED_AT_MAX places, continuing where it last
   * stopped. Returns false if it freed none.
   */
  const releaseEnded = async (reservation: VelocityReservation, limit: 'customer' | 'account'): Promise<boolean> => {
    const { accountId, customer, at } = reservation;
    const ofCustomer = `${accountId} ${customer}`;
    const { rows } = await db.query<{ id: PaymentId; isYoung: boolean; until: string }>({
      name: `velocity_of_${limit}`,
      text: OF_LIMIT[limit],
      values: [
        ...[accountId, addSeconds(at, -CREATION_SECONDS_MAX), addMillis(at, -HOUR_MS), LOOKED_AT_MAX],
        ...(limit === 'customer' ? [customer, customersCheckedUntil.get(ofCustomer) ?? '-infinity'] : []),
      ],
    });
    const young = new Set(rows.filter(({ isYoung }) => isYoung).map(({ id }) => id));
    const { ended, unknown } = await payments.endedAmong(rows.map(({ id }) => id));
    const free = [...ended, ...unknown.filter((id) => !young.has(id))];
    // After the last part, the next check begins with the oldest place, because places checked earlier may have ended since.
    const until = rows.length >= LOOKED_AT_MAX ? rows.at(-1)?.until : undefined;
    if (limit === 'customer') {
      customersCheckedUntil.set(ofCustomer, until);
      if (free.length > 0) await db.query(RELEASE_OF_CUSTOMER, [accountId, free]);
    } else if (free.length > 0 || until !== undefined)
      await db.query('SELECT operations.release_velocity($1, $2, $3)', [accountId, free, until ?? '-infinity']);
    else await db.query(LOOK_FROM_START, [accountId]);
    return free.length > 0;
  };
  return {
    reserve: async (reservation) => {
      let outcome = await reserveOnce(reservation);
      // Ended reservations are released only when a limit is reached; both limits may be.
      for (let n = 0; n < RELEASES_MAX && (outcome === 'customer' || outcome === 'account'); n++) {
        if (!(await releaseEnded(reservation, outcome))) break;
        outcome = await reserveOnce(reservation);
      }
      return outcome;
    },
  };
};
