// Silent connections: no FIN, no RST, and the proxy in between still answers TCP. Timers run at a tenth of their normal time.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig, PgPool, PgSession } from '../../../infrastructure/postgres/session.ts';
import { WATCH_TIMINGS } from '../../../infrastructure/postgres/sessionWatch.ts';
import { emptyDatabase, type TestDatabase } from '../../world/postgres.ts';
import { type PostgresProxy, startPostgresProxy } from '../../world/tcpProxy.ts';
import { type Backends, watchBackends } from './backends.ts';

const NAME = 'silence under test';
const SWIFT = { ...WATCH_TIMINGS, lookMs: 50 };

const refused = (work: Promise<unknown>): Promise<{ name: string; code?: string }> =>
  work.then(
    () => ({ name: 'none' }),
    ({ name, code }: { name: string; code?: string }) => ({ name, ...(code !== undefined && { code }) }),
  );
const SILENT = { name: 'ConnectionSilent', code: '08006' };

describe('silent connections', () => {
  let database: TestDatabase;
  let backends: Backends;
  let proxy: PostgresProxy;
  const open: { close(): Promise<void> }[] = [];
  const opened = <T extends { close(): Promise<void> }>(thing: T): T => {
    open.push(thing);
    return thing;
  };
  const config = () => connectionConfig(proxy.connectionString, NAME, SWIFT);

  beforeEach(async () => {
    database = await emptyDatabase();
    backends = await watchBackends(database.connectionString);
    proxy = await startPostgresProxy(database.connectionString);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((thing) => thing.close()));
    await proxy.close();
    await backends.close();
    await database.drop();
  });

  const SLOW = 'SELECT pg_sleep(0.1), pg_backend_pid() AS pid';
  /** Uses all connections of the pool, and returns their PIDs. */
  const pidsOf = async (pool: PgPool, count: number) =>
    (await Promise.all(Array.from({ length: count }, () => pool.query<{ pid: number }>(SLOW)))).map(
      ({ rows }) => rows[0]?.pid as number,
    );

  for (const round of ['once', 'and again'])
    it(`of pools are detected by the first statement, and all idle ones are replaced, ${round}`, async () => {
      const shared = config();
      const [one, other] = [
        opened(new PgPool(shared, 4, () => undefined)),
        opened(new PgPool(shared, 3, () => undefined)),
      ];
      for (let n = 0; n < (round === 'once' ? 1 : 2); n++) {
        const before = [...(await pidsOf(one, 4)), ...(await pidsOf(other, 3))];
        expect(new Set(before).size).to.equal(7);
        expect(proxy.silence()).to.equal(7);
        expect(await refused(one.query('SELECT 1'))).to.deep.equal(SILENT);
        // The other pool ran no statement: its connections were dropped together with the detected one.
        const after = [...(await pidsOf(one, 4)), ...(await pidsOf(other, 3))];
        expect(after.filter((pid) => before.includes(pid))).to.deep.equal([]);
      }
    });

  it('are also ended on the server, which releases their locks', async () => {
    await backends.sql.query('CREATE TABLE kept (n int PRIMARY KEY)');
    const pool = opened(new PgPool(config(), 2, () => undefined));
    const work = pool.transaction(async (tx) => {
      await tx.query('INSERT INTO kept VALUES (1)');
      proxy.silence();
      await tx.query('INSERT INTO kept VALUES (2)');
    });
    expect(await refused(work)).to.deep.equal(SILENT);
    await pool.query("SET lock_timeout = '2s'");
    await pool.query('INSERT INTO kept VALUES (1)'); // waits for no lock
    expect((await backends.sql.query('SELECT n FROM kept')).rows).to.deep.equal([{ n: 1 }]);
  });

  it('are not confused with slow statements', async () => {
    const pool = opened(new PgPool(config(), 2, () => undefined));
    const session = opened(await PgSession.open(config()));
    await backends.sql.query('SELECT pg_advisory_lock(1)');
    const slow = 'SELECT pg_advisory_lock_shared(1), 7 AS answer';
    const slowly = Promise.all([pool.query<{ answer: number }>(slow), session.query<{ answer: number }>(slow)]);
    await backends.until(async () => proxy.accepted > 3); // the watch has checked both connections
    await backends.sql.query('SELECT pg_advisory_unlock(1)');
    expect((await slowly).map(({ rows }) => rows[0]?.answer)).to.deep.equal([7, 7]);
  });

  it('are not confused with statements that the server cancels', async () => {
    const pool = opened(new PgPool({ ...config(), statement_timeout: 600 }, 1, () => undefined));
    expect(await refused(pool.query('SELECT pg_sleep(5)'))).to.deep.equal({ name: 'error', code: '57014' });
    expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
  });

  it('are detected as soon as their slow statement has ended on the server', async () => {
    const pool = opened(new PgPool(config(), 1, () => undefined));
    await pool.query('SELECT 1');
    await backends.sql.query('SELECT pg_advisory_lock(1)');
    const work = refused(pool.query('SELECT pg_advisory_lock(1)'));
    const waits = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await backends.until(async () => (await backends.sql.query(waits)).rowCount === 1);
    proxy.silence();
    await backends.sql.query('SELECT pg_advisory_unlock(1)');
    expect(await work).to.deep.equal(SILENT);
    expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
  });

  it('are dropped if new ones get no answer either, and replaced when the network is back', async () => {
    const pool = opened(new PgPool({ ...config(), connectionTimeoutMillis: 300 }, 2, () => undefined));
    await pidsOf(pool, 2);
    proxy.blackHole();
    expect(await refused(pool.query('SELECT 1'))).to.deep.equal(SILENT);
    proxy.heal();
    await backends.until(async () => (await pool.query('SELECT 1').catch(() => null)) !== null);
    expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
  });

  it('that listen are detected without a statement, and every listener is called once', async () => {
    const heard: string[] = [];
    let hear: () => void = () => undefined;
    const next = () =>
      new Promise<void>((resolve) => {
        hear = resolve;
      });
    const notices = opened(new NotificationListener(config()));
    await notices.on('a', (payload) => {
      if (payload === 'missed') return; // arrives or not, depending on whether the notice or the new connection is faster
      heard.push(payload);
      hear();
    });
    await notices.open();
    for (const word of ['first', 'second']) {
      const again = next();
      expect(proxy.silence()).to.equal(1);
      await backends.sql.query("SELECT pg_notify('a', 'missed')");
      await again;
      const told = next();
      await backends.sql.query('SELECT pg_notify($1, $2)', ['a', word]);
      await told;
    }
    expect(heard).to.deep.equal(['', '', 'first', '', 'second']);
  });

  it('of a session are reported to its holder, even within a transaction', async () => {
    const lost: string[] = [];
    let tell: () => void = () => undefined;
    const told = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const session = opened(
      await PgSession.open(config(), ({ name }) => {
        lost.push(name);
        tell();
      }),
    );
    await session.query('BEGIN');
    proxy.silence();
    await told;
    expect(lost).to.deep.equal(['ConnectionSilent']);
    await backends.until(async () => (await backends.of(NAME)).length === 0);
  });

  it('are closed within seconds', async () => {
    const session = await PgSession.open({ ...config(), watch: connectionConfig(proxy.connectionString, NAME).watch });
    proxy.silence();
    const beganAtMs = performance.now();
    await session.close();
    expect(performance.now() - beganAtMs).to.be.within(900, 8_000);
  });
});

describe('sessions', () => {
  let database: TestDatabase;
  let backends: Backends;
  beforeEach(async () => {
    database = await emptyDatabase();
    backends = await watchBackends(database.connectionString);
  });
  afterEach(async () => {
    await backends.close();
    await database.drop();
  });

  it('are ended if they are idle in a transaction, unless their holder keeps them alive', async () => {
    const config = {
      ...connectionConfig(database.connectionString, NAME, { ...WATCH_TIMINGS, lookMs: 50 }),
      idle_in_transaction_session_timeout: 1_500, // far above the interval of 100 ms between signs of life
    };
    const pool = new PgPool(config, 1, () => undefined);
    const session = await PgSession.open(config);
    await session.query('BEGIN');
    const kept = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const left = pool.transaction(async () => {
      await backends.until(async () => (await backends.of(NAME)).length === 1);
      // The server's last message precedes its end. It is read before COMMIT is written.
      await setImmediate();
    });
    expect(await refused(left)).to.deep.equal({ name: 'error', code: '25P03' });
    expect(await backends.of(NAME)).to.deep.equal([kept.rows[0]?.pid]);
    await session.query('COMMIT');
    await Promise.all([session.close(), pool.close()]);
  });

  it('set TCP timers of seconds, and at most 9 s of idle time in a transaction', async () => {
    const pool = new PgPool(connectionConfig(database.connectionString, NAME), 1, () => undefined);
    const settings = async (name: string) =>
      (await pool.query<{ value: string }>('SELECT current_setting($1) AS value', [name])).rows[0]?.value;
    expect(await settings('idle_in_transaction_session_timeout')).to.equal('9s');
    const { rows } = await pool.query<{ tcp: boolean }>('SELECT inet_client_addr() IS NOT NULL AS tcp');
    // The server ignores the TCP timers on a Unix socket and returns zero.
    expect([await settings('tcp_keepalives_idle'), await settings('tcp_user_timeout')]).to.deep.equal(
      rows[0]?.tcp ? ['5', '10000'] : ['0', '0'],
    );
    await pool.close();
  });
});
