// The circuit breakers of all processes, for operators. A breaker belongs to its process; only its state is shared.
import { randomUUID } from 'node:crypto';
import type { Circuit, Circuits } from '../../application/ports/connectionWork.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';

/** A process repeats the state of an open circuit at least this often while it uses connections. */
const REPEATED_MS = 10_000;
/** States of processes that have not repeated them for this long are ignored. */
const FRESH = "interval '15 minutes'";

export const circuits = (db: Sql): Circuits => ({
  states: async () => {
    const { rows } = await db.query<{ id: ConnectionId; state: Circuit }>(
      `SELECT connection_id AS id, max(state) AS state FROM operations.connection_circuits
       WHERE seen_at > clock_timestamp() - ${FRESH} GROUP BY connection_id`,
    );
    return new Map(rows.map(({ id, state }) => [id, state]));
  },
});

/** Returns a function that publishes the states of this process's breakers. It writes only if one of them is not closed or has changed. */
export const circuitReports = (db: Sql, nowMs: () => number) => {
  const process = randomUUID();
  const reported = new Map<ConnectionId, { readonly state: Circuit; readonly at: number }>();
  const report = async (id: ConnectionId, state: Circuit): Promise<void> => {
    const last = reported.get(id);
    if (state === 'closed') {
      if (last === undefined) return;
      await db.query('DELETE FROM operations.connection_circuits WHERE connection_id = $1 AND process = $2', [
        id,
        process,
      ]);
      reported.delete(id);
      return;
    }
    if (last?.state === state && nowMs() - last.at < REPEATED_MS) return;
    await db.query(
      `INSERT INTO operations.connection_circuits (connection_id, process, state) VALUES ($1, $2, $3)
       ON CONFLICT (connection_id, process) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at`,
      [id, process, state],
    );
    reported.set(id, { state, at: nowMs() });
  };
  return {
    report,
    /** Deletes the states of this process. */
    withdraw: async (): Promise<void> => {
      if (reported.size > 0) await db.query('DELETE FROM operations.connection_circuits WHERE process = $1', [process]);
    },
  };
};
