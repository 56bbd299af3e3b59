// A log in Postgres that is sealed, moved, or an unfinished copy.
import { expect } from 'chai';
import pg from 'pg';
import { type EventStore, LogNotInUse, type RecordedEvent } from '../../../../application/ports/eventStore.ts';
import type { MigratableLog } from '../../../../infrastructure/eventStore/logState.ts';
import { IN_USE, type LogState } from '../../../../infrastructure/eventStore/logState.ts';
import { openMigratablePostgresLog } from '../../../../infrastructure/eventStore/postgres/migratableLog.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';
import { rejection } from '../eventStoreDb/support.ts';
import { movedEvent, movedEvents } from '../movedEvents.ts';

const other = { storeId: 'other', address: 'esdb://node:2113?tls=true' };
const SEALED: LogState = { kind: 'sealed', other };
const nobody = (): void => undefined;

describe('the state of a log in Postgres', () => {
  let server: PostgresEventLog;
  let store: EventStore;
  let log: MigratableLog;
  beforeEach(async () => {
    server = await createPostgresEventLog();
    store = await server.connect();
    log = await openMigratablePostgresLog(server.connectionString, nobody);
  });
  afterEach(async () => {
    await log.close();
    await server.dispose();
  });

  const append = (n: number) => {
    const { stream, revision, id, type, data, metadata } = movedEvent(n);
    return store.append(stream, revision - 1, [{ id, type, data, metadata }]);
  };
  const rows = async () => (await server.sql.query('SELECT * FROM event_store.events ORDER BY position')).rows;

  it('is the latest state that was set', async () => {
    expect(await log.state()).to.deep.equal(IN_USE);
    for (const use of [
      SEALED,
      IN_USE,
      { kind: 'copy', other },
      { kind: 'moved', other },
      SEALED,
      SEALED,
    ] as LogState[]) {
      await log.setState(use);
      expect(await log.state()).to.deep.equal(use);
    }
  });

  const refusals: readonly [Exclude<LogState['kind'], 'inUse'>, string][] = [
    [
      'sealed',
      'this event log is sealed while it is copied to esdb://node:2113?tls=true: finish with npm run migrate-events, or cancel with npm run migrate-events -- --unseal',
    ],
    ['moved', 'this event log has moved to esdb://node:2113?tls=true: start the program with EVENTSTORE_URL set to it'],
    [
      'copy',
      'this event log is an unfinished copy of esdb://node:2113?tls=true: finish it with npm run migrate-events, or start the program with EVENTSTORE_URL set to it',
    ],
  ];
  for (const [kind, message] of refusals)
    it(`${kind}: the log can’t be opened, and rejects appends of stores that have it open`, async () => {
      await append(0);
      const before = await rows();
      await log.setState({ kind, other });
      const error = await rejection(server.connect());
      expect(error).to.be.instanceOf(LogNotInUse);
      expect(error.message).to.equal(message);
      for (const n of [1, 2, 1]) expect(await rejection(append(n))).to.be.instanceOf(LogNotInUse);
      expect(await rows()).to.deep.equal(before);
      expect(await store.refusal()).to.deep.include({ name: 'LogNotInUse', message });
      await log.setState(IN_USE);
      expect(await store.refusal()).to.equal(null);
      expect(await append(1)).to.include({ ok: true, revision: 1 });
      await server.connect();
    });

  it('still answers repeats and conflicts while sealed', async () => {
    const written = await append(0);
    await log.setState(SEALED);
    const other2 = { ...movedEvent(1), id: movedEvent(7).id };
    const [repeat, fresh, conflict] = await Promise.all([
      append(0),
      rejection(append(2)),
      store.append(other2.stream, -1, [other2]),
    ]);
    expect(repeat).to.deep.equal(written);
    expect(fresh).to.be.instanceOf(LogNotInUse);
    expect(conflict).to.deep.equal({ ok: false, actual: 0 });
    expect(await rows()).to.have.length(1);
  });

  it('waits for a running append, and rejects the append behind it', async () => {
    const held = await server.holdAppend(movedEvent(0).stream, movedEvent(0));
    const sealing = log.setState(SEALED);
    await locksWaitedFor(1);
    const late = rejection(append(2));
    await locksWaitedFor(2);
    await held.release();
    await sealing;
    expect(await late).to.be.instanceOf(LogNotInUse);
    expect((await rows()).map(({ stream }) => stream)).to.deep.equal(['payment-moved0']);
  });
  const locksWaitedFor = async (count: number): Promise<void> => {
    const text = `SELECT count(*)::int AS waiting FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;
    while ((await server.sql.query<{ waiting: number }>(text)).rows[0]?.waiting !== count);
  };

  it('also rejects direct inserts into the table', async () => {
    await log.setState(SEALED);
    const insert = `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
      VALUES (1, 0, now(), gen_random_uuid(), 'payment-1', 'A', '{}', '{}')`;
    const error = await rejection(server.sql.query(insert));
    expect(error).to.be.instanceOf(pg.DatabaseError);
    expect(error.message).to.equal('this event log is not in use: sealed, esdb://node:2113?tls=true');
  });

  const all = async (): Promise<RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const batch of log.store.subscribe({
      after: null,
      categories: null,
      signal: new AbortController().signal,
    })) {
      if (batch.kind === 'events') events.push(...batch.events);
      if (batch.kind === 'caughtUp') break;
    }
    return events;
  };

  it('copied events keep streams, revisions, order, IDs, times, data and metadata, byte for byte', async () => {
    await log.setState({ kind: 'copy', other });
    const counts: number[] = [];
    await log.write(movedEvents(13), (count) => counts.push(count));
    await log.write(movedEvents(20).slice(13), (count) => counts.push(count));
    expect(counts).to.deep.equal([13, 7]);
    expect(await all()).to.deep.equal(movedEvents(20));
  });

  it('events copied twice are rejected and stored once', async () => {
    await log.setState({ kind: 'copy', other });
    await log.write(movedEvents(4), nobody);
    expect(await rejection(log.write(movedEvents(4), nobody))).to.be.instanceOf(pg.DatabaseError);
    expect(await all()).to.deep.equal(movedEvents(4));
  });

  it('accepts copied events only as an unfinished copy', async () => {
    for (const use of [IN_USE, SEALED, { kind: 'moved', other }] as LogState[]) {
      await log.setState(use);
      const written = await log.write(movedEvents(2), nobody).then(
        () => true,
        () => false,
      );
      expect(written, use.kind).to.equal(false);
    }
    expect(await rows()).to.deep.equal([]);
  });
});
