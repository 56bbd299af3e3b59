// Deletes operational rows whose retention has ended. The runbook lists the retention of each table.
import type { OldRows } from '../../application/ports/oldRows.ts';
import type { SqlPool } from '../../application/ports/sql.ts';

/** Rows per statement. A statement takes some milliseconds. */
const BATCH = 1_000;
/** An account is locked for its places, so that fewer locks are taken at once. */
const BATCH_OF_PLACES = 200;

/**
 * Longer than any use of the rows: 90 days to return a Pix, and 30 for the last comparison with the provider. Real time counts, so
 * advancing a test clock deletes nothing.
 */
const KEPT_DAYS = 180;

/** Tables, and the column with the time from which a row is kept. If it is null, the row is kept. */
const AGED: readonly (readonly [table: string, since: string])[] = [
  ['operations.provider_notifications', 'handled_at'],
  ['sandbox_bank.payments', 'booked_at'],
  ['sandbox_bank.returns', 'returned_at'],
  ['sandbox_bank.refunds', 'booked_at'],
  ['sandbox_bank.payouts', 'booked_at'],
  ['sandbox_bank.instruments', 'answer_at'],
  ['sandbox_bank.facts', 'booked_at'],
  ['sandbox_bank.cases', 'booked_at'],
  ['sandbox_bank.case_rulings', 'booked_at'],
];

const deletion = ([table, since]: (typeof AGED)[number]) => ({
  name: `old_rows_of_${table}`,
  text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${since} < now() - $1 * interval '1 day' ORDER BY ${since} LIMIT $2))`,
  values: [KEPT_DAYS, BATCH],
});

const FORGET_PLACES = {
  name: 'forget_idle_places',
  text: 'SELECT operations.forget_idle_places($1) AS deleted',
  values: [BATCH_OF_PLACES],
};

/** The commits of `db` need not wait for the disk, because work lost in a crash is repeated. */
export const oldRows = (db: SqlPool): OldRows => ({
  deleteSome: async () => {
    let isMore = false;
    for (const aged of AGED) {
      const { rowCount } = await db.query(deletion(aged));
      isMore ||= rowCount === BATCH;
    }
    return isMore;
  },
  deleteIdlePlaces: async () => {
    const { rows } = await db.query<{ deleted: number }>(FORGET_PLACES);
    return rows[0]?.deleted === BATCH_OF_PLACES;
  },
});
