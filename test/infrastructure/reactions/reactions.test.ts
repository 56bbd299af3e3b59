// The effect of a batch of reactions on the database, and what is reported after its commit.
import { expect } from 'chai';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import type { ProcessManager, Reaction } from '../../../application/ports/processManager.ts';
import type { SqlPool, SqlTransaction } from '../../../application/ports/sql.ts';
import type { Subscriptions } from '../../../application/ports/subscriptions.ts';
import { advanceClocks, clockAdvance } from '../../../application/sandbox/testClock.ts';
import { PROBE_RULE } from '../../../application/webhooks/endpointHealth.ts';
import { forgetFailures } from '../../../application/webhooks/webhookDelivery.ts';
import type { AccountId, Mode } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { failingTargets } from '../../../infrastructure/deliveries/failingTargets.ts';
import { connectionConfig, PgSession } from '../../../infrastructure/postgres/session.ts';
import { Reactor } from '../../../infrastructure/reactions/reactor.ts';
import { testTimers } from '../../../infrastructure/timers/timerTable.ts';
import { processMemories } from '../../../infrastructure/webhooks/adapters.ts';
import { account, logged, RecordingJobs, timer, timerKinds } from '../../support/operations.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const [EARLY, LATE] = ['2026-11-21T13:00:00.000Z', '2026-11-21T14:00:00.000Z'] as const;
const set = (dueAt: string, first?: true, key = 'k'): Reaction => ({
  kind: 'timer',
  timer: timer(key, dueAt),
  ...(first && { first }),
});
const clear = (key = 'k'): Reaction => ({ kind: 'clearTimer', timer: { kind: 'expire', key } });

const NO_POOL = {} as SqlPool;
const EFFECTS = new Map(
  Object.entries({
    ...forgetFailures.by(() => failingTargets(NO_POOL, 'deliver', PROBE_RULE).forget),
    ...clockAdvance.by(() => advanceClocks({ testTimers: testTimers(NO_POOL, new RecordingJobs(), timerKinds) })),
  }).map(([name, handler]) => [name, handler(null)]),
);

const processOf = (react: ProcessManager['react'], remembers: string | null = null): ProcessManager => ({
  name: 'p',
  movesMoney: false,
  from: 'beginning',
  remembers,
  categories: ['payment', 'webhookEndpoint'],
  isByAccount: true,
  react,
});

describe('reactions', () => {
  let database: TestDatabase;
  let session: PgSession;
  let jobs: RecordingJobs;
  let nudges: string[];
  let statements: string[];
  beforeEach(async () => {
    database = await migratedDatabase();
    session = await PgSession.open(connectionConfig(database.connectionString, 'test'));
    jobs = new RecordingJobs();
    nudges = [];
    statements = [];
  });
  afterEach(async () => {
    await session.close();
    await database.drop();
  });
  const reactor = (...reactions: Reaction[]): Reactor => {
    return new Reactor(
      processOf(() => reactions),
      { jobs, onTimers: (earliest) => nudges.push(earliest), effects: EFFECTS, memories: processMemories },
    );
  };
  const take = (one: Reactor, events: readonly LoggedEvent[]) => session.transaction((tx) => one.apply(events, tx));
  const apply = (...reactions: Reaction[]) =>
    session.transaction((tx) => {
      const watched: SqlTransaction = {
        ...tx,
        query: (statement, values) => {
          statements.push(typeof statement === 'string' ? statement : statement.text);
          return tx.query(statement, values);
        },
      };
      return reactor(...reactions).apply([logged('E')], watched);
    });
  const timers = async () => {
    const { rows } = await session.query<{ key: string; due: number }>(
      'SELECT key, (extract(epoch FROM due_at) * 1000)::bigint AS due FROM operations.timers ORDER BY key',
    );
    return rows.map(({ key, due }) => `${key} ${due === 0 ? 'now' : new Date(due).toISOString()}`);
  };

  it('write nothing for a new timer that is set and cleared in one batch, however often it moves', async () => {
    await apply(set(EARLY, true), clear());
    await apply(set(EARLY, true), set(LATE), clear());
    expect(statements).to.deep.equal([]);
    expect([await timers(), nudges]).to.deep.equal([[], []]);
  });

  it('clear a timer that may exist already, although the same batch also sets it', async () => {
    await apply(set(LATE, true));
    await apply(set(EARLY), clear());
    expect(await timers()).to.deep.equal([]);
    await apply(set(LATE, true));
    await apply(clear(), set(EARLY, true), clear());
    expect(await timers()).to.deep.equal([]);
  });

  it('keep only the last change of each timer', async () => {
    await apply(
      set(EARLY, true),
      clear(),
      set(LATE, true),
      set(LATE, true, 'other'),
      set(EARLY, undefined, 'other'),
      clear('third'),
      set(LATE, undefined, 'third'),
    );
    expect(await timers()).to.deep.equal([`k ${LATE}`, `other ${EARLY}`, `third ${LATE}`]);
    expect(statements).to.have.length(1);
    expect(nudges).to.deep.equal([EARLY]);
  });

  it('are idempotent', async () => {
    for (let n = 0; n < 2; n++) await apply(set(LATE, true), set(EARLY, undefined, 'b'), clear('c'));
    expect(await timers()).to.deep.equal([`b ${EARLY}`, `k ${LATE}`]);
  });

  it('fire all timers of a group at once, including those of the same batch, and no others', async () => {
    const grouped = (key: string, group: string): Reaction => ({
      kind: 'timer',
      timer: timer(key, LATE, { kind: 'deliver', group }),
    });
    await apply(grouped('a', 'g'), grouped('b', 'h'), set(LATE, true));
    await apply({ kind: 'fireNow', timers: { kind: 'deliver', group: 'g' } }, grouped('c', 'g'));
    expect(await timers()).to.deep.equal(['a now', `b ${LATE}`, 'c now', `k ${LATE}`]);
    expect(nudges).to.deep.equal([LATE, '']);
  });

  it('fire a large group once in a batch, and write at most 500 of its timers', async () => {
    await session.query(
      `INSERT INTO operations.timers (kind, key, payload, account_id, mode, group_id, due_at)
       SELECT 'deliver', n::text, '{}', 'acct', 'test', 'g', $1 FROM generate_series(1, 1200) n`,
      [LATE],
    );
    const fire: Reaction = { kind: 'fireNow', timers: { kind: 'deliver', group: 'g' } };
    await apply(fire, fire, fire);
    expect((await timers()).filter((each) => each.endsWith('now'))).to.have.length(500);
    const { rows } = await session.query('SELECT kind, group_id, mode FROM operations.group_firings');
    expect(rows).to.deep.equal([{ kind: 'deliver', group_id: 'g', mode: 'any' }]);
    expect(statements).to.have.length(2);
  });

  it('fire only the timers of one mode if the reaction names it', async () => {
    const ofMode = (key: string, mode: Mode): Reaction => ({
      kind: 'timer',
      timer: timer(key, LATE, { kind: 'refund', group: 'account', mode }),
    });
    await apply(ofMode('a', 'live'), ofMode('b', 'test'));
    await apply({ kind: 'fireNow', timers: { kind: 'refund', group: 'account', mode: 'test' } });
    expect(await timers()).to.deep.equal([`a ${LATE}`, 'b now']);
    await apply({ kind: 'fireNow', timers: { kind: 'refund', group: 'account' } });
    expect(await timers()).to.deep.equal(['a now', 'b now']);
  });

  it('forget the failures of the given targets, whether they have any, and of no others', async () => {
    await session.query(
      `INSERT INTO operations.failing_targets (target, account_id, mode, failures, failing_since, next_probe_at, last_error)
       SELECT target, 'acct', 'test', 3, now(), now(), 'timeout' FROM unnest(ARRAY['a', 'b', 'c']) AS target`,
    );
    const forget = (target: string): Reaction => forgetFailures.ask(target);
    await apply(forget('c'), forget('none'), forget('a'), forget('a'));
    const { rows } = await session.query('SELECT target FROM operations.failing_targets');
    expect(rows).to.deep.equal([{ target: 'b' }]);
  });

  it('advance clocks by the sum of all advances', async () => {
    const drain = (seconds: number): Reaction =>
      clockAdvance.ask({
        account: 'acct' as AccountId,
        seconds,
        until: `2026-11-21T13:00:${seconds}.000Z` as Timestamp,
      });
    await apply(drain(10), drain(15));
    await session.query('UPDATE operations.test_clocks SET draining = false');
    await apply(drain(27));
    const { rows } = await session.query(
      'SELECT account_id, offset_seconds, draining, drain_until FROM operations.test_clocks',
    );
    expect(rows).to.deep.equal([
      { account_id: 'acct', offset_seconds: 52, draining: true, drain_until: new Date('2026-11-21T13:00:27.000Z') },
    ]);
  });

  it('wake the timer scan only after the commit, and not after a rollback', async () => {
    const job = { kind: 'job', job: { queue: 'expire', payload: { paymentId: 'p' } } } as const;
    const one = reactor(job, job, set(LATE));
    const rolledBack = session.transaction(async (tx) => {
      await one.apply([logged('E')], tx);
      throw new Error('no');
    });
    expect(await rolledBack.catch((error: Error) => error.message)).to.equal('no');
    const enqueued = { ...job.job, tenant: { accountId: account('acct'), mode: 'test' } };
    expect([jobs.enqueued, nudges]).to.deep.equal([[enqueued, enqueued], []]);
    await one.reset(session);
    await session.transaction(async (tx) => {
      await one.apply([logged('E')], tx);
      expect(nudges).to.deep.equal([]);
    });
    expect(nudges).to.deep.equal([LATE]);
    await take(one, []);
    expect(nudges).to.deep.equal([LATE]);
  });

  describe('that use endpoints', () => {
    const ENDPOINT_A = { category: 'webhookEndpoint', subject: 'a' } as const;
    const endpoint = (id: string, type: 'WebhookEndpointRegistered' | 'WebhookEndpointDeleted') =>
      logged(type, { events: ['*'] }, { category: 'webhookEndpoint', subject: id });
    const seen: string[][] = [];
    const keeper = () => {
      const react = (_: unknown, { endpoints }: Subscriptions) => {
        seen.push(endpoints(account('acct'), 'test').map(({ endpointId }) => endpointId));
        return [];
      };
      return new Reactor(processOf(react, 'subscriptions'), {
        jobs,
        onTimers: () => undefined,
        effects: EFFECTS,
        memories: processMemories,
      });
    };
    beforeEach(() => void seen.splice(0));
    const change = (data: object) =>
      logged('WebhookEndpointChanged', { url: null, events: null, status: null, ...data }, ENDPOINT_A);
    const rotated = logged('WebhookEndpointSecretRotated', { secretVersion: 2 }, ENDPOINT_A);
    /** Returns a list and a function that creates reactors. At each event, they add each endpoint's event types to the list. */
    const watching = (): [(readonly string[])[][], () => Reactor] => {
      const noted: (readonly string[])[][] = [];
      const react = (_: unknown, { endpoints }: Subscriptions) => {
        noted.push(endpoints(account('acct'), 'test').map(({ events }) => events));
        return [];
      };
      return [
        noted,
        () =>
          new Reactor(processOf(react, 'subscriptions'), {
            jobs,
            onTimers: () => undefined,
            effects: EFFECTS,
            memories: processMemories,
          }),
      ];
    };

    it('see endpoints as of the event, also after a change of leadership', async () => {
      const one = keeper();
      await one.reset(session);
      const [a, b, gone] = [
        endpoint('a', 'WebhookEndpointRegistered'),
        endpoint('b', 'WebhookEndpointRegistered'),
        endpoint('a', 'WebhookEndpointDeleted'),
      ];
      await take(one, [logged('E'), a, logged('E'), b, a, logged('E'), gone, gone, logged('E')]);
      expect([seen[0], seen[2], seen[5]?.toSorted(), seen[8]]).to.deep.equal([[], ['a'], ['a', 'b'], ['b']]);
      const next = keeper();
      await next.reset(session);
      await take(next, [logged('E')]);
      expect(seen.at(-1)).to.deep.equal(['b']);
    });

    it('see only active endpoints, with their event types as of the event', async () => {
      const [on, off] = ['active', 'inactive'].map((status) => change({ status }));
      const [seenEvents, watcher] = watching();
      const one = watcher();
      await one.reset(session);
      const told = change({ events: ['charge.paid', 'charge.expired'] });
      const batch = [
        endpoint('a', 'WebhookEndpointRegistered'),
        off,
        off,
        told,
        on,
        on,
        change({ url: 'https://b.example' }),
      ];
      await take(one, batch as LoggedEvent[]);
      const [all, two] = [['*'], ['charge.paid', 'charge.expired']];
      expect(seenEvents.splice(0)).to.deep.equal([[all], [], [], [], [two], [two], [two]]);
      await take(one, [off as LoggedEvent]);
      const next = watcher();
      await next.reset(session);
      await take(next, [logged('E'), on as LoggedEvent]);
      expect(seenEvents).to.deep.equal([[], [], [two]]);
    });
    it('ignore changes of unknown endpoints', async () => {
      const [seenEvents, watcher] = watching();
      const one = watcher();
      await one.reset(session);
      const gone = endpoint('a', 'WebhookEndpointDeleted');
      const batch = [endpoint('a', 'WebhookEndpointRegistered'), gone, change({ status: 'active' }), rotated];
      await take(one, batch as LoggedEvent[]);
      expect(seenEvents).to.deep.equal([[['*']], [], [], []]);
    });

    it('see accounts whose payments have a webhookUrl as of the event, also after a change of leadership', async () => {
      const told: boolean[] = [];
      const watcher = () => {
        const react = (_: unknown, { hasWebhookUrls }: Subscriptions) => {
          told.push(hasWebhookUrls(account('acct'), 'test'), hasWebhookUrls(account('acct'), 'live'));
          return [];
        };
        return new Reactor(processOf(react, 'subscriptions'), {
          jobs,
          onTimers: () => undefined,
          effects: EFFECTS,
          memories: processMemories,
        });
      };
      const one = watcher();
      await one.reset(session);
      const [plain, withUrl] = [null, 'https://shop.example/hook'].map((url) =>
        logged('ChargeCreated', { webhookUrl: url }),
      );
      await take(one, [plain!, withUrl!, withUrl!, logged('E')]);
      expect(told.splice(0)).to.deep.equal([false, false, true, false, true, false, true, false]);
      const next = watcher();
      await next.reset(session);
      await take(next, [plain!]);
      expect(told).to.deep.equal([true, false]);
    });

    it('forget the endpoints of a rolled-back batch', async () => {
      const one = keeper();
      await one.reset(session);
      const rolledBack = session.transaction(async (tx) => {
        await one.apply([endpoint('a', 'WebhookEndpointRegistered'), logged('E')], tx);
        throw new Error('no');
      });
      expect(await rolledBack.catch((error: Error) => error.message)).to.equal('no');
      expect(seen.at(-1)).to.deep.equal(['a']);
      await one.reset(session);
      await take(one, [logged('E')]);
      expect(seen.at(-1)).to.deep.equal([]);
    });
  });
});
