// If two processes lead at once, they never both commit. A process that was frozen comes back as a standby (architecture §6).
import { expect } from 'chai';
import type { LogConsumer } from '../../../application/ports/consumers.ts';
import type { OpenLeaderSession, Share } from '../../../application/ports/sql.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../../infrastructure/postgres/session.ts';
import { WATCH_TIMINGS } from '../../../infrastructure/postgres/sessionWatch.ts';
import { startPostgresProxy } from '../../world/tcpProxy.ts';
import { Followed, Gate, Scene, taker } from './scene.ts';

/** A share of a role with no other process, in which every lock is free. */
const soleShare = (): Share => {
  let sharers: Share['sharers'] = [];
  return {
    get sharers() {
      return sharers;
    },
    publish: async (able) => {
      sharers = [{ isSelf: true, able }];
    },
    look: async () => undefined,
    looked: () => new Promise(() => undefined),
    take: async (names) => names,
    release: async () => undefined,
  };
};

const SWIFT = { renewMs: 100, leaseMs: 500, lookMs: 50 };

describe('subscriptions to the log in two processes that both lead', () => {
  let scene: Scene;
  let started: Followed[];
  const follow = (...args: ConstructorParameters<typeof Followed> extends [unknown, ...infer Rest] ? Rest : never) => {
    const followed = new Followed(scene, ...args);
    started.push(followed);
    return followed;
  };
  const config = (connectionString = scene.log.connectionString) =>
    connectionConfig(connectionString, 'test', { ...WATCH_TIMINGS, lookMs: 50 });

  beforeEach(async () => {
    scene = await Scene.open();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((followed) => followed.stop()));
    await scene.close();
  });

  it('take every event once although both processes hold all locks', async () => {
    // The table accepts duplicates, so that only the compare-and-set of the checkpoints can prevent them.
    await scene.log.sql.query('CREATE TABLE counted (position text)');
    const counting = (before: () => Promise<void> | void): LogConsumer => ({
      name: 'counting',
      categories: ['payment'],
      reset: async () => undefined,
      apply: async (events, tx) => {
        await before();
        await tx.query('INSERT INTO counted SELECT unnest($1::text[])', [events.map(({ position }) => position)]);
      },
    });
    const unlocked: OpenLeaderSession = async (role) => {
      const session = await scene.openSession(role);
      session.tryShare = async () => soleShare();
      return session;
    };
    const gate = new Gate();
    let batches = 0;
    await scene.appendPayments(3);
    const openSession = unlocked;
    const one = follow({ consumers: [counting(() => (batches++ === 0 ? gate.pass() : undefined))], openSession });
    await gate.reached;
    const two = follow({ consumers: [counting(() => undefined)], openSession });
    await two.caughtUp();
    gate.open();
    await scene.backends.until(async () => one.restarts.length > 0);
    for (let n = 0; n < 5; n++) {
      await scene.appendPayments(2);
      await Promise.any([one.caughtUp(), two.caughtUp()]);
    }
    const { rows } = await scene.log.sql.query<{ position: string }>('SELECT position FROM counted ORDER BY position');
    expect(rows.map(({ position }) => position)).to.deep.equal(await scene.positions());
    expect([...one.faults, ...two.faults]).to.deep.equal([]);
    expect(new Set([...one.restarts, ...two.restarts].map(({ name }) => name))).to.deep.equal(
      new Set(['LostLeadership']),
    );
  });

  it('hand over when the leader freezes during a batch, which it does not commit when it resumes', async () => {
    const gate = new Gate();
    await scene.appendPayments(2);
    let batches = 0;
    const frozen = follow({
      consumers: [taker('a', () => (batches++ === 0 ? gate.pass() : undefined))],
      openSession: leaderSessions(config(), { ...SWIFT, renewMs: 1_000_000, leaseMs: 60_000 }),
    });
    await gate.reached;
    const standby = follow({ consumers: [taker('a')], openSession: leaderSessions(config(), SWIFT) });
    await standby.caughtUp();
    expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    gate.open();
    await scene.backends.until(async () => frozen.restarts.length > 0 && !frozen.subscriptions.isLeading);
    await scene.appendPayments(1);
    await standby.caughtUp();
    expect([frozen.subscriptions.isLeading, standby.subscriptions.isLeading]).to.deep.equal([false, true]);
    expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    expect([...frozen.faults, ...standby.faults]).to.deep.equal([]);
  });

  // Silence doesn’t affect new connections, so the lost leader returns at once.
  for (const [what, fall, ledByBoth] of [
    ['its connections fall silent', 'silence', [['b'], ['a']]],
    ['it is cut off', 'blackHole', [[], ['a', 'b']]],
  ] as const)
    it(`take each event once if a leader is lost under load, whose work the other takes over and shares with it again (${what})`, async () => {
      const proxy = await startPostgresProxy(scene.log.connectionString);
      await scene.appendPayments(2);
      const consumers = () => [taker('a'), taker('b')];
      const openSession = leaderSessions(config(proxy.connectionString), SWIFT);
      const lost = follow({ consumers: consumers(), openSession, batchSize: 3 });
      await lost.caughtUp();
      const other = follow({ consumers: consumers(), openSession: leaderSessions(config(), SWIFT), batchSize: 3 });
      const untilLed = (...led: readonly (readonly string[])[]) =>
        scene.backends.until(async () =>
          [lost, other].every(({ subscriptions }, n) => subscriptions.led.toSorted().join() === led[n]?.join()),
        );
      const untilTaken = async () => {
        const head = (await scene.positions()).at(-1);
        await scene.backends.until(async () => (await scene.checkpoint('a')) === head);
        await scene.backends.until(async () => (await scene.checkpoint('b')) === head);
      };
      await untilLed(['a'], ['b']);
      const appending = scene.appendPayments(10);
      proxy[fall]();
      await appending;
      await scene.backends.until(async () => lost.restarts.length > 0);
      await untilLed(...ledByBoth);
      await untilTaken();
      proxy.heal();
      await untilLed(['b'], ['a']);
      await scene.appendPayments(2);
      await untilTaken();
      for (const name of ['a', 'b']) expect(await scene.taken(name)).to.deep.equal(await scene.positions());
      expect([...lost.faults, ...other.faults]).to.deep.equal([]);
      await lost.stop();
      await proxy.close();
    });
});
