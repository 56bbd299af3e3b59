// Features of the Postgres adapter alone: shared event objects, timed checkpoints, lazy reads, index scans, opening.

import { expect } from 'chai';
import type { EventStore } from '../../../../application/ports/eventStore.ts';
import { RARE_CATEGORIES } from '../../../../domain/aggregates.ts';
import {
  type CategoryFilter,
  categoryFilter,
  filteredPageText,
  STREAM_PAGE_TEXT,
  STREAM_PAGES_TEXT,
  wholePageText,
} from '../../../../infrastructure/eventStore/postgres/reader.ts';
import { openPostgresEventStore } from '../../../../infrastructure/eventStore/postgres/store.ts';
import {
  failureOf,
  idsOf,
  newEvent,
  newEvents,
  newStream,
  TestSubscription,
} from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';
import { emptyDatabase } from '../../../world/postgres.ts';

const HISTORY_EVENTS = 100_000;

describe('Postgres event store', () => {
  let log: PostgresEventLog;
  let store: EventStore;

  beforeEach(async () => {
    log = await createPostgresEventLog();
    store = await log.connect();
  });
  afterEach(() => log.dispose());

  const live = async (to: EventStore, categories: readonly string[] | null = null): Promise<TestSubscription> => {
    const subscription = new TestSubscription(to, { categories });
    await subscription.until(({ caughtUp }) => caughtUp.length === 1);
    return subscription;
  };

  it('passes the events of its own flushes to all live subscriptions as the same objects', async () => {
    const [one, two, filtered] = [await live(store), await live(store), await live(store, ['account'])];
    const events = newEvents(3);
    await store.append(newStream('account'), -1, events);
    for (const subscription of [one, two, filtered]) await subscription.untilIds(idsOf(events));
    expect(one.events).to.have.length(3);
    expect(one.events.every((event, n) => event === two.events[n] && event === filtered.events[n])).to.equal(true);
    for (const subscription of [one, two, filtered]) await subscription.stop();
  });

  it('reads events of other processes from the database, in log order', async () => {
    const other = await log.connect();
    const subscription = await live(store);
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) {
      const events = newEvents(1 + (n % 4));
      await (n % 3 === 0 ? other : store).append(newStream(), -1, events);
      ids.push(...idsOf(events));
    }
    await subscription.untilIds(ids);
    await subscription.stop();
    expect(idsOf(subscription.events)).to.deep.equal(ids);
    const later = await live(other);
    await later.stop();
    expect(later.events).to.deep.equal(subscription.events);
  });

  it('finds events that were written without a NOTIFY', async () => {
    const subscription = await live(store);
    await log.sql.query(
      `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
       VALUES (1, 0, now(), gen_random_uuid(), 'payment-1', 'Silent', '{}', '{}')`,
    );
    await subscription.until(({ events }) => events.length === 1);
    await subscription.stop();
    expect(subscription.events.map(({ type, position }) => [type, position])).to.deep.equal([
      ['Silent', '0000000000000000001'],
    ]);
  });

  it('sends a checkpoint to a filtered subscription if the log grew by a few other events', async () => {
    const subscription = await live(store, ['keyring']);
    await store.append(newStream(), -1, newEvents(3));
    await subscription.until(({ checkpoints }) => checkpoints.length === 1);
    await subscription.stop();
    expect(subscription.signals).to.deep.equal([
      { kind: 'caughtUp', position: null },
      { kind: 'checkpoint', position: '0000000000000000003' },
    ]);
  });

  it('reads a stream page by page while it is consumed', async () => {
    const stream = newStream();
    await store.append(stream, -1, newEvents(1_200));
    const late = newEvent();
    const seen: string[] = [];
    for await (const { id, revision } of store.readStream(stream)) {
      seen.push(id);
      if (revision === 0) await store.append(stream, 1_199, [late]);
    }
    expect(seen).to.have.length(1_201);
    expect(seen.at(-1)).to.equal(late.id);
  });

  it('keeps the order of concurrent appends to one stream', async () => {
    const stream = newStream();
    const events = newEvents(20);
    const answers = await Promise.all(events.map((event, n) => store.append(stream, n - 1, [event])));
    expect(answers.map((answer) => answer.ok && answer.revision)).to.deep.equal(events.map((_, n) => n));
  });

  it(`uses index scans at ${HISTORY_EVENTS} events`, async () => {
    await log.sql.query(
      `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
       SELECT n, 0, now(), gen_random_uuid(), CASE WHEN n % 10000 = 0 THEN 'account-' ELSE 'payment-' END || n, 'T', '{}', '{}'
       FROM generate_series(1, ${HISTORY_EVENTS}) n`,
    );
    await log.sql.query('ANALYZE event_store.events');
    const planOf = async (text: string, first = '40000'): Promise<string> => {
      const { rows } = await log.sql.query(
        `EXPLAIN ${text.replaceAll('$1', first).replace('$2', '0').replace('$3', '500')}`,
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const filter = (...categories: string[]): CategoryFilter => categoryFilter(categories)!;
    const plans = {
      stream: await planOf(STREAM_PAGE_TEXT, "'payment-40000'"),
      streams: await planOf(STREAM_PAGES_TEXT.replace('$2', "'{0,0}'"), "'{payment-40000,payment-50000}'"),
      head: await planOf("SELECT revision FROM event_store.of_stream('payment-40000') ORDER BY revision DESC LIMIT 1"),
      whole: await planOf(wholePageText(500)),
      payments: await planOf(filteredPageText(filter('payment'), 500)),
      unknown: await planOf(filteredPageText(filter('nothing'), 500)),
      account: await planOf(filteredPageText(filter('account'), 500)),
      rare: await planOf(filteredPageText(filter(...RARE_CATEGORIES), 500)),
    };
    for (const [name, plan] of Object.entries(plans)) expect(plan, name).to.not.match(/Seq Scan|Bitmap/);
    expect(plans.stream).to.match(/Index Scan using events_of_stream/);
    expect(plans.streams).to.match(/Index Scan using events_of_stream/);
    expect(plans.head).to.match(/Index Scan Backward using events_of_stream/);
    expect(plans.whole).to.match(/Index Scan using events_pkey/);
    expect(plans.payments).to.match(/Index Scan using events_pkey/);
    expect(plans.unknown).to.match(/Index Scan using events_pkey/);
    expect(plans.account).to.match(/Index Scan using events_of_rare_categories/);
    expect(plans.rare).to.match(/Index Scan using events_of_rare_categories/);

    const accounts = new TestSubscription(store, { categories: ['account'] });
    await accounts.until(({ caughtUp }) => caughtUp.length === 1);
    await accounts.stop();
    expect(accounts.events.map(({ stream }) => stream)).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => `account-${(n + 1) * 10_000}`),
    );
    const nothing = new TestSubscription(store, { categories: ['nothing'] });
    await nothing.until(({ caughtUp }) => caughtUp.length === 1);
    await nothing.stop();
    expect(nothing.checkpoints.length).to.be.at.least(HISTORY_EVENTS / 20_000 - 1);
    expect(nothing.caughtUp).to.deep.equal(['0000000000000100000']);
  });

  it('rejects invalid positions, categories and batch sizes', async () => {
    const { signal } = new AbortController();
    const subscribed = (options: object): Promise<string> =>
      failureOf(async () => {
        for await (const _ of store.subscribe({ after: null, categories: null, signal, ...options })) break;
      });
    for (const after of ['', '1', '-000000000000000001', '0000000000000000001x', '9999999999999999999']) {
      expect(await subscribed({ after }), after).to.equal('RangeError');
    }
    for (const categories of [[], [''], ["a'b"], ['payment-']]) {
      expect(await subscribed({ categories }), String(categories)).to.equal('RangeError');
    }
    for (const batchSize of [0, -1, 1.5]) expect(await subscribed({ batchSize })).to.equal('RangeError');
  });

  it('fails to open without migrations and without a server', async () => {
    const empty = await emptyDatabase();
    const { connectionString } = empty;
    expect(await failureOf(() => openPostgresEventStore({ connectionString }))).to.equal('EventStoreUnavailable');
    await empty.drop();
    const nobody = 'postgres://nobody@127.0.0.1:1/nothing';
    expect(await failureOf(() => openPostgresEventStore({ connectionString: nobody }))).to.equal(
      'EventStoreUnavailable',
    );
  });
});
