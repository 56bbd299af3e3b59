// If a consumer can’t take an event, it parks the event’s stream. A consumer that fails altogether is set aside. A transient fault parks
// nothing (architecture §6, §7).

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { LogConsumer } from '../../../application/ports/consumers.ts';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import type { PaymentId, StreamName } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { askRetry, readParked } from '../../../projections/engine/parkedStreams.ts';
import { ACCOUNT_ID, created, issued, settled } from '../../support/samples.ts';
import { Followed, Gate, interceptingCommits, newPaymentId, Scene, taker } from './scene.ts';

const FAST = { retryDelayMsMax: 200 };

describe('parking', () => {
  let scene: Scene;
  let started: Followed[] = [];
  const follow = (...args: ConstructorParameters<typeof Followed> extends [unknown, ...infer Rest] ? Rest : never) => {
    const followed = new Followed(scene, { ...FAST, ...args[0] });
    started.push(followed);
    return followed;
  };
  beforeEach(async () => {
    scene = await Scene.open();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((followed) => followed.stop()));
    await scene.close();
  });

  const METADATA = `{"account":"${ACCOUNT_ID}","mode":"test","v":1}`;
  const appendRaw = async (stream: StreamName, expected: number, over: object = {}) => {
    const event = { id: randomUUID(), type: 'ChargeExpired', data: '{}', metadata: METADATA, ...over };
    expect(await scene.store.append(stream, expected, [event])).to.include({ ok: true });
    return event;
  };
  /** Appends a payment whose fourth event is unreadable and is followed by another event. */
  const appendPoisoned = async (over: object = {}) => {
    const stream = PAYMENT.stream(await scene.appendPayment());
    const event = await appendRaw(stream, 2, over);
    await scene.append(stream, 3, [settled()]);
    return { stream, event };
  };
  const positionsOf = async (streams: readonly string[]) => {
    const text = `SELECT lpad(position::text, 19, '0') AS position FROM event_store.events WHERE stream = ANY($1) ORDER BY 1`;
    return (await scene.log.sql.query<{ position: string }>(text, [streams])).rows.map(({ position }) => position);
  };
  const parked = async () =>
    (await readParked(scene.log.sql, null)).map(
      ({ consumer, stream, revision }) => `${consumer} ${stream}@${revision}`,
    );
  /** Returns the positions of all events except those of the given streams from the given revisions on. */
  const allBut = async (...from: readonly (readonly [stream: string, revision: number])[]) => {
    const left: string[] = [];
    for (const [stream, revision] of from) left.push(...(await positionsOf([stream])).slice(revision));
    return (await scene.positions()).filter((position) => !left.includes(position));
  };
  const reads = (events: readonly LoggedEvent[], stream: string) => events.some((event) => event.stream === stream);

  for (const [what, over, error] of [
    ['of an unknown type', { type: 'Nonsense' }, 'MalformedEvent: Nonsense: expected a known event type'],
    ['of a bad shape', { type: 'ChargeCreated' }, 'MalformedEvent: ChargeCreated.amount: expected minor units'],
    ['that is not JSON', { data: '{"name": Joana}' }, 'MalformedEvent: ChargeExpired: SyntaxError while decoding'],
    ['without metadata', { metadata: '{bad}' }, 'MalformedEvent: ChargeExpired: SyntaxError while decoding'],
    [
      'without a mode',
      { metadata: `{"account":"${ACCOUNT_ID}","v":1}` },
      'MalformedEvent: ChargeExpired.at: expected a timestamp',
    ],
    [
      'without an account',
      { metadata: '{"mode":"test","v":1}' },
      'MalformedEvent: ChargeExpired.at: expected a timestamp',
    ],
    [
      'of a version to come',
      { metadata: METADATA.replace('1}', '9}') },
      'MalformedEvent: ChargeExpired: expected a version from 1 to 1, not 9',
    ],
  ] as const)
    it(`parks only the stream of an event ${what}, for every consumer that follows it`, async () => {
      await scene.appendPayments(1);
      const { stream, event } = await appendPoisoned(over);
      await scene.appendPayments(1);
      const accounts = { ...taker('accounts'), categories: ['account' as const] };
      const followed = follow({ consumers: [taker('a'), taker('b'), accounts], batchSize: 3 });
      await followed.caughtUp();
      await scene.append(stream, 4, [settled()]); // Later events of the stream are left out too.
      await scene.appendPayments(1);
      await followed.caughtUp();
      for (const name of ['a', 'b']) expect(await scene.taken(name), name).to.deep.equal(await allBut([stream, 3]));
      const rows = await readParked(scene.log.sql, null);
      expect(rows.map(({ parkedAt: _, ...row }) => row)).to.deep.equal(
        ['a', 'b'].map((consumer) => ({
          consumer,
          stream,
          account: ACCOUNT_ID,
          mode: 'test',
          revision: 3,
          eventId: event.id,
          eventType: event.type,
          error,
          isRetryAsked: false,
        })),
      );
      expect(followed.parked.map(({ consumer }) => consumer)).to.deep.equal(['a', 'b']);
      expect([followed.faults, followed.restarts]).to.deep.equal([[], []]);
    });

  it('parks a stream only for the consumer that fails, from the failing event on', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => scene.appendPayment()));
    const stream = PAYMENT.stream(ids[2] as never);
    const sick = taker('sick', (events) => {
      if (events.some((event) => event.stream === stream && event.revision === 1)) throw new Error('can’t take that');
    });
    const followed = follow({ consumers: [taker('before'), sick, taker('after')] });
    await followed.caughtUp();
    await scene.appendPayments(1);
    await scene.append(stream, 2, [settled()]);
    await followed.caughtUp();
    expect(await scene.taken('before')).to.deep.equal(await scene.positions());
    expect(await scene.taken('after')).to.deep.equal(await scene.positions());
    expect(await scene.taken('sick')).to.deep.equal(await allBut([stream, 1]));
    expect(await parked()).to.deep.equal([`sick ${stream}@1`]);
    expect((await readParked(scene.log.sql, ['sick']))[0]).to.include({
      error: 'Error: can’t take that',
      eventType: 'ChargePixIssued',
    });
    expect([followed.faults, followed.restarts, followed.subscriptions.faults()]).to.deep.equal([[], [], []]);
    expect(new Set(followed.subscriptions.positions().values())).to.deep.equal(
      new Set([(await scene.positions()).at(-1)]),
    );
  });

  it('parks exactly the failing streams and takes every other event once, up to a batch whose streams all fail', async () => {
    const payments: PaymentId[] = [];
    while (payments.length < 12) payments.push(await scene.appendPayment());
    const all = await scene.positions();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        // Fewer than the streams of a batch that are tried alone, so that a batch fails as a whole only if all its streams fail.
        fc.uniqueArray(fc.tuple(fc.nat(11), fc.nat(2)), { maxLength: 7, selector: ([payment]) => payment }),
        fc.integer({ min: 1, max: 40 }),
        async (poison, batchSize) => {
          const bad = new Map<string, number>(
            poison.map(([n, revision]) => [PAYMENT.stream(payments[n] as PaymentId), revision]),
          );
          const badAt = new Map<string, string>();
          for (const [stream, revision] of bad) badAt.set(stream, (await positionsOf([stream]))[revision] as string);
          const name = `law ${round++}`;
          const consumer = taker(name, (events) => {
            if (events.some(({ stream, revision }) => bad.get(stream) === revision)) throw new RangeError('no');
          });
          const followed = follow({ consumers: [consumer], batchSize });
          await scene.backends.until(
            async () =>
              followed.subscriptions.positions().get(name) === all.at(-1) || followed.subscriptions.faults().length > 0,
          );
          await followed.stop();
          const at = (await scene.checkpoint(name)) ?? '';
          const next = all.filter((position) => position > at).slice(0, batchSize);
          const failing = [...bad.keys()].filter((stream) => (badAt.get(stream) as string) <= (next.at(-1) ?? ''));
          expect(await positionsOf(failing)).to.include.members(next);
          expect(followed.faults).to.deep.equal(next.length > 0 ? [`${name}: RangeError: no`] : []);
          expect(await scene.taken(name)).to.deep.equal((await allBut(...bad)).filter((position) => position <= at));
          expect((await parked()).filter((row) => row.startsWith(`${name} `)).toSorted()).to.deep.equal(
            [...bad]
              .filter(([stream]) => (badAt.get(stream) as string) <= at)
              .map(([stream, revision]) => `${name} ${stream}@${revision}`)
              .toSorted(),
          );
        },
      ),
      { numRuns: 12, examples: [[[0, 3, 4, 5].map((n) => [n, 1] as [number, number]), 9]] },
    );
  });

  it('loses nothing and parks a stream once when the connection is cut before the commit', async () => {
    const { stream } = await appendPoisoned();
    await scene.appendPayments(1);
    const gate = new Gate();
    let commits = 0;
    const openSession = interceptingCommits(scene.openSession, () => (commits++ === 0 ? gate.pass() : undefined));
    const cut = follow({ consumers: [taker('a')], openSession });
    await gate.reached;
    expect(await parked()).to.deep.equal([]);
    await scene.cutLeader('a');
    gate.open();
    await cut.caughtUp();
    expect(await parked()).to.deep.equal([`a ${stream}@3`]);
    expect(await scene.taken('a')).to.deep.equal(await allBut([stream, 3]));
    expect(cut.restarts).to.have.length(1);
  });

  it('leaves out streams that an earlier leader parked', async () => {
    const { stream } = await appendPoisoned();
    const first = follow({ consumers: [taker('a')] });
    await first.caughtUp();
    await first.stop();
    await scene.append(stream, 4, [settled()]);
    const second = follow({ consumers: [taker('a')] });
    await second.caughtUp();
    expect(await scene.taken('a')).to.deep.equal(await allBut([stream, 3]));
    expect(second.parked).to.deep.equal([]);
  });

  describe('a retry of a parked stream', () => {
    const retry = async (followed: Followed, stream: string, consumer = 'a') => {
      expect(await askRetry(scene.log.sql, [{ consumer, stream }])).to.equal(1);
      await followed.subscriptions.attend();
    };

    it('takes all events that were left out, in order, and then new ones', async () => {
      let isBroken = true;
      const ids = await Promise.all(Array.from({ length: 3 }, () => scene.appendPayment()));
      const stream = PAYMENT.stream(ids[1] as never);
      const order: number[] = [];
      const sick = taker('a', (events) => {
        if (isBroken && events.some((event) => event.stream === stream && event.revision > 0)) throw new Error('no');
        order.push(...events.filter((event) => event.stream === stream).map(({ revision }) => revision));
      });
      const followed = follow({ consumers: [sick, taker('b')] });
      await followed.caughtUp();
      await scene.append(stream, 2, [settled(), settled()]);
      await followed.caughtUp();
      await retry(followed, stream); // The consumer still fails.
      expect(await parked()).to.deep.equal([`a ${stream}@1`]);
      expect((await readParked(scene.log.sql, null))[0]?.isRetryAsked).to.equal(false);
      isBroken = false;
      order.length = 0;
      await retry(followed, stream);
      expect(await parked()).to.deep.equal([]);
      expect(followed.taken).to.deep.equal([`a ${stream}`]);
      await scene.append(stream, 4, [settled()]);
      await followed.caughtUp();
      expect(order).to.deep.equal([1, 2, 3, 4, 5]);
      expect(await scene.taken('a')).to.deep.equal(await scene.positions());
      expect(await askRetry(scene.log.sql, [{ consumer: 'a', stream }]), 'again').to.equal(0);
    });

    it('stops at the next event that fails', async () => {
      let bad = 1;
      const stream = PAYMENT.stream(await scene.appendPayment());
      await scene.appendPayments(2);
      const sick = taker('a', (events) => {
        if (events.some((event) => event.stream === stream && event.revision === bad)) throw new Error('no');
      });
      const followed = follow({ consumers: [sick] });
      await followed.caughtUp();
      bad = 2;
      await retry(followed, stream);
      expect(await parked()).to.deep.equal([`a ${stream}@2`]);
      expect(await scene.taken('a')).to.deep.equal(await allBut([stream, 2]));
      expect(followed.taken).to.deep.equal([]);
    });

    it('leaves the stream parked, with the cause, if the consumer fails as a whole', async () => {
      let isBroken = true;
      const stream = PAYMENT.stream(await scene.appendPayment());
      await scene.appendPayments(1);
      const sick = taker('a', async (events, tx) => {
        if (!reads(events, stream)) return;
        if (isBroken) throw new Error('no');
        await tx.query('INSERT INTO nowhere VALUES (1)');
      });
      const followed = follow({ consumers: [sick] });
      await followed.caughtUp();
      isBroken = false;
      await retry(followed, stream);
      expect(await parked()).to.deep.equal([`a ${stream}@0`]);
      const [row] = await readParked(scene.log.sql, ['a']);
      expect(row).to.include({ error: 'database error 42P01', isRetryAsked: false });
      expect(await scene.taken('a')).to.deep.equal(await allBut([stream, 0]));
      expect([followed.faults, followed.taken]).to.deep.equal([[], []]);
    });

    it('is done although that of another one keeps failing by a transient fault', async () => {
      let isBroken = true;
      const ids = await Promise.all(Array.from({ length: 4 }, () => scene.appendPayment()));
      // Retries run in the order of the streams.
      const [first, second] = ids.slice(2).map(PAYMENT.stream).toSorted() as [StreamName, StreamName];
      const timeout = Object.assign(new Error('statement timeout'), { code: '57014' });
      const sick = taker('a', (events) => {
        if (isBroken && (reads(events, first) || reads(events, second))) throw new Error('no');
        if (reads(events, first)) throw timeout;
      });
      const followed = follow({ consumers: [sick] });
      await followed.caughtUp();
      expect(await parked()).to.deep.equal([`a ${first}@0`, `a ${second}@0`]);
      isBroken = false;
      expect(
        await askRetry(
          scene.log.sql,
          [first, second].map((stream) => ({ consumer: 'a', stream })),
        ),
      ).to.equal(2);
      await followed.subscriptions.attend();
      expect(followed.taken).to.deep.equal([`a ${second}`]);
      expect(await parked()).to.deep.equal([`a ${first}@0`]);
      expect((await readParked(scene.log.sql, null))[0]?.isRetryAsked).to.equal(true);
      expect(new Set(followed.restarts)).to.deep.equal(new Set([timeout]));
    });

    it('is done by the next leader if none ran when it was requested', async () => {
      let isBroken = true;
      const stream = PAYMENT.stream(await scene.appendPayment());
      await scene.appendPayments(1);
      const consumer = taker('a', (events) => {
        if (isBroken && reads(events, stream)) throw new Error('no');
      });
      const first = follow({ consumers: [consumer] });
      await first.caughtUp();
      await first.stop();
      isBroken = false;
      await askRetry(scene.log.sql, [{ consumer: 'a', stream }]);
      const second = follow({ consumers: [consumer] });
      await scene.backends.until(async () => (await parked()).length === 0);
      await second.caughtUp();
      expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    });
  });

  describe('a consumer that fails as a whole', () => {
    it('keeps its position, parks nothing and reports one fault while other consumers continue, and resumes once it works', async () => {
      let isBroken = true;
      await scene.appendPayments(4);
      const batches: number[] = [];
      const well = taker('well', (events) => void batches.push(events.length));
      const sick = taker('sick', () => {
        if (isBroken) throw new Error('nothing works');
      });
      const followed = follow({ consumers: [well, sick] });
      await scene.backends.until(async () => followed.subscriptions.faults().length === 1);
      for (let n = 0; n < 3; n++) {
        await scene.appendPayments(4);
        await scene.backends.until(
          async () => followed.subscriptions.positions().get('well') === (await scene.positions()).at(-1),
        );
      }
      expect(await scene.taken('well')).to.deep.equal(await scene.positions());
      expect(batches.reduce((a, b) => a + b)).to.equal(2 * 12 + 3 * 12); // Only the first batch was retried.
      expect(await parked()).to.deep.equal([]);
      expect(await scene.taken('sick')).to.deep.equal([]);
      expect(followed.faults).to.deep.equal(['sick: Error: nothing works']);
      expect(followed.subscriptions.faults().map(({ name }) => name)).to.deep.equal(['sick']);
      isBroken = false;
      await followed.caughtUp();
      await scene.appendPayments(1);
      await followed.caughtUp();
      expect(await scene.taken('sick')).to.deep.equal(await scene.positions());
      expect(followed.subscriptions.faults()).to.deep.equal([]);
    });

    it('is detected at the first event if its table is missing', async () => {
      await scene.appendPayment();
      const sick = taker('sick', async (_, tx) => {
        await tx.query('INSERT INTO nowhere VALUES (1)');
      });
      const followed = follow({ consumers: [taker('well'), sick] });
      await scene.backends.until(async () => followed.faults.length === 1);
      expect(followed.faults).to.deep.equal(['sick: database error 42P01']);
      expect(await parked()).to.deep.equal([]);
      await scene.log.sql.query('CREATE TABLE nowhere (n integer)');
      await followed.caughtUp();
      expect(await scene.taken('sick')).to.deep.equal(await scene.positions());
    });

    it('is detected after it parks ten streams in a row without taking an event', async () => {
      const sick = taker('sick', () => Promise.reject(new Error('no')));
      const followed = follow({ consumers: [taker('well'), sick] });
      for (let n = 0; n < 10; n++) {
        await scene.appendPayment();
        await followed.caughtUp();
      }
      expect([await parked(), followed.faults].map(({ length }) => length)).to.deep.equal([10, 0]);
      await scene.appendPayment();
      await scene.backends.until(async () => followed.faults.length === 1);
      expect(followed.faults).to.deep.equal(['sick: 10 streams failed in a row']);
      expect(await parked()).to.have.length(10);
      const head = (await scene.positions()).at(-1);
      await scene.backends.until(async () => followed.subscriptions.positions().get('well') === head);
      expect(await scene.taken('well')).to.deep.equal(await scene.positions());
    });
  });

  describe('a consumer that takes some events', () => {
    it('is not set aside for ten parked streams before and after one that it took', async () => {
      let isSick = true;
      const sick = taker('sick', () => (isSick ? Promise.reject(new Error('no')) : undefined));
      const followed = follow({ consumers: [taker('well'), sick] });
      for (let n = 0; n < 21; n++) {
        isSick = n !== 10;
        await scene.appendPayment();
        await followed.caughtUp();
      }
      expect([await parked(), followed.faults].map(({ length }) => length)).to.deep.equal([20, 0]);
    });
  });

  describe('a transient fault', () => {
    for (const code of ['53100', '53200', '40001', '40P01', '55P03', '57014', '58030', '08006'])
      it(`${code} is retried without parking`, async () => {
        let times = 2;
        const unlucky = taker('unlucky', () => {
          if (times-- > 0) throw Object.assign(new Error('transient'), { code });
        });
        await scene.appendPayments(2);
        const followed = follow({ consumers: [taker('a'), unlucky] });
        await followed.caughtUp();
        expect([await parked(), followed.faults, followed.restarts.length]).to.deep.equal([[], [], 2]);
        for (const name of ['a', 'unlucky']) expect(await scene.taken(name)).to.deep.equal(await scene.positions());
      });

    it('in one consumer does not delay the others', async () => {
      let isBad = true;
      const unlucky = taker('unlucky', () => {
        if (isBad) throw Object.assign(new Error('disk full'), { code: '53100' });
      });
      await scene.appendPayments(2);
      const followed = follow({ consumers: [taker('a'), unlucky] });
      const head = (await scene.positions()).at(-1);
      await scene.backends.until(async () => (await scene.checkpoint('a')) === head);
      expect([await scene.checkpoint('unlucky'), await parked(), followed.faults]).to.deep.equal([null, [], []]);
      isBad = false;
      await followed.caughtUp();
      expect(await scene.taken('unlucky')).to.deep.equal(await scene.positions());
    });
  });

  it('gives a consumer that is ahead of the others only the events after its position', async () => {
    const run = async (...consumers: LogConsumer[]) => {
      await scene.appendPayments(1);
      const followed = follow({ consumers });
      await followed.caughtUp();
      await followed.stop();
      return followed;
    };
    const given: string[] = [];
    await run(taker('a'), taker('b'));
    await run(taker('ahead'));
    const ahead = taker('ahead', (events) => void given.push(...events.map(({ position }) => position)));
    const { restarts, faults } = await run(taker('a'), taker('b'), ahead);
    expect(given).to.deep.equal((await scene.positions()).slice(6));
    expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    expect([restarts, faults]).to.deep.equal([[], []]);
  });

  it('does not rewind other consumers to the position of one that is far behind', async () => {
    await scene.appendPayments(3);
    const first = follow({ consumers: [taker('a')] });
    await first.caughtUp();
    await first.stop();
    const batches: number[] = [];
    const gate = new Gate();
    const late = taker('late', () => gate.pass());
    const again = follow({ consumers: [taker('a', (events) => void batches.push(events.length)), late], batchSize: 2 });
    await gate.reached;
    await scene.appendPayment(newPaymentId(), [created(), issued()]);
    await scene.backends.until(async () => (await scene.checkpoint('a')) === (await scene.positions()).at(-1));
    gate.open();
    await again.caughtUp();
    expect(batches).to.deep.equal([2]);
    expect(await scene.taken('late')).to.deep.equal(await scene.positions());
  });
});
