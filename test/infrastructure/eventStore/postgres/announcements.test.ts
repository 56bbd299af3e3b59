// Notices of appends: sent after the commit by the appending process, or by event_store.append for an earlier version.
import { once } from 'node:events';
import { expect } from 'chai';
import type pg from 'pg';
import type { EventStore, Position } from '../../../../application/ports/eventStore.ts';
import { positionOf } from '../../../../infrastructure/eventStore/postgres/reader.ts';
import { openPostgresEventStore } from '../../../../infrastructure/eventStore/postgres/store.ts';
import { NotificationListener } from '../../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig } from '../../../../infrastructure/postgres/session.ts';
import { newEvents, newStream, TestSubscription } from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';

describe('announcements of appends', () => {
  let log: PostgresEventLog;
  let store: EventStore;
  let notices: pg.Notification[];

  beforeEach(async () => {
    log = await createPostgresEventLog();
    store = await log.connect();
    notices = [];
    log.sql.on('notification', (notice) => notices.push(notice));
    await log.sql.query('LISTEN quita_events');
  });
  afterEach(async () => {
    await log.dispose();
  });

  const pidOf = async (name: string): Promise<number> => {
    const text = 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1';
    for (;;) {
      const { rows } = await log.sql.query<{ pid: number }>(text, [`quita event store: ${name}`]);
      if (rows[0] !== undefined) return rows[0].pid;
    }
  };
  /** Resolves when a notice with this position has arrived. */
  const untilTold = async (place: number): Promise<void> => {
    while (notices.at(-1)?.payload !== String(place)) await once(log.sql, 'notification');
  };

  it('come from the listening session, not from the transaction of the append', async () => {
    const announcer = await pidOf('notices');
    await store.append(newStream(), -1, newEvents(3));
    await untilTold(3);
    expect(notices.map(({ processId, payload }) => [processId, payload])).to.deep.equal([[announcer, '3']]);
  });

  it('combine concurrent appends in one notice, and always include the last append', async () => {
    await Promise.all(Array.from({ length: 600 }, () => store.append(newStream(), -1, newEvents(1))));
    await untilTold(600);
    const { rows } = await log.sql.query(
      'SELECT max(position)::text AS last FROM event_store.events GROUP BY xmin::text',
    );
    const lasts = rows.map(({ last }) => last);
    // A flush holds at most 256 appends. A notice tells the end of a flush, and may be skipped if the next flush has ended.
    expect(lasts).to.have.members(['256', '512', '600']);
    expect(notices.map(({ payload }) => payload)).to.deep.equal([...new Set(notices.map(({ payload }) => payload))]);
    expect(lasts).to.include.members(notices.map(({ payload }) => payload));
  });

  it('wake a subscription of another process at once', async () => {
    const subscription = new TestSubscription(await log.connect());
    await subscription.until(({ caughtUp }) => caughtUp.length > 0);
    const beganAtMs = performance.now();
    for (let n = 1; n <= 30; n++) {
      await store.append(newStream(), -1, newEvents(1));
      await subscription.until(({ events }) => events.length === n);
    }
    // Without notices, the poll would find at most one event per second.
    expect(performance.now() - beganAtMs).to.be.below(10_000);
    await subscription.stop();
  });

  describe('with one listening session per process', () => {
    let shared: NotificationListener;
    let faults: Error[];
    let sharing: EventStore;
    beforeEach(async () => {
      faults = [];
      shared = new NotificationListener(connectionConfig(log.connectionString, 'shared'));
      const { connectionString } = log;
      sharing = await openPostgresEventStore({
        connectionString,
        notices: shared,
        onError: (error) => faults.push(error),
      });
      await shared.open();
    });
    afterEach(async () => {
      await sharing.close();
      await shared.close();
    });
    const pids = async (name: string) => {
      const text = 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1';
      return (await log.sql.query<{ pid: number }>(text, [name])).rows.map(({ pid }) => pid);
    };

    it('of events that don’t exist are corrected by the next poll', async () => {
      await store.append(newStream(), -1, newEvents(2));
      const heads: (Position | null)[] = [];
      const restored = new Promise<void>((resolve) => {
        sharing.onRestored((head) => {
          heads.push(head);
          resolve();
        });
      });
      await log.sql.query(`NOTIFY quita_events, '9007199254740991'`);
      await restored;
      expect(heads).to.deep.equal([positionOf(2)]);
      const subscription = new TestSubscription(sharing);
      await subscription.until(({ caughtUp }) => caughtUp.length > 0);
      await store.append(newStream(), -1, newEvents(1));
      await subscription.until(({ events }) => events.length === 3);
      await subscription.stop();
    });

    it('are sent and received without a separate session', async () => {
      const others = await pidOf('notices');
      const [own] = await pids('shared');
      expect(await pids('quita event store: notices')).to.deep.equal([others]);
      await sharing.append(newStream(), -1, newEvents(2));
      await untilTold(2);
      expect(notices.map(({ processId, payload }) => [processId, payload])).to.deep.equal([[own, '2']]);
      const heard = new Promise((resolve) => sharing.onHead(resolve));
      await store.append(newStream(), -1, newEvents(1));
      expect(await heard).to.equal(positionOf(3));
    });

    it('are replaced by polling while the session is lost, and received again afterwards', async () => {
      const subscription = new TestSubscription(sharing);
      await subscription.until(({ caughtUp }) => caughtUp.length > 0);
      await log.sql.query('SELECT pg_terminate_backend($1)', [(await pids('shared'))[0]]);
      await store.append(newStream(), -1, newEvents(1));
      await subscription.until(({ events }) => events.length === 1);
      expect(faults).to.have.length(1);
      const beganAtMs = performance.now();
      for (let n = 2; n <= 30; n++) {
        await store.append(newStream(), -1, newEvents(1));
        await subscription.until(({ events }) => events.length === n);
      }
      expect(performance.now() - beganAtMs).to.be.below(10_000);
      await subscription.stop();
    });

    it('are ignored until the log has been checked, because it may have been restored', async () => {
      await sharing.append(newStream(), -1, newEvents(2));
      const restored = new Promise((resolve) => sharing.onRestored(resolve));
      await log.restore(positionOf(1));
      expect(await restored).to.equal(positionOf(1));
    });
  });

  it('come from event_store.append for a process of an earlier version', async () => {
    const earlier = await log.holdAppend(newStream(), newEvents(1)[0]!);
    expect(notices).to.deep.equal([]);
    await earlier.release();
    await untilTold(1);
    expect(notices.map(({ payload }) => payload)).to.deep.equal(['1']);
  });
});
