// The Postgres log with silent connections: appends, reads and subscriptions continue, and nothing is written twice.
import { expect } from 'chai';
import type { EventStore, RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { openPostgresEventStore } from '../../../../infrastructure/eventStore/postgres/store.ts';
import { SessionWatch, WATCH_TIMINGS } from '../../../../infrastructure/postgres/sessionWatch.ts';
import { brief, collect, idsOf, newEvents, newStream } from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../world/tcpProxy.ts';
import { type Backends, watchBackends } from '../../postgres/backends.ts';

const READS = 'quita event store: reads';
const NOTICES = 'quita event store: notices';

describe('the Postgres log with silent connections', () => {
  let log: PostgresEventLog;
  let proxy: PostgresProxy;
  let store: EventStore;
  let faults: string[];
  const ended = new AbortController();

  beforeEach(async () => {
    log = await createPostgresEventLog();
    proxy = await startPostgresProxy(log.connectionString);
    faults = [];
    const watch = new SessionWatch({ connectionString: proxy.connectionString }, { ...WATCH_TIMINGS, lookMs: 50 });
    const onError = ({ name }: Error) => faults.push(name);
    store = await openPostgresEventStore({ connectionString: proxy.connectionString, watch, onError });
    await store.append(newStream(), -1, newEvents(1));
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
    await log.dispose();
  });

  for (const times of [1, 2])
    it(`appends and reads long before its deadlines, and writes once: ${times} times`, async () => {
      for (let n = 0; n < times; n++) {
        expect(proxy.silence()).to.be.above(1);
        const beganAtMs = performance.now();
        const [stream, events] = [newStream(), newEvents(2)];
        expect(brief(await store.append(stream, -1, events))).to.deep.equal({ ok: true, revision: 1 });
        expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(idsOf(events));
        expect(performance.now() - beganAtMs).to.be.below(5_000); // and not the 9 s after which an append is given up
      }
      expect(faults).to.include('ConnectionSilent');
    });

  it('delivers every event to a subscription once, including those of other processes', async () => {
    const other = await log.connect();
    const [before, after] = [newEvents(1), newEvents(3)];
    const seen: RecordedEvent[] = [];
    const stream = newStream();
    await other.append(stream, -1, before);
    const following = (async () => {
      for await (const batch of store.subscribe({ after: null, categories: null, signal: ended.signal })) {
        if (batch.kind === 'events') seen.push(...batch.events);
        else if (batch.kind === 'caughtUp' && proxy.silence() > 0) await other.append(stream, 0, after);
        if (idsOf(seen).includes(after.at(-1)!.id)) return;
      }
    })();
    await following;
    expect(idsOf(seen.filter((event) => event.stream === stream))).to.deep.equal(idsOf([...before, ...after]));
  });
});

/** As if its disk hung: the server process waits for a lock, and is then stopped. The watch takes it for one that works. */
describe('the Postgres log with a server process that hangs in the check of a new connection', () => {
  let log: PostgresEventLog;
  let backends: Backends;
  let locker: Backends;
  let store: EventStore;
  let stopped: number | null;
  beforeEach(async () => {
    log = await createPostgresEventLog();
    backends = await watchBackends(log.connectionString);
    locker = await watchBackends(log.connectionString);
    store = await openPostgresEventStore({ connectionString: log.connectionString });
    await store.head();
    stopped = null;
  });
  afterEach(async () => {
    if (stopped !== null) process.kill(stopped, 'SIGCONT');
    await locker.close();
    await backends.close();
    await log.dispose();
  });
  const LOCK = 'BEGIN; LOCK TABLE event_store.events IN ACCESS EXCLUSIVE MODE';
  const waiting = (name: string) =>
    backends.until(async () => {
      const text = `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'`;
      return (await backends.sql.query<{ pid: string }>(text, [name])).rows.map(({ pid }) => Number(pid))[0];
    });

  it('gives up a read, and closes', async () => {
    await locker.sql.query(LOCK);
    await backends.cut(READS);
    const read = store.head().then(
      () => 'answered',
      ({ name }: Error) => name,
    );
    stopped = await waiting(READS);
    process.kill(stopped, 'SIGSTOP');
    await locker.sql.query('ROLLBACK');
    expect(await read).to.equal('EventStoreUnavailable');
    await store.close();
  });

  it('closes within seconds while the connection for notices is checked', async () => {
    await locker.sql.query(LOCK);
    await backends.cut(NOTICES);
    await waiting(NOTICES);
    const beganAtMs = performance.now();
    await store.close();
    expect(performance.now() - beganAtMs).to.be.below(5_000);
  });
});
