// Changing the number of partitions of a consumer while processes lead it: each event is still taken exactly once (ADR 0021).
import { expect } from 'chai';
import fc from 'fast-check';
import type { LogConsumer } from '../../../application/ports/consumers.ts';
import type { Position } from '../../../application/ports/eventStore.ts';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import type { LeaderSession } from '../../../application/ports/sql.ts';
import { idInPartition, type PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../../infrastructure/postgres/session.ts';
import { WATCH_TIMINGS } from '../../../infrastructure/postgres/sessionWatch.ts';
import {
  createCheckpoint,
  createFirstCheckpoint,
  DIVIDED_VERSION,
  moveCheckpoints,
  readCheckpoints,
  readPositions,
} from '../../../projections/engine/checkpoints.ts';
import { divideOnce } from '../../../projections/engine/dividing.ts';
import { askRetry } from '../../../projections/engine/parkedStreams.ts';
import { frontOf, leastOf, partitionName, partsOf } from '../../../projections/engine/partitions.ts';
import { created } from '../../support/samples.ts';
import { Followed, Gate, newPaymentId, notingMoves, Scene, taker } from './scene.ts';

const at = (place: number): Position => String(place).padStart(19, '0') as Position;
const divisible = (name: string, before?: (events: readonly LoggedEvent[]) => Promise<void> | void): LogConsumer => ({
  ...taker(name, before),
  ofPartition: () => divisible(name, before),
});
/** Partitions of two accounts: for any number of partitions, one is in the first partition and the other in the last. */
const [FIRST, LAST] = [0, 1_023];
const paymentIn = (partition: number): PaymentId => idInPartition(partition, Buffer.from(newPaymentId().slice(0, 16)));

describe('dividing a consumer into partitions', () => {
  let scene: Scene;
  let session: LeaderSession;
  let started: Followed[];
  beforeEach(async () => {
    scene = await Scene.open();
    session = await scene.openSession('test');
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((followed) => followed.stop()));
    await session.close();
    await scene.close();
  });

  const rowsOf = async (consumer = 'a') =>
    ((await readPositions(session, [consumer])).get(consumer) ?? []).map(({ name, position }) => [name, position]);
  const swift = () =>
    leaderSessions(connectionConfig(scene.log.connectionString, 'test', { ...WATCH_TIMINGS, lookMs: 50 }), {
      renewMs: 100,
      leaseMs: 500,
      lookMs: 50,
    });
  const follow = (options: Partial<ConstructorParameters<typeof Followed>[1]> = {}): Followed => {
    const followed = new Followed(scene, { consumers: [divisible('a')], openSession: swift(), ...options });
    started.push(followed);
    return followed;
  };
  const divide = async (count: number): Promise<string> => {
    for (;;) {
      const outcome = await divideOnce(session, 'a', count);
      if (outcome !== 'held') return outcome;
    }
  };
  const allTaken = async () => {
    const all = await scene.positions();
    await scene.backends.until(
      async () => leastOf(frontOf((await readPositions(session, ['a'])).get('a') ?? [])) === all.at(-1),
    );
    expect(await scene.taken('a')).to.deep.equal(all);
    expect(started.flatMap(({ faults, parked }) => [...faults, ...parked])).to.deep.equal([]);
  };

  describe('the stored checkpoints', () => {
    beforeEach(() => createFirstCheckpoint(session, { name: 'a', version: 7, storeId: 'store' }));
    const move = (name: string, swaps: number, from: Position | null, to: Position) =>
      moveCheckpoints(
        ...([session, 'projector', { moved: [{ name, version: 7, position: from, swaps }], idle: [] }] as const),
        { position: to, eventId: `at ${to}` },
      ).then(
        () => 'moved',
        (error: Error) => error.name,
      );

    it('are copied to each partition, and joined again when their positions are equal', async () => {
      expect(await move('a', 0, null, at(3))).to.equal('moved');
      expect(await divideOnce(session, 'a', 4)).to.equal('divided');
      const four = [0, 1, 2, 3].map((n) => [`a#${n}/4`, at(3)]);
      expect(await rowsOf()).to.deep.equal(four);
      const [one] = (await readPositions(session, ['a'])).get('a') ?? [];
      expect(one).to.deep.equal({
        ...{ name: 'a#0/4', version: 7, storeId: 'store', position: at(3), eventId: `at ${at(3)}`, swaps: 1 },
      });
      expect((await readCheckpoints(session, ['a'])).get('a')).to.deep.equal({
        ...{ name: 'a', version: 7, storeId: 'store', position: null, eventId: null, swaps: 1, partitions: 4 },
      });
      expect(await divideOnce(session, 'a', 4), 'twice').to.equal('divided');
      expect((await readCheckpoints(session, ['a'])).get('a')?.swaps).to.equal(1);
      expect(await divideOnce(session, 'a', 2)).to.equal('divided');
      expect(await rowsOf()).to.deep.equal([0, 1].map((n) => [`a#${n}/2`, at(3)]));
      expect(await divideOnce(session, 'a', 1)).to.equal('divided');
      expect((await readCheckpoints(session, ['a'])).get('a')).to.deep.equal({
        ...{ name: 'a', version: 7, storeId: 'store', position: at(3), eventId: `at ${at(3)}`, swaps: 3 },
      });
    });

    it('mark partitions that are ahead until the others have passed them', async () => {
      await divideOnce(session, 'a', 2);
      await move('a#0/2', 1, null, at(5));
      await move('a#1/2', 1, null, at(3));
      expect(await divideOnce(session, 'a', 1)).to.equal('marked');
      const marked = [
        ['a#0/1', at(3)],
        ['a#0/2 passed', at(5)],
      ];
      expect(await rowsOf()).to.deep.equal(marked);
      expect(await divideOnce(session, 'a', 1), 'too early').to.equal('marked');
      expect(await rowsOf()).to.deep.equal(marked);
      const { swaps = 0 } = (await readCheckpoints(session, ['a'])).get('a') ?? {};
      expect(await move('a#0/1', swaps, at(3), at(6))).to.equal('moved');
      expect(await divideOnce(session, 'a', 1)).to.equal('divided');
      expect(await rowsOf()).to.deep.equal([['a', at(6)]]);
    });

    it('reject moves by leaders of an earlier division, even of the same number of partitions', async () => {
      await divideOnce(session, 'a', 2);
      for (const count of [4, 2]) await divideOnce(session, 'a', count);
      expect(await rowsOf()).to.deep.equal([0, 1].map((n) => [`a#${n}/2`, null]));
      expect(await move('a', 0, null, at(1)), 'undivided').to.equal('LostLeadership');
      expect(await move('a#0/4', 2, null, at(1)), 'another number').to.equal('LostLeadership');
      expect(await move('a#0/2', 1, null, at(1)), 'the same number').to.equal('LostLeadership');
      expect(await move('a#0/2', 3, null, at(1))).to.equal('moved');
    });

    it('are replaced by a single one when a program that knows no partitions swaps in a copy', async () => {
      await divideOnce(session, 'a', 2);
      await move('a#0/2', 1, null, at(5));
      const stored = await session.query("SELECT version, position FROM subscriptions.checkpoints WHERE name = 'a'");
      expect(stored.rows).to.deep.equal([{ version: 7 + DIVIDED_VERSION, position: null }]);
      await createCheckpoint(session, { name: 'a', version: 6, storeId: 'store', position: at(9), eventId: null });
      expect(await rowsOf()).to.deep.equal([['a', at(9)]]);
      expect((await readCheckpoints(session, ['a'])).get('a')).to.deep.equal({
        ...{ name: 'a', version: 6, storeId: 'store', position: at(9), eventId: null, swaps: 2 },
      });
      expect(await move('a#0/2', 1, at(5), at(6))).to.equal('LostLeadership');
    });

    it('disappear with the consumer, which can’t be divided once it is missing', async () => {
      await divideOnce(session, 'a', 2);
      await session.query("DELETE FROM subscriptions.checkpoints WHERE name = 'a'");
      expect(await rowsOf()).to.deep.equal([]);
      expect(await divideOnce(session, 'a', 2)).to.equal('missing');
    });

    it('stay undivided while another transaction has locked the checkpoint', async () => {
      const other = await scene.openSession('other');
      await other.transaction(async (tx) => {
        await tx.query("SELECT FROM subscriptions.checkpoints WHERE name = 'a' FOR UPDATE");
        expect(await divideOnce(session, 'a', 2)).to.equal('held');
      });
      expect(await divideOnce(session, 'a', 2)).to.equal('divided');
      await other.close();
    });

    it('are announced in several notices if they exceed the size limit of PostgreSQL', async () => {
      const { notices, close } = await scene.listen();
      const heard: string[] = [];
      await notices.on('quita_progress', (payload) => void heard.push(payload));
      const names = Array.from({ length: 600 }, (_, n) => `some consumer ${n}`);
      const standings = names.map((name) => ({ name, version: 1, position: null, swaps: 0 }));
      for (const standing of standings.slice(0, 300))
        await createFirstCheckpoint(session, { ...standing, storeId: 'store' });
      const progressed = { moved: standings.slice(0, 300), idle: standings.slice(300) };
      await moveCheckpoints(session, 'projector', progressed, { position: at(1), eventId: null });
      await move('a', 0, null, at(1));
      await scene.backends.until(async () => heard.includes(`projector ${at(1)} a:7`));
      const begin = `projector ${at(1)} `;
      const told = heard.slice(-3, -1).map((payload) => payload.slice(begin.length).split(','));
      expect(heard.at(-3)?.length).to.be.within(7_850, 7_899);
      expect(heard.at(-4)?.startsWith(begin)).not.to.equal(true);
      expect(told.flat()).to.deep.equal([
        ...names.slice(0, 300).map((name) => `${name}:1`),
        ...names.slice(300).map((name) => `${name}:1:idle`),
      ]);
      await close();
    });
  });

  it('continues from the same position and spreads the partitions across the processes', async () => {
    await scene.appendPayments(6);
    const one = follow();
    await one.caughtUp();
    expect(await divide(4)).to.equal('divided');
    await scene.appendPayments(6);
    await allTaken();
    expect(one.subscriptions.led.toSorted()).to.deep.equal(['a#0/4', 'a#1/4', 'a#2/4', 'a#3/4']);
    const two = follow();
    await scene.backends.until(async () => [one, two].every(({ subscriptions }) => subscriptions.ledOf('a') === 2));
    await scene.appendPayments(6);
    await allTaken();
    await divide(1);
    await scene.appendPayments(6);
    await allTaken();
    await scene.backends.until(async () => [...one.subscriptions.led, ...two.subscriptions.led].join() === 'a');
  });

  it('stores the position of a busy partition first, and later those of the idle ones in one statement', async () => {
    const moves: (readonly string[])[] = [];
    const one = follow({ openSession: notingMoves(swift(), moves) });
    await scene.appendPayments(1);
    await one.caughtUp();
    await divide(4);
    await scene.appendPayments(1);
    await scene.backends.until(async () => one.subscriptions.led.length === 4);
    for (const partition of [LAST, FIRST]) {
      await allTaken();
      moves.length = 0;
      await scene.append(PAYMENT.stream(paymentIn(partition)), -1, [created()]);
      await allTaken();
      const names = partsOf(4).map((part) => partitionName('a', part));
      const busy = names[partition === FIRST ? 0 : 3];
      expect(moves).to.deep.equal([[busy], names.filter((name) => name !== busy)]);
    }
  });

  it('rolls back a batch that a process began before the division', async () => {
    const gate = new Gate();
    let isHeld = false;
    const held = follow({ consumers: [divisible('a', () => (isHeld ? gate.pass() : undefined))] });
    await scene.appendPayments(2);
    await held.caughtUp();
    isHeld = true;
    await scene.appendPayments(2);
    await gate.reached;
    expect(await divide(2)).to.equal('divided');
    isHeld = false;
    gate.open();
    await allTaken();
    expect(held.restarts.map(({ message }) => message)).to.deep.equal(['another process moved the checkpoint of a']);
  });

  it('takes each event once when partitions are joined at different positions', async () => {
    let isSlow = true;
    const gate = new Gate();
    // Payments of the last accounts wait, so that the first partition gets far ahead.
    const slow = divisible('a', (events) =>
      isSlow && events.some(({ stream }) => stream.startsWith('payment-7')) ? gate.pass() : undefined,
    );
    await createFirstCheckpoint(session, { name: 'a', version: 1, storeId: scene.store.storeId });
    await divide(2);
    const both = [follow({ consumers: [slow] }), follow({ consumers: [slow] })];
    await scene.backends.until(async () => both.every(({ subscriptions }) => subscriptions.ledOf('a') === 1));
    for (let n = 0; n < 4; n++) for (const partition of [LAST, FIRST]) await scene.appendPayment(paymentIn(partition));
    const head = (await scene.positions()).at(-1);
    await gate.reached;
    await scene.backends.until(async () => (await scene.checkpoint('a#0/2')) === head);
    expect(await scene.checkpoint('a#1/2')).to.not.equal(head);
    expect(await divide(1)).to.equal('marked');
    isSlow = false;
    gate.open();
    await scene.appendPayments(4);
    await allTaken();
    expect(await divide(1)).to.equal('divided');
    await scene.appendPayments(4);
    await allTaken();
    expect(await rowsOf()).to.deep.equal([['a', (await scene.positions()).at(-1)]]);
  });

  it('replays a parked stream up to the position of its former partition if that is ahead of the present one', async () => {
    let isBroken = true;
    const first = paymentIn(FIRST);
    const stream = PAYMENT.stream(first);
    const failing = divisible('a', (events) => {
      if (isBroken && events.some((event) => event.stream === stream && event.revision > 0)) throw new Error('no');
    });
    await scene.appendPayment(first);
    await scene.appendPayment(paymentIn(LAST));
    const one = follow({ consumers: [failing] });
    await one.caughtUp();
    expect(one.parked.map(({ consumer, revision }) => [consumer, revision])).to.deep.equal([['a', 1]]);
    await one.stop();
    // Pretends that a slower process took the last accounts.
    await divide(2);
    const [begin] = await scene.positions();
    await session.query(
      'DELETE FROM taken WHERE position > $1 AND position IN (SELECT position FROM taken ORDER BY 1 OFFSET 1)',
      [begin],
    );
    await session.query("UPDATE subscriptions.checkpoints SET position = $1, event_id = NULL WHERE name = 'a#1/2'", [
      begin,
    ]);
    expect(await divide(1)).to.equal('marked');
    isBroken = false;
    await askRetry(session, [{ consumer: 'a', stream }]);
    started = [];
    const two = follow({ consumers: [failing] });
    await scene.backends.until(async () => two.taken.length === 1);
    await allTaken();
  });

  it('is noticed by a retry even if no event arrives', async () => {
    let isBroken = true;
    const failing = divisible('a', () => {
      if (isBroken) throw new Error('no');
    });
    const stream = PAYMENT.stream(await scene.appendPayment());
    const one = follow({ consumers: [failing] });
    await one.caughtUp();
    await divide(2);
    isBroken = false;
    await askRetry(session, [{ consumer: 'a', stream }]);
    await one.subscriptions.attend();
    await scene.backends.until(async () => one.taken.length === 1);
    expect(one.subscriptions.led.toSorted()).to.deep.equal(['a#0/2', 'a#1/2']);
    expect(await scene.taken('a')).to.deep.equal(await scene.positions());
  });

  it('takes each event once for any sequence of divisions, starts, stops and cut connections', async () => {
    await createFirstCheckpoint(session, { name: 'a', version: 1, storeId: scene.store.storeId });
    const step = fc.constantFrom('append', 'start', 'stop', 'cut', 'divide 1', 'divide 2', 'divide 4', 'divide 8');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        const running = [follow({ batchSize: 4 })];
        for (const what of steps) {
          if (what === 'append') await scene.appendPayments(4);
          if (what === 'start' && running.length < 3) running.push(follow({ batchSize: 4 }));
          if (what === 'stop' && running.length > 1) await running.shift()?.stop();
          if (what === 'cut') await scene.cutLeader(String((await rowsOf()).at(-1)?.[0]));
          if (what.startsWith('divide')) await divide(Number(what.slice(7)));
        }
        await scene.appendPayments(1);
        await allTaken();
        await Promise.all(running.map((one) => one.stop()));
      }),
      { numRuns: 10 },
    );
  });
});
