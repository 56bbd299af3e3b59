// How many events of one batch may be to blame before it is who takes them (architecture §7). Without a database: savepoints are its
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

/** Streams whose effects followed a commit. */
let followed: string[] = [];

/** One event of each of so many streams, of which every second one can't be taken. */
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

describe('a batch of which many events can’t be taken', () => {
  it('parks 200 of them', async () => {
    const found = await takeBatch(200);
    expect(found.map(({ recorded: { stream } }) => stream)).to.deep.equal(
      Array.from({ length: 200 }, (_, n) => `payment-${2 * n + 1}`),
    );
  });
  it('has the effects after its commit once, and of what was kept only', async () => {
    for (const isCommitted of [false, true]) {
      followed = [];
      listeners.length = 0;
      await takeBatch(3);
      for (const listener of listeners) listener(isCommitted);
      expect(followed).to.deep.equal(isCommitted ? ['payment-0', 'payment-2', 'payment-4'] : []);
    }
  });
  it('of more, blames the consumer and parks nothing', async () => {
    const error = await takeBatch(201).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConsumerFailed);
    expect(error).to.have.property('message', 'Error: no');
  });
});
