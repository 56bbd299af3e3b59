// Several processes share the consumers of a role: each leads some, and each event is taken once, whoever leads (ADR 0020).
import { expect } from 'chai';
import fc from 'fast-check';
import type { OpenLeaderSession } from '../../../application/ports/sql.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import type { LeaseTimings } from '../../../infrastructure/postgres/leases.ts';
import { connectionConfig } from '../../../infrastructure/postgres/session.ts';
import { WATCH_TIMINGS } from '../../../infrastructure/postgres/sessionWatch.ts';
import { Followed, Gate, Scene, taker } from './scene.ts';

const SWIFT: LeaseTimings = { renewMs: 100, leaseMs: 500, lookMs: 50 };
const NAMES = ['a', 'b', 'c', 'd', 'e'];
/** A takeover must fit into the 1 s that a read of one’s own write waits. Busy machines get more time. */
const TAKEOVER_MS = 5_000;

describe('subscriptions to the log in processes that share them', () => {
  let scene: Scene;
  let started: Followed[];
  type Options = Partial<ConstructorParameters<typeof Followed>[1]>;
  const sessions = (timings: LeaseTimings): OpenLeaderSession =>
    leaderSessions(connectionConfig(scene.log.connectionString, 'test', { ...WATCH_TIMINGS, lookMs: 50 }), timings);
  /** Starts another process. */
  const follow = (options: Options = {}): Followed => {
    const consumers = NAMES.map((name) => taker(name));
    const followed = new Followed(scene, { consumers, openSession: sessions(SWIFT), ...options });
    started.push(followed);
    return followed;
  };
  const led = (one: Followed): string => one.subscriptions.led.toSorted().join('');
  /** Resolves when the processes lead exactly these consumers. */
  const lead = (expected: Readonly<Record<string, Followed>>, timeoutMs?: number) =>
    scene.backends
      .until(async () => Object.entries(expected).every(([names, one]) => led(one) === names), timeoutMs)
      .catch(() => {
        throw new Error(`led: ${Object.values(expected).map(led)}, expected: ${Object.keys(expected)}`);
      });
  const reachedHead = async (names: readonly string[] = NAMES, timeoutMs = 30_000) => {
    const head = (await scene.positions()).at(-1);
    for (const name of names)
      await scene.backends
        .until(async () => (await scene.checkpoint(name)) === head, timeoutMs)
        .catch(() => {
          throw new Error(`${name} has not reached ${head}; led: ${started.map(led)}`);
        });
  };
  const allTaken = async (names: readonly string[] = NAMES) => {
    await reachedHead(names);
    const all = await scene.positions();
    for (const name of names) expect(await scene.taken(name), name).to.deep.equal(all);
    expect(started.flatMap(({ faults }) => faults)).to.deep.equal([]);
  };

  beforeEach(async () => {
    scene = await Scene.open();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((followed) => followed.stop()));
    await scene.close();
  });

  it('share the consumers about equally, and take over those of processes that stop', async () => {
    await scene.appendPayments(3);
    const one = follow();
    await lead({ abcde: one });
    const two = follow();
    await lead({ ace: one, bd: two });
    await scene.appendPayments(3);
    await allTaken();
    const three = follow();
    await lead({ ad: one, be: two, c: three });
    await scene.appendPayments(3);
    await allTaken();
    await one.stop();
    await lead({ ace: two, bd: three }, TAKEOVER_MS);
    await three.stop();
    await lead({ abcde: two }, TAKEOVER_MS);
    await scene.appendPayments(3);
    await allTaken();
    expect(started.flatMap(({ restarts }) => restarts)).to.deep.equal([]);
  });

  it('keep their consumers while the set of processes is unchanged', async () => {
    const [one, two] = [follow(), follow()];
    await scene.backends.until(
      async () => led(one).length + led(two).length === 5 && led(one) !== '' && led(two) !== '',
    );
    const begin = [led(one), led(two)];
    for (let n = 0; n < 10; n++) {
      await scene.appendPayments(3);
      await reachedHead();
      expect([led(one), led(two)]).to.deep.equal(begin);
    }
    await allTaken();
    expect(started.flatMap(({ restarts }) => restarts)).to.deep.equal([]);
  });

  it('give each duty to one process, like a consumer', async () => {
    const options = () => ({ consumers: [taker('a')], duties: ['schedule'] });
    const one = follow(options());
    await lead({ aschedule: one });
    const two = follow(options());
    await lead({ a: one, schedule: two });
    await one.stop();
    await lead({ aschedule: two });
  });

  it('stand by when there are more processes than consumers', async () => {
    const options = () => ({ consumers: [taker('a')] });
    const one = follow(options());
    await lead({ a: one });
    const two = follow(options());
    await scene.backends.until(async () => (await scene.backends.of('quita projector')).length === 2);
    await scene.appendPayments(2);
    await allTaken(['a']);
    expect([led(one), led(two), two.moves]).to.deep.equal(['a', '', []]);
    await one.stop();
    await scene.appendPayments(2);
    await lead({ a: two }, TAKEOVER_MS);
    await allTaken(['a']);
  });

  it('lead consumers that only a newer version knows, beside an older process', async () => {
    await scene.appendPayments(2);
    const older = follow({ consumers: ['a', 'b', 'c'].map((name) => taker(name)) });
    await lead({ abc: older });
    const newer = follow();
    await lead({ abc: older, de: newer });
    await allTaken();
  });

  it('wait while a process of a version without sharing leads, and lead when it ends', async () => {
    const session = await scene.openSession('projector');
    expect(await session.tryLead('projector')).to.equal(true);
    const [one, two] = [follow(), follow()];
    await scene.backends.until(async () => (await scene.backends.of('quita projector')).length === 3);
    await scene.appendPayments(2);
    expect([led(one), led(two)]).to.deep.equal(['', '']);
    await session.close();
    await allTaken();
  });

  it('hand over each time a connection is cut while events arrive', async () => {
    const both = [follow({ batchSize: 5 }), follow({ batchSize: 5 })] as const;
    const restarts = () => both.flatMap((followed) => followed.restarts);
    for (let cut = 0; cut < 4; cut++) {
      await scene.backends.until(async () => both.every((one) => led(one) !== ''));
      const appending = scene.appendPayments(20);
      expect(await scene.cutLeader(NAMES[cut] as string)).to.equal(true);
      await appending;
      await reachedHead(NAMES, TAKEOVER_MS);
      await scene.backends.until(async () => restarts().length > cut);
    }
    await allTaken();
    expect(restarts()).to.have.length(4);
  });

  it('take over from a process frozen during a batch, which is rolled back when the process resumes', async () => {
    await scene.appendPayments(2);
    const gate = new Gate();
    let isFrozen = false;
    const consumers = NAMES.map((name) => taker(name, () => (isFrozen ? gate.pass() : undefined)));
    // Without renewals, the other process takes it for frozen.
    const frozen = follow({ consumers, openSession: sessions({ ...SWIFT, renewMs: 1_000_000 }) });
    await allTaken();
    isFrozen = true;
    await scene.appendPayments(2);
    await gate.reached;
    const other = follow();
    await lead({ abcde: other });
    await allTaken();
    isFrozen = false;
    gate.open();
    await scene.backends.until(async () => frozen.restarts.length > 0);
    await scene.appendPayments(2);
    await allTaken();
  });

  it('restart only a consumer whose copy was swapped, and keep the session', async () => {
    await scene.appendPayments(2);
    const one = follow();
    await allTaken();
    const before = await scene.backends.of('quita projector');
    for (const name of ['b', 'd']) {
      await scene.log.sql.query('UPDATE subscriptions.checkpoints SET swaps = swaps + 1 WHERE name = $1', [name]);
      await scene.appendPayments(2);
      await allTaken();
    }
    await lead({ abcde: one });
    expect(one.restarts.map(({ message }) => message)).to.deep.equal([
      'another process moved the checkpoint of b',
      'another process moved the checkpoint of d',
    ]);
    expect(await scene.backends.of('quita projector'), 'the same session').to.deep.equal(before);
    // The lock was released as often as it was acquired.
    await one.stop();
    const two = follow();
    await lead({ abcde: two });
  });

  it('retry a parked stream in the process that leads its consumer', async () => {
    let isFailing = true;
    const failing = (name: string) =>
      taker(name, () => {
        if (isFailing) throw new Error('not now');
      });
    const consumers = () => ['a', 'b'].map(failing);
    const [one, two] = [follow({ consumers: consumers() }), follow({ consumers: consumers() })];
    await scene.backends.until(async () => led(one).length === 1 && led(two).length === 1);
    await scene.appendPayments(1);
    await scene.backends.until(async () => one.parked.length + two.parked.length === 2);
    isFailing = false;
    await scene.log.sql.query('UPDATE subscriptions.parked_streams SET retry_asked_at = now()');
    await Promise.all([one.subscriptions.attend(), two.subscriptions.attend()]);
    await allTaken(['a', 'b']);
    expect([one.taken.length, two.taken.length]).to.deep.equal([1, 1]);
  });

  it('take each event once for any sequence of starts, stops and cut connections', async () => {
    const step = fc.constantFrom('append', 'start', 'stop', 'cut a', 'cut d');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        await scene.log.sql.query('DELETE FROM taken; DELETE FROM subscriptions.checkpoints');
        const running = [follow({ batchSize: 4 })];
        for (const what of steps) {
          if (what === 'append') await scene.appendPayments(4);
          if (what === 'start' && running.length < 3) running.push(follow({ batchSize: 4 }));
          if (what === 'stop' && running.length > 1) await running.shift()?.stop();
          if (what.startsWith('cut')) await scene.cutLeader(what.slice(4));
        }
        await scene.appendPayments(1);
        await allTaken();
        const said = running.flatMap(({ restarts }) => restarts.map(({ name }) => name));
        expect(said, 'two led at once').to.not.include('LostLeadership');
        await Promise.all(running.map((one) => one.stop()));
      }),
      { numRuns: 8 },
    );
  });
});
