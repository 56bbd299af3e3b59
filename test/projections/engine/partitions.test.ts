// Partitions of a consumer: which accounts belong to each, and where each starts when their number changes.
import { expect } from 'chai';
import fc from 'fast-check';
import { PARTITIONS_MAX } from '../../../application/ports/consumers.ts';
import type { Position } from '../../../application/ports/eventStore.ts';
import { idInPartition, type StreamName } from '../../../domain/kernel/ids.ts';
import {
  advanced,
  dividedInto,
  type Front,
  frontOf,
  isAtMost,
  isOfPart,
  leastOf,
  markName,
  partitionName,
  partsOf,
  reachedIn,
  readName,
} from '../../../projections/engine/partitions.ts';

const COUNTS = [1, 2, 4, 8, 16, 32, PARTITIONS_MAX];
const counts = fc.constantFrom(...COUNTS);
const at = (place: number | null): Position | null =>
  place === null ? null : (String(place).padStart(19, '0') as Position);
const positions = fc.option(fc.integer({ min: 1, max: 9 })).map(at);
const fronts: fc.Arbitrary<Front> = counts.chain((count) =>
  fc.array(positions, { minLength: count, maxLength: count }),
);
const streamIn = (partition: number): StreamName =>
  `payment-${idInPartition(partition, new Uint8Array(16))}` as StreamName;
const STREAMS = Array.from({ length: 1_024 }, (_, partition) => streamIn(partition));
const reached = (front: Front): readonly (Position | null)[] => STREAMS.map((stream) => reachedIn(front, stream));

describe('partitions of a consumer', () => {
  it('divide the accounts into equal contiguous ranges', () => {
    for (const count of COUNTS) {
      const parts = STREAMS.map((stream) => partsOf(count).filter((part) => isOfPart(part, stream)));
      expect(parts.map((of) => of.map(({ index }) => index))).to.deep.equal(
        STREAMS.map((_, partition) => [Math.floor(partition / (1_024 / count))]),
      );
    }
  });

  it('include streams without an id in their names, each in exactly one partition', () => {
    for (const stream of ['logConsumer-payments', 'logConsumer-process/x', 'x-', 'x-iii', 'x-0U0', 'x'])
      for (const count of COUNTS)
        expect(
          partsOf(count).filter((part) => isOfPart(part, stream)),
          `${stream} in ${count}`,
        ).to.have.length(1);
  });

  it('have names that can be parsed back', () => {
    const part = { index: 3, of: 8 };
    for (const consumer of ['payments', 'process/webhookFanOut', 'odd#1']) {
      expect(readName(partitionName(consumer, part))).to.deep.equal({ consumer, part, isMark: false });
      expect(readName(markName(consumer, part))).to.deep.equal({ consumer, part, isMark: true });
    }
    for (const name of ['payments', 'payments/next', 'process/expiry'])
      expect(readName(name)).to.deep.equal({ consumer: name, part: { index: 0, of: 1 }, isMark: false });
    expect(partitionName('payments', part)).to.equal('payments#3/8');
  });

  it('of a new number start so that each account continues at its own position', () => {
    fc.assert(
      fc.property(fronts, counts, (front, count) => {
        const { partitions, marks } = dividedInto(front, count);
        expect(partitions).to.have.length(count);
        const checkpoints = [
          ...partsOf(count).map((part, n) => ({ name: partitionName('a', part), position: partitions[n] ?? null })),
          ...marks.map(({ part, position }) => ({ name: markName('a', part), position })),
        ];
        expect(reached(frontOf(checkpoints))).to.deep.equal(reached(front));
        // There is a mark only where a range is ahead of its partition, which must pass the mark.
        for (const { part, position } of marks)
          expect(position > (partitions[Math.floor((part.index * count) / part.of)] ?? '')).to.equal(true);
        if (count >= front.length) expect(marks).to.deep.equal([]);
      }),
    );
  });

  it('that all reach a position have no account left behind', () => {
    fc.assert(
      fc.property(fronts, counts, (front, count) => {
        const end = at(10) as Position;
        const done = partsOf(count).reduce((so, part) => advanced(so, part, end), front);
        expect(new Set(reached(done))).to.deep.equal(new Set([end]));
        expect(leastOf(done)).to.equal(end);
      }),
    );
  });

  it('never move an account back', () => {
    fc.assert(
      fc.property(fronts, counts, positions, fc.nat(PARTITIONS_MAX - 1), (front, of, position, index) => {
        const after = advanced(front, { index: index % of, of }, position);
        expect(isAtMost(front, after)).to.equal(true);
        expect(isAtMost(after, front)).to.equal(reached(after).join() === reached(front).join());
      }),
    );
  });
});
