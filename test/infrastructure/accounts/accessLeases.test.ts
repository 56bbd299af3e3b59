// Access leases (ADR 0009): announcing a change returns once no process relies on data it cached before the change.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { Stopwatch } from '../../../application/ports/system.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { type AccessLeaseTimings, PostgresAccessLeases } from '../../../infrastructure/accounts/accessLeases.ts';
import { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const ACCOUNT = '0'.repeat(26) as AccountId;
/** No lease is renewed by a timer or expires during a test, unless the test moves the clock. */
const STILL: AccessLeaseTimings = { leaseMs: 60_000, renewMs: 1_000_000, idleMs: 1_000_000 };
/** The announcer polls often, with a pause each time, so the lease must be long enough for a slow holder to react. */
const LONG = { timings: { leaseMs: 100 * STILL.leaseMs } };

describe('access leases', () => {
  let database: TestDatabase;
  let db: PgPool;
  let notices: NotificationListener;
  let opened: { close(): Promise<void> }[];
  /** Real time doesn't count. A pause ends at once and advances this clock by its length. */
  let time: { elapsedMs: number; wallMs: number };
  const stopwatch: Stopwatch = {
    elapsedMs: () => time.elapsedMs,
    pause: async (ms) => {
      time.elapsedMs += ms;
    },
  };

  before(async () => {
    database = await migratedDatabase();
    const config = connectionConfig(database.connectionString, 'test');
    db = new PgPool(config, 8, () => undefined);
    notices = new NotificationListener(config);
    await notices.open();
  });
  after(async () => {
    await notices.close();
    await db.close();
    await database.drop();
  });
  beforeEach(() => {
    opened = [];
    time = { elapsedMs: 0, wallMs: 0 };
  });
  afterEach(async () => {
    for (const leases of opened) await leases.close();
    await db.query('DELETE FROM operations.access_leases');
  });

  interface Options {
    readonly timings?: Partial<AccessLeaseTimings>;
    readonly stopwatch?: Stopwatch;
    readonly isDeaf?: boolean;
    readonly notices?: Pick<NotificationListener, 'on'>;
    readonly db?: Pick<PgPool, 'query' | 'transaction'>;
  }
  let processes = 0;
  const process = async (options: Options = {}) => {
    const heard: (AccountId | null)[] = [];
    const errors: Error[] = [];
    const leases = new PostgresAccessLeases({
      db: options.db ?? db,
      process: `p${++processes}`,
      stopwatch: options.stopwatch ?? stopwatch,
      wallNow: () => time.wallMs,
      timings: { ...STILL, ...options.timings },
      onError: (error) => errors.push(error),
    });
    leases.onChange((account) => heard.push(account));
    await leases.follow(options.isDeaf ? { on: async () => () => undefined } : (options.notices ?? notices));
    opened.push(leases);
    return { leases, heard, errors };
  };
  const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isSo())) await setImmediate();
  };
  /** Returns a process that holds a lease and has no pending changes. */
  const holder = async (options: Options = {}) => {
    const one = await process(options);
    await until(() => one.leases.isHeld());
    one.heard.length = 0;
    return one;
  };
  const through = (way: () => Pick<PgPool, 'query'>): NonNullable<Options['db']> => ({
    query: (...args) => way().query(...args),
    transaction: (work) => db.transaction(work),
  });
  const announcer = () =>
    new PostgresAccessLeases({ db, process: 'announcer', stopwatch, onError: () => undefined, timings: STILL });
  const onRecord = async (): Promise<number> => (await db.query('SELECT FROM operations.access_leases')).rowCount;

  it('are acquired on first use, and the holder first drops its whole cache', async () => {
    const { leases, heard } = await process();
    expect([leases.isHeld(), heard]).to.deep.equal([false, []]);
    await until(() => leases.isHeld());
    expect(heard).to.deep.equal([null]);
  });

  it('survive a change: every holder receives it before announce returns', async () => {
    const [one, two] = [await holder(LONG), await holder(LONG)];
    await announcer().announce(ACCOUNT);
    expect([one.heard, two.heard, time.elapsedMs < LONG.timings.leaseMs]).to.deep.equal([[ACCOUNT], [ACCOUNT], true]);
    expect([one.leases.isHeld(), two.leases.isHeld()]).to.deep.equal([true, true]);
  });

  it('also deliver a change to the process that announces it', async () => {
    const { leases, heard } = await holder(LONG);
    await leases.announce(ACCOUNT);
    expect(heard).to.deep.equal([ACCOUNT]);
  });

  it('deliver a change at the next renewal to a process that receives no notices', async () => {
    const { leases, heard } = await holder({ isDeaf: true, stopwatch: systemStopwatch, timings: { renewMs: 5 } });
    await new PostgresAccessLeases({ db, process: 'a', stopwatch: systemStopwatch, onError: () => undefined }).announce(
      ACCOUNT,
    );
    expect([heard, leases.isHeld()]).to.deep.equal([[ACCOUNT], true]);
  });

  it('of an unresponsive process delay a change by at most one lease length, and only once', async () => {
    const frozen = await holder({ isDeaf: true });
    await announcer().announce(ACCOUNT);
    expect([time.elapsedMs, await onRecord()]).to.deep.equal([STILL.leaseMs, 0]);
    await announcer().announce(ACCOUNT);
    expect(time.elapsedMs).to.equal(STILL.leaseMs);
    expect([frozen.leases.isHeld(), frozen.heard]).to.deep.equal([false, []]);
  });

  it('deliver missed changes to a returning process before it holds a lease again', async () => {
    const frozen = await holder({ isDeaf: true });
    const other = 'other' as AccountId;
    await announcer().announce(ACCOUNT);
    await announcer().announce(other);
    await until(() => frozen.leases.isHeld());
    expect(frozen.heard).to.deep.equal([ACCOUNT, other]);
  });

  it('make a process drop its whole cache if it missed more than 64 changes', async () => {
    const [few, many] = [await holder({ isDeaf: true }), await holder({ isDeaf: true })];
    for (let i = 0; i < 64; i++) await announcer().announce(`a${i}` as AccountId);
    await until(() => few.leases.isHeld());
    await announcer().announce(ACCOUNT);
    await until(() => many.leases.isHeld());
    expect([few.heard.length, few.heard.at(-1), many.heard]).to.deep.equal([64, 'a63', [null]]);
  });

  it('expire before announce stops waiting, by the monotonic and by the wall clock', async () => {
    const { leases } = await holder({ isDeaf: true });
    time.elapsedMs = STILL.leaseMs * 0.9 - 1;
    expect(leases.isHeld()).to.equal(true);
    time.elapsedMs += 1;
    expect(leases.isHeld()).to.equal(false);
    await until(() => leases.isHeld());
    time.wallMs -= STILL.leaseMs;
    expect(leases.isHeld()).to.equal(true);
    time.wallMs += 2 * STILL.leaseMs;
    expect(leases.isHeld()).to.equal(false);
  });

  it('can’t be extended past a change by a renewal that began before it', async () => {
    let answered = false;
    let way: Pick<PgPool, 'query'> = db;
    const { announced } = await db.transaction(async (tx) => {
      way = tx;
      await holder({ isDeaf: true, db: through(() => way) });
      const announced = announcer()
        .announce(ACCOUNT)
        .then(() => {
          answered = true;
        });
      await until(async () => {
        const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        return answered || (await db.query(blocked)).rowCount > 0;
      });
      expect([answered, time.elapsedMs]).to.deep.equal([false, 0]);
      return { announced };
    });
    way = db;
    await announced;
    expect(time.elapsedMs).to.equal(STILL.leaseMs);
  });

  it('count from before their request, and announce waits from the time the change was written', async () => {
    let takesMs = 0;
    const slow = through(() => ({
      query: async <Row>(...args: Parameters<PgPool['query']>) => {
        const result = await db.query<Row>(...args);
        time.elapsedMs += takesMs;
        return result;
      },
    }));
    const { leases } = await holder({ isDeaf: true, db: slow });
    takesMs = STILL.leaseMs / 2;
    time.elapsedMs = STILL.leaseMs;
    await until(() => leases.isHeld());
    expect(time.elapsedMs).to.equal(1.5 * STILL.leaseMs);
    takesMs = 0;
    time.elapsedMs += 0.4 * STILL.leaseMs;
    expect(leases.isHeld()).to.equal(false);
    await until(() => leases.isHeld());

    time.elapsedMs = 0;
    const writing = through(() => ({
      query: async <Row>(...args: Parameters<PgPool['query']>) => {
        const result = await db.query<Row>(...args);
        if (time.elapsedMs === 0) time.elapsedMs = 1_000;
        return result;
      },
    }));
    const options = { process: 'slow', stopwatch, onError: () => undefined, timings: STILL };
    await new PostgresAccessLeases({ db: writing, ...options }).announce(ACCOUNT);
    expect(time.elapsedMs).to.equal(1_000 + STILL.leaseMs);
  });

  it('are renewed again if a change arrives during a renewal', async () => {
    let hear = (): void => undefined;
    let gate: Promise<void> | null = null;
    const reached = Promise.withResolvers<void>();
    const opening = Promise.withResolvers<void>();
    const held = through(() => ({
      query: async <Row>(...args: Parameters<PgPool['query']>) => {
        const result = await db.query<Row>(...args);
        if (gate !== null) reached.resolve();
        await gate;
        return result;
      },
    }));
    const { leases, heard } = await holder({
      db: held,
      notices: {
        on: async (_, listener) => {
          hear = () => listener('');
          return () => undefined;
        },
      },
    });
    gate = opening.promise;
    time.elapsedMs = STILL.leaseMs;
    expect(leases.isHeld()).to.equal(false);
    await reached.promise;
    const patient: Stopwatch = { elapsedMs: () => 0, pause: () => setImmediate() };
    const versions = async () => (await db.query('SELECT version FROM operations.access_changes')).rows;
    const before = await versions();
    const options = { process: 'patient', stopwatch: patient, onError: () => undefined, timings: STILL };
    const announced = new PostgresAccessLeases({ db, ...options }).announce(ACCOUNT);
    await until(async () => JSON.stringify(await versions()) !== JSON.stringify(before));
    hear();
    gate = null;
    opening.resolve();
    await announced;
    expect([heard, leases.isHeld()]).to.deep.equal([[ACCOUNT], true]);
  });

  it('are not held while the database is unreachable, which is reported once, and are acquired afterwards', async () => {
    let isAway = false;
    const away: NonNullable<Options['db']> = {
      query: async <Row>(...args: Parameters<PgPool['query']>) => {
        if (isAway) throw new Error('away');
        return db.query<Row>(...args);
      },
      transaction: (work) => db.transaction(work),
    };
    const { leases, errors } = await holder({ db: away });
    isAway = true;
    time.elapsedMs = STILL.leaseMs;
    await until(() => !leases.isHeld() && errors.length > 0);
    for (let i = 0; i < 20; i++) {
      expect(leases.isHeld()).to.equal(false);
      await setImmediate();
    }
    expect(errors.map(({ message }) => message)).to.deep.equal(['away']);
    isAway = false;
    await until(() => leases.isHeld());
  });

  it('are released by an idle process and by one that stops', async () => {
    const idle = await holder({ timings: { renewMs: 5, idleMs: 1_000 } });
    const stopping = await holder();
    expect(await onRecord()).to.equal(2);
    time.elapsedMs = 1_001;
    await until(async () => (await onRecord()) === 1);
    await stopping.leases.close();
    expect(await onRecord()).to.equal(0);
    await announcer().announce(ACCOUNT);
    expect([time.elapsedMs, idle.leases.isHeld()]).to.deep.equal([1_001, false]);
    await until(() => idle.leases.isHeld());
    expect(idle.heard).to.deep.equal([ACCOUNT]);
  });

  it('are never held by a process that only announces', async () => {
    const leases = announcer();
    expect(leases.isHeld()).to.equal(false);
    await leases.announce(ACCOUNT);
    expect([leases.isHeld(), await onRecord()]).to.deep.equal([false, 0]);
  });
});
