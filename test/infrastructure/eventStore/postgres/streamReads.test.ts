import { expect } from 'chai';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { type StreamRead, StreamReads } from '../../../../infrastructure/eventStore/postgres/streamReads.ts';

const eventsOf = ({ stream, from }: StreamRead) => [{ stream, revision: from }] as unknown as RecordedEvent[];

describe('stream reads', () => {
  it('requested in one turn share statements of at most 32, each with its own result', async () => {
    const statements: number[] = [];
    const reads = new StreamReads(async (list) => {
      statements.push(list.length);
      return list.map(eventsOf);
    });
    const asked = Array.from({ length: 70 }, (_, n) => ({ stream: `payment-${n}`, from: n }));
    const answers = await Promise.all(asked.map(({ stream, from }) => reads.read(stream, from)));
    expect(answers).to.deep.equal(asked.map(eventsOf));
    expect(statements).to.deep.equal([32, 32, 6]);
  });

  it('are all sent before the first result is processed', async () => {
    const order: string[] = [];
    const reads = new StreamReads(async (list) => {
      order.push(`statement of ${list.length}`);
      return list.map(eventsOf);
    });
    const asked = Array.from({ length: 70 }, (_, n) => reads.read(`payment-${n}`, 0));
    await Promise.all(asked.map(async (one, n) => order.push(`answer ${(await one) && n}`)));
    expect(order.slice(0, 4)).to.deep.equal(['statement of 32', 'statement of 32', 'statement of 6', 'answer 0']);
    expect(order).to.have.length(73);
  });

  it('of one stream at two revisions get separate results', async () => {
    const reads = new StreamReads(async (list) => list.map(eventsOf));
    const twice = await Promise.all([reads.read('payment-1', 0), reads.read('payment-1', 3)]);
    expect(twice).to.deep.equal([
      eventsOf({ stream: 'payment-1', from: 0 }),
      eventsOf({ stream: 'payment-1', from: 3 }),
    ]);
  });

  it('fail together, and later ones succeed', async () => {
    const failure = new Error('away');
    let fails = true;
    const reads = new StreamReads(async (list) => {
      if (fails) throw failure;
      return list.map(eventsOf);
    });
    const failed = await Promise.allSettled([reads.read('payment-1', 0), reads.read('payment-2', 0)]);
    expect(failed).to.deep.equal([0, 1].map(() => ({ status: 'rejected', reason: failure })));
    fails = false;
    expect(await reads.read('payment-1', 0)).to.deep.equal(eventsOf({ stream: 'payment-1', from: 0 }));
  });
});
