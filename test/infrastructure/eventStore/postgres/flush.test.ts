// Appends at the database: outcomes that become unknown at a chosen moment, rejected values, deadlines and session settings.
import { expect } from 'chai';
import type { EventStore } from '../../../../application/ports/eventStore.ts';
import { openPostgresEventStore } from '../../../../infrastructure/eventStore/postgres/store.ts';
import {
  brief,
  collect,
  failureOf,
  idsOf,
  newEvent,
  newEvents,
  newStream,
} from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../world/tcpProxy.ts';

/** The key of event_store.append's advisory lock. */
const APPEND_LOCK = '5860930411590117';

describe('flush', () => {
  let log: PostgresEventLog;
  let proxy: PostgresProxy;
  let store: EventStore;
  let faults: Error[];

  beforeEach(async () => {
    log = await createPostgresEventLog();
    proxy = await startPostgresProxy(log.connectionString);
    faults = [];
    store = await openPostgresEventStore({
      connectionString: proxy.connectionString,
      onError: (error) => faults.push(error),
    });
    await store.append(newStream(), -1, newEvents(1));
  });
  afterEach(async () => {
    proxy.heal();
    await store.close();
    await proxy.close();
    await log.dispose();
  });

  const untilCommitted = async (stream: string): Promise<void> => {
    const text = 'SELECT FROM event_store.events WHERE stream = $1';
    while ((await log.sql.query(text, [stream])).rowCount === 0);
  };
  /** Returns the number of connections of event stores at the server. */
  const backends = async (): Promise<number> => {
    const { rows } = await log.sql.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'quita event store%'`,
    );
    return rows[0]!.n;
  };
  const holdLock = async (): Promise<void> => {
    await log.sql.query('SELECT pg_advisory_lock($1)', [APPEND_LOCK]);
  };
  const releaseLock = async (): Promise<void> => {
    await log.sql.query('SELECT pg_advisory_unlock($1)', [APPEND_LOCK]);
  };

  it('is repeated if its connection is lost after the commit, and returns what was written', async () => {
    const stream = newStream();
    const events = newEvents(2);
    proxy.swallowAnswers();
    const answer = store.append(stream, -1, events);
    await untilCommitted(stream);
    proxy.heal();
    expect(brief(await answer)).to.deep.equal({ ok: true, revision: 1 });
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(idsOf(events));
    expect(faults.length).to.be.above(0);
  });

  it('is repeated if its connection is lost before the server received it, and writes once', async () => {
    const stream = newStream();
    const events = newEvents(2);
    proxy.swallowRequests();
    const sent = proxy.sees(events[0]!.data);
    const answer = store.append(stream, -1, events);
    await sent;
    proxy.heal();
    expect(brief(await answer)).to.deep.equal({ ok: true, revision: 1 });
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(idsOf(events));
  });

  it('writes once if it is repeated while its first attempt still waits in the server', async () => {
    const stream = newStream();
    const events = newEvents(2);
    await holdLock();
    const answer = store.append(stream, -1, events);
    await untilWaitingForLock(1);
    proxy.heal();
    await untilWaitingForLock(2);
    await releaseLock();
    expect(brief(await answer)).to.deep.equal({ ok: true, revision: 1 });
    await untilWaitingForLock(0);
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(idsOf(events));
  });

  it('ends within 10 s: as unknown if the server is silent, as unavailable if it was not sent or got no lock', async () => {
    const locked = await createPostgresEventLog();
    const lockedStore = await locked.connect();
    await locked.sql.query('SELECT pg_advisory_lock($1)', [APPEND_LOCK]);
    const began = performance.now();
    const names = { sent: newStream(), behind: newStream(), lockless: newStream() };

    proxy.swallowAnswers();
    const sees = proxy.sees(names.sent);
    const sent = failureOf(() => store.append(names.sent, -1, [newEvent()]));
    await sees;
    const outcomes = await Promise.all([
      sent,
      failureOf(() => store.append(names.behind, -1, [newEvent()])),
      failureOf(() => lockedStore.append(names.lockless, -1, [newEvent()])),
    ]);
    expect(outcomes).to.deep.equal(['AppendOutcomeUnknown', 'EventStoreUnavailable', 'EventStoreUnavailable']);
    expect(performance.now() - began).to.be.below(10_000 + 5_000); // a margin for a busy machine

    // An append that was reported as not written is not written later either.
    proxy.heal();
    await locked.sql.query('SELECT pg_advisory_unlock($1)', [APPEND_LOCK]);
    for (const [to, stream] of [
      [store, names.behind],
      [lockedStore, names.lockless],
    ] as const) {
      expect(brief(await to.append(newStream(), -1, newEvents(1)))).to.deep.equal({ ok: true, revision: 0 });
      expect(await collect(to.readStream(stream))).to.deep.equal([]);
    }
    await locked.dispose();
  });

  it('fails only the append that the server rejects', async () => {
    await log.sql.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.type = 'BadValue' THEN RAISE EXCEPTION 'bad value' USING ERRCODE = '22P05'; END IF;
        IF NEW.type = 'Refused' THEN RAISE EXCEPTION 'refused' USING ERRCODE = '42501'; END IF;
        RETURN NEW; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON event_store.events FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const types = ['Good', 'BadValue', 'Good', 'Refused', 'Good'];
    const outcomes = await Promise.all(
      types.map((type) =>
        store.append(newStream(), -1, [newEvent({ type })]).then(brief, ({ name }: Error) => ({ name })),
      ),
    );
    const good = { ok: true, revision: 0 };
    expect(outcomes).to.deep.equal([good, { name: 'InvalidAppend' }, good, { name: 'EventStoreUnavailable' }, good]);
    const { rows } = await log.sql.query('SELECT position::int, type FROM event_store.events ORDER BY position');
    expect(rows.slice(1)).to.deep.equal([2, 3, 4].map((position) => ({ position, type: 'Good' })));
  });

  it('is durable, read committed and planned once, whatever the database’s settings, with at most five connections', async () => {
    await log.sql.query(`
      DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
        EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$;
      CREATE TABLE seen (durable text, isolation text, plans text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO seen VALUES (current_setting('synchronous_commit'), current_setting('transaction_isolation'),
          current_setting('plan_cache_mode'));
        RETURN NEW; END $$;
      CREATE TRIGGER note BEFORE INSERT ON event_store.events FOR EACH ROW EXECUTE FUNCTION note()`);
    await store.close();
    while ((await backends()) > 0); // the server closes them a little later
    const fresh = await log.connect();
    const answers = Array.from({ length: 50 }, () => fresh.append(newStream(), -1, newEvents(1)));
    const reads = Array.from({ length: 50 }, () => collect(fresh.readStream(newStream())));
    await Promise.all([...answers, ...reads]);
    const { rows } = await log.sql.query('SELECT DISTINCT durable, isolation, plans FROM seen');
    expect(rows).to.deep.equal([{ durable: 'on', isolation: 'read committed', plans: 'force_generic_plan' }]);
    expect(await backends()).to.be.within(3, 5);
  });

  it('is rejected in a transaction whose snapshot is older than the lock', async () => {
    await log.sql.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const failure = await log.sql
      .query(`SELECT * FROM event_store.append('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`)
      .then(
        () => 'no error',
        ({ code }: { code: string }) => code,
      );
    await log.sql.query('ROLLBACK');
    expect(failure).to.equal('25000');
  });

  /** Polls until this number of sessions waits for the append lock. */
  const untilWaitingForLock = async (sessions: number): Promise<void> => {
    for (;;) {
      const { rows } = await log.sql.query(
        `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      if (rows[0].n === sessions) return;
    }
  };
});
