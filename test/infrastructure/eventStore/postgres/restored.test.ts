// Cases that only the Postgres adapter can get wrong after a restore: pages that were read ahead, and appends that were in flight.
import { expect } from 'chai';
import pg from 'pg';
import type { EventStore, Position } from '../../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../../domain/kernel/ids.ts';
import {
  brief,
  collect,
  failureOf,
  idsOf,
  newEvent,
  newEvents,
  newStream,
} from '../../../conformance/eventStore/harness.ts';
import { loseFacts } from '../../../support/lostFacts.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';

const LOCK = 5860930411590117n;
const at = (place: number): Position => String(place).padStart(19, '0') as Position;

describe('a Postgres log restored to an older state', () => {
  let log: PostgresEventLog;
  let store: EventStore;
  let stream: StreamName;
  beforeEach(async () => {
    log = await createPostgresEventLog();
    store = await log.connect();
    stream = newStream();
  });
  afterEach(() => log.dispose());

  /** Simulates a server that is down: all connections end, and new ones are rejected until the work is done. */
  const whileDown = async (work: () => Promise<void>): Promise<void> => {
    const url = new URL(log.connectionString);
    const database = url.pathname.slice(1);
    url.pathname = '/postgres';
    const beside = new pg.Client({ connectionString: url.href });
    await beside.connect();
    await beside.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    await log.cutConnections();
    await work();
    await beside.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    await beside.end();
  };
  /** Replaces the three newest of six events with three others of the same stream. */
  const replaceNewest = async (): Promise<string[]> => {
    const events = newEvents(3);
    await loseFacts(log.sql, 'DELETE FROM event_store.events WHERE position > 3');
    await log.sql.query(
      `SELECT * FROM event_store.append(ARRAY[$1], ARRAY[2]::bigint[], ARRAY[3]::bigint[], ARRAY[1,1,1]::bigint[],
        ARRAY[0,1,2]::bigint[], $2::uuid[], ARRAY['A','A','A'], ARRAY['{}','{}','{}'], ARRAY['{}','{}','{}'])`,
      [stream, idsOf(events)],
    );
    return idsOf(events);
  };

  it('returns no page that was read before the restore', async () => {
    const writer = await log.connect(); // the reader doesn't have these events in memory, so it reads ahead
    const events = newEvents(6);
    await writer.append(stream, -1, events);
    const { signal } = new AbortController();
    const subscription = store
      .subscribe({ after: null, categories: null, batchSize: 1, signal })
      [Symbol.asyncIterator]();
    const next = async (): Promise<string[]> => {
      const { value } = await subscription.next();
      return value?.kind === 'events' ? idsOf(value.events) : [];
    };
    for (const { id } of events.slice(0, 3)) expect(await next()).to.deep.equal([id]);
    let fresh: string[] = [];
    await whileDown(async () => {
      fresh = await replaceNewest();
    });
    expect(await store.head()).to.equal(at(6));
    for (const id of fresh) expect(await next()).to.deep.equal([id]);
    await subscription.return?.(undefined);
  });

  it('rejects an append that was in flight, although its expected revision matches', async () => {
    const events = newEvents(6);
    await store.append(stream, -1, events);
    await log.sql.query('BEGIN');
    await log.sql.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const sent = failureOf(() => store.append(stream, 5, [newEvent()]));
    const blocked = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
    while ((await log.sql.query(blocked)).rowCount === 0);
    const waiting = failureOf(() => store.append(newStream(), -1, [newEvent()]));
    let fresh: string[] = [];
    await whileDown(async () => {
      await log.sql.query('COMMIT');
      fresh = await replaceNewest();
    });
    expect([await sent, await waiting]).to.deep.equal(['AppendOutcomeUnknown', 'EventStoreUnavailable']);
    const kept = [...idsOf(events.slice(0, 3)), ...fresh];
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(kept);
    const late = newEvent();
    expect(brief(await store.append(stream, 5, [late]))).to.deep.equal({ ok: true, revision: 6 });
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal([...kept, late.id]);
  });
});
