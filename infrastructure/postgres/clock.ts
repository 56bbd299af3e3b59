// The clock that everything in a process goes by: the database's.
import type { Sql } from '../../application/ports/sql.ts';
import type { Log } from '../log/log.ts';
import { DatabaseClock } from './databaseClock.ts';

/**
 * A process whose own clock is off goes on by the database's where it must answer (the API says that it is not ready), and takes no
 * work meanwhile: what it does not do by our clock (certificates, deadlines of other libraries, logs) would be wrong.
 */
export const openClock = (db: Sql, log: Log): Promise<DatabaseClock> =>
  DatabaseClock.open({
    db,
    wallNow: Date.now,
    steadyNow: () => performance.now(),
    onFault: (fault) =>
      fault === null
        ? log.info('the clock of this machine is right again: work goes on')
        : log.error(`${fault}; this process takes no work until then`),
    onError: (err) => log.warn({ err }, 'the clock of the database could not be read'),
  });
