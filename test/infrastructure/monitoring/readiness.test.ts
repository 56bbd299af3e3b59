// A process is not ready while a consumer stands still in any process (architecture §9).
import { expect } from 'chai';
import pg from 'pg';
import type { EventStore, Position } from '../../../application/ports/eventStore.ts';
import { unreadiness } from '../../../infrastructure/monitoring/readiness.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { LogProgress } from '../../../infrastructure/subscriptions/progress.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

describe('a process beside processes of another version', () => {
  let database: TestDatabase;
  let reads: PgPool;
  let worker: pg.Client;
  beforeEach(async () => {
    database = await migratedDatabase();
    reads = new PgPool(connectionConfig(database.connectionString, 'test'), 2, () => undefined);
    worker = new pg.Client({ connectionString: database.connectionString });
    await worker.connect();
  });
  afterEach(async () => {
    await worker.end();
    await reads.close();
    await database.drop();
  });

  /** Records which process managers the worker can lead. */
  const canLead = (able: readonly string[]) =>
    worker.query(
      `INSERT INTO subscriptions.leaderships (role, shares, pid, started_at, renewed_at, able)
       SELECT 'reactor/1', 'reactor', pid, backend_start, now(), $1 FROM pg_stat_activity WHERE pid = pg_backend_pid()
       ON CONFLICT (role) DO UPDATE SET able = excluded.able`,
      [able],
    );

  it('is ready even if a process manager of its version is unknown to all running workers', async () => {
    let now = 0;
    const reacted = new LogProgress(() => now, ['process/a', 'process/b', 'process/removed']);
    reacted.sawHead('2' as Position);
    now += 60_000;
    const store = { head: async () => '2', refusal: async () => null } as unknown as EventStore;
    const nothing = { projector: null, reactor: null, clockFault: () => null };
    const reason = () =>
      unreadiness({ store, reads }, { projected: new LogProgress(() => 0, []), reacted, ...nothing });
    expect(await reason(), 'no worker lives').to.equal('behind the log: process/a, process/b, process/removed');
    await canLead(['process/a', 'process/b#0/2', 'process/b#1/2']);
    expect(await reason()).to.equal('behind the log: process/a, process/b');
    await canLead(['process/c']);
    expect(await reason()).to.equal(null);
  });
});
