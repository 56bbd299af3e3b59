// Leadership by a session's advisory lock: it ends with the connection, however the process ended.
import type pg from 'pg';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import type { Sql, SqlResult, SqlStatement } from '../../application/ports/sql.ts';
import { PgSession } from './session.ts';

/** First key of all of Quita's advisory locks ("quit" in ASCII). */
export const LOCK_CLASS = 0x71756974;

class PgLeaderSession implements LeaderSession {
  readonly lost: Promise<never>;
  readonly #session: PgSession;

  constructor(session: PgSession, lost: Promise<never>) {
    this.#session = session;
    this.lost = lost;
  }

  query<Row>(statement: SqlStatement | string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    return this.#session.query<Row>(statement, values);
  }
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
    return this.#session.transaction(work);
  }
  async tryLead(role: string): Promise<boolean> {
    const { rows } = await this.#session.query<{ held: boolean }>(
      'SELECT pg_try_advisory_lock($1, hashtext($2)) AS held',
      [LOCK_CLASS, role],
    );
    return rows[0]?.held === true;
  }
  close(): Promise<void> {
    return this.#session.close();
  }
}

export const leaderSessions =
  (config: pg.ClientConfig): OpenLeaderSession =>
  async (role) => {
    let lose: (error: Error) => void = () => undefined;
    const lost = new Promise<never>((_, reject) => {
      lose = reject;
    });
    lost.catch(() => undefined); // whoever leads awaits it; a session that is only opened must not end the process
    // No statement timeout: a rebuild or a verify may take long, and a leader that hangs is seen by its lag.
    const session = await PgSession.open({ ...config, application_name: `quita ${role}`, statement_timeout: 0 }, lose);
    session.client.on('end', () => lose(new Error(`the ${role}'s connection ended`)));
    await session.query("SET synchronous_commit = off; SET timezone = 'UTC'");
    return new PgLeaderSession(session, lost);
  };
