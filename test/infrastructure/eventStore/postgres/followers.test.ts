// A law of followers: whatever this process and others append, each follower receives every event that it asked for once and in order,
// from memory or from the log.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../../domain/kernel/ids.ts';
import { LogMemory } from '../../../../infrastructure/eventStore/postgres/logMemory.ts';
import {
  type CategoryFilter,
  categoryFilter,
  type LogPage,
  placeOf,
  positionOf,
  type Reader,
} from '../../../../infrastructure/eventStore/postgres/reader.ts';
import { SharedReads } from '../../../../infrastructure/eventStore/postgres/sharedReads.ts';
import { follow } from '../../../../infrastructure/eventStore/postgres/subscription.ts';
import { newEvent } from '../../../conformance/eventStore/harness.ts';

const CATEGORIES = ['payment', 'account', 'delivery'];
const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await nextTurn();
};
const failed = (error: unknown): never => {
  throw error;
};

/** A log in memory, whose reads take a few turns of the event loop. */
class SimulatedLog {
  readonly events: RecordedEvent[] = [];
  head = 0;
  readonly memory = new LogMemory(failed);
  readonly #reader = {
    lookAt: async (place: number) => ({
      head: this.head,
      id: this.events.find(({ position }) => placeOf(position) === place)?.id ?? null,
    }),
    logPage: async (after: number, filter: CategoryFilter | null, limit: number): Promise<LogPage> => {
      await nextTurn();
      const { head } = this;
      const events = this.wanted(after, head, filter).slice(0, limit);
      const last = events.at(-1);
      const upTo = events.length < limit || last === undefined ? head : placeOf(last.position);
      await nextTurn();
      return { events: events.map((event) => ({ ...event })), upTo, atHead: upTo === head };
    },
  } as unknown as Reader;
  readonly sources = {
    reader: this.#reader,
    memory: this.memory,
    shared: new SharedReads(this.#reader, this.memory),
    onError: failed,
  };

  /** Returns the events after `after`, up to `upTo`, that pass the filter. */
  wanted(after: number, upTo: number, filter: CategoryFilter | null): RecordedEvent[] {
    return this.events.filter(({ position, stream }) => {
      const place = placeOf(position);
      return place > after && place <= upTo && (filter === null || filter.matches(stream));
    });
  }

  /** Appends events. Returns how this process learns of them later. */
  append(count: number, isOwn: boolean): () => void {
    const first = this.head + 1;
    const events = Array.from({ length: count }, (_, n) => ({
      ...newEvent({ data: '{}', metadata: '{}' }),
      stream: `${CATEGORIES[(first + n) % CATEGORIES.length]}-${first + n}` as StreamName,
      revision: 0,
      position: positionOf(first + n),
      recordedAt: new Date().toISOString(),
    }));
    this.events.push(...events);
    this.head += count;
    const { head } = this;
    return () => (isOwn ? this.memory.wrote(first, events) : this.memory.head.learn(head));
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append'), count: fc.integer({ min: 1, max: 30 }), isOwn: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('follow'),
      back: fc.nat(40),
      category: fc.option(fc.constantFrom(...CATEGORIES)),
      batchSize: fc.integer({ min: 1, max: 40 }),
      slow: fc.nat(8),
    }),
  },
);

describe('followers of the log', () => {
  it('receive every event once, in order', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(2)), { minLength: 20, maxLength: 60 }), async (steps) => {
        const log = new SimulatedLog();
        let isOver = false;
        const runs: Promise<void>[] = [];
        const run = async (after: number, category: string | null, batchSize: number, slow: number) => {
          const filter = categoryFilter(category === null ? null : [category]);
          const got: string[] = [];
          const { signal } = new AbortController();
          for await (const one of follow(log.sources, { after, filter, batchSize, signal })) {
            if (one.kind === 'events') got.push(...one.events.map(({ id }) => id));
            await turns(slow);
            if (isOver && got.at(-1) === log.wanted(after, log.head, filter).at(-1)?.id) break;
          }
          expect(got).to.deep.equal(log.wanted(after, log.head, filter).map(({ id }) => id));
        };
        for (const [one, pause] of steps) {
          if ('isOwn' in one) {
            const learn = log.append(one.count, one.isOwn);
            await turns(pause);
            learn();
          } else if ('back' in one) {
            runs.push(run(Math.max(0, log.head - one.back), one.category, one.batchSize, one.slow));
          } else log.head++; // the place of a deleted event
          await turns(pause);
        }
        isOver = true;
        log.append(CATEGORIES.length, true)(); // wakes each follower, with an event for it
        await Promise.all(runs);
      }),
      { numRuns: 40 },
    );
  });
});
