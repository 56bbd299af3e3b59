// How many events of one batch may fail before the consumer itself is blamed (architecture §7). Without a database: savepoints have their
// own tests.
import { expect } from 'chai';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import type { SqlTransaction } from '../../../application/ports/sql.ts';
import { applyCarefully, ConsumerFailed } from '../../../projections/engine/parking.ts';

const listeners: ((isCommitted: boolean) => void)[] = [];
const TX: SqlTransaction = {
  query: async () => ({ rows: [], rowCount: 0 }),
  onEnd: (listener) => listeners.push(listener),
};

/** Streams whose effects ran after a commit. */
let followed: string[] = [];

/** Applies a batch with one event of each of `2 * poisoned` streams, of which every second fails. */
const takeBatch = (poisoned: number) => {
  const events = Array.from({ length: 2 * poisoned }, (_, n) => ({
    stream: `payment-${n}`,
    revision: 0,
    id: `${n}`,
    account: null,
    mode: null,
    event: { type: 'ChargeExpired' },
  })) as unknown as readonly LoggedEvent[];
  const consumer = {
    reset: async () => undefined,
    apply: async (some: readonly LoggedEvent[], tx: SqlTransaction) => {
      tx.onEnd((isCommitted) => isCommitted && followed.push(...some.map(({ stream }) => stream)));
      if (some.some(({ stream }) => Number(stream.slice(8)) % 2 === 1)) throw new Error('no');
    },
  };
  return applyCarefully(consumer, events, TX);
};

describe('a batch with many failing events', () => {
  it('parks 200 streams', async () => {
    const found = await takeBatch(200);
    expect(found.map(({ recorded: { stream } }) => stream)).to.deep.equal(
      Array.from({ length: 200 }, (_, n) => `payment-${2 * n + 1}`),
    );
  });
  it('runs the effects of the events that were taken, once and only after the commit', async () => {
    for (const isCommitted of [false, true]) {
      followed = [];
      listeners.length = 0;
      await takeBatch(3);
      for (const listener of listeners) listener(isCommitted);
      expect(followed).to.deep.equal(isCommitted ? ['payment-0', 'payment-2', 'payment-4'] : []);
    }
  });
  it('rejects with ConsumerFailed for 201 failing streams', async () => {
    const error = await takeBatch(201).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConsumerFailed);
    expect(error).to.have.property('message', 'Error: no');
  });
});
