// A consumer that remembers what it took, as a folded table does. The engine resets it after a rollback, so that it misses no event.
import { expect } from 'chai';
import type { LogConsumer } from '../../../application/ports/consumers.ts';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { askRetry, readParked } from '../../../projections/engine/parkedStreams.ts';
import { Followed, Gate, interceptingCommits, newPaymentId, Scene, taker } from './scene.ts';

/** Skips events that it took since its last reset. `before` runs first, in the same transaction. */
const remembering = (before: (events: readonly LoggedEvent[]) => void = () => undefined): LogConsumer => {
  const remembered = new Set<string>();
  const inner = taker('a', before);
  return {
    ...inner,
    reset: async () => remembered.clear(),
    apply: async (events, tx) => {
      const others = events.filter(({ position }) => !remembered.has(position));
      for (const { position } of events) remembered.add(position);
      await inner.apply(others, tx);
    },
  };
};

describe('a consumer that remembers what it took misses no event', () => {
  let scene: Scene;
  let followed: Followed;
  let beforeCommit: () => Promise<void> | void;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.appendPayments(3);
    beforeCommit = () => undefined;
  });
  afterEach(async () => {
    await followed.stop();
    await scene.close();
  });

  const follow = (...consumers: readonly LogConsumer[]): void => {
    const openSession = interceptingCommits(scene.openSession, () => beforeCommit());
    followed = new Followed(scene, { consumers, openSession, retryDelayMsMax: 200 });
  };
  const failOnce = (): void => {
    beforeCommit = () => {
      beforeCommit = () => undefined;
      throw Object.assign(new Error('transient'), { code: '40001' });
    };
  };
  const expectAllTaken = async (): Promise<void> => {
    await followed.caughtUp();
    expect(await scene.taken('a')).to.deep.equal(await scene.positions());
    expect(await readParked(scene.log.sql, null)).to.deep.equal([]);
  };

  it('when the commit of a batch fails', async () => {
    failOnce();
    follow(remembering(), taker('other'));
    await expectAllTaken();
    expect(followed.restarts).to.have.length(1);
  });

  it('when the commit of a batch fails while it catches up alone', async () => {
    let calls = 0;
    const alone = remembering(() => {
      if (calls++ > 0) return;
      failOnce();
      throw new Error('once');
    });
    follow(alone);
    await expectAllTaken();
    expect(followed.restarts).to.have.length(1);
  });

  it('when the connection is cut before the commit', async () => {
    const gate = new Gate();
    beforeCommit = () => {
      beforeCommit = () => undefined;
      return gate.pass();
    };
    follow(remembering());
    await gate.reached;
    await scene.cutLeader('a');
    gate.open();
    await expectAllTaken();
    expect(followed.restarts).to.have.length(1);
  });

  it('when a stream is parked and its retry fails at first', async () => {
    let isBroken = true;
    let stream = '';
    const consumer = remembering((events) => {
      if (isBroken && events.some((event) => event.stream === stream && event.revision > 0)) throw new Error('no');
    });
    follow(consumer);
    await followed.caughtUp();
    const paymentId = newPaymentId();
    stream = PAYMENT.stream(paymentId);
    await scene.appendPayment(paymentId);
    await followed.caughtUp();
    expect((await readParked(scene.log.sql, null)).map(({ revision }) => revision)).to.deep.equal([1]);
    expect(await scene.taken('a')).to.have.length((await scene.positions()).length - 2);
    isBroken = false;
    failOnce();
    await askRetry(scene.log.sql, [{ consumer: 'a', stream }]);
    await followed.subscriptions.attend();
    expect([followed.restarts.length, followed.taken]).to.deep.equal([1, []]);
    await followed.subscriptions.attend();
    await expectAllTaken();
  });
});
