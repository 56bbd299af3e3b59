// Shows which sessions are connected to the server, and terminates them.
import pg from 'pg';

export interface Backends {
  /** A connection for the test itself, which is never cut. It returns integers as text. */
  readonly sql: pg.Client;
  /** Returns the PIDs of connections with this application name. */
  of(application: string): Promise<readonly number[]>;
  /** Terminates all connections with this application name. Resolves to their number when the server has ended them. */
  cut(application: string): Promise<number>;
  /** Polls until `look` returns a truthy value, with a round trip to the server in between. */
  until<T>(look: () => Promise<T | null | false | undefined>, timeoutMs?: number): Promise<T>;
  /** Returns the milliseconds of a trivial statement, to scale time limits with the speed of the machine. */
  roundTripMs(): Promise<number>;
  close(): Promise<void>;
}

export const watchBackends = async (connectionString: string): Promise<Backends> => {
  const sql = new pg.Client({ connectionString, application_name: 'test backends' });
  sql.on('error', () => undefined);
  await sql.connect();
  const of = async (application: string) => {
    const { rows } = await sql.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
      [application],
    );
    return rows.map(({ pid }) => pid);
  };
  const until: Backends['until'] = async (look, timeoutMs = 30_000) => {
    for (const end = performance.now() + timeoutMs; ; ) {
      const found = await look();
      if (found) return found;
      if (performance.now() > end) throw new Error(`nothing within ${timeoutMs} ms`);
      await sql.query('SELECT 1');
    }
  };
  return {
    sql,
    of,
    until,
    cut: async (application) => {
      const pids = await of(application);
      await sql.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) pid', [pids]);
      await until(async () => !(await of(application)).some((pid) => pids.includes(pid)));
      return pids.length;
    },
    roundTripMs: async () => {
      const started = performance.now();
      await sql.query('SELECT 1');
      return performance.now() - started;
    },
    close: () => sql.end(),
  };
};
