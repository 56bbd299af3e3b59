// Comparing two logs.
import { expect } from 'chai';
import type { EventStore, Position, RecordedEvent, SubscribeOptions } from '../../../application/ports/eventStore.ts';
import { compareLogs, eventsUpTo, LogsDiffer } from '../../../infrastructure/eventStore/compareLogs.ts';
import { rejection } from './eventStoreDb/support.ts';
import { movedEvent, movedEvents } from './movedEvents.ts';

const at = (n: number): Position => String(n).padStart(4, '0') as Position;
/** Assigns positions: 10, 20, 30 … if `step` is 10. */
const placed = (events: readonly RecordedEvent[], step: number): RecordedEvent[] =>
  events.map((event, n) => ({ ...event, position: at((n + 1) * step) }));

/** Returns a store with only the methods that a comparison uses: a log that ends, in batches of three. */
const storeOf = (events: readonly RecordedEvent[]): EventStore => {
  const subscribe = async function* ({ after, signal }: SubscribeOptions) {
    const rest = events.filter(({ position }) => after === null || position > after);
    for (let n = 0; n < rest.length && !signal.aborted; n += 3) {
      const batch = rest.slice(n, n + 3);
      yield { kind: 'checkpoint' as const, position: (batch[0] as RecordedEvent).position };
      yield { kind: 'events' as const, events: batch, position: (batch.at(-1) as RecordedEvent).position };
    }
  };
  return { subscribe, head: async () => events.at(-1)?.position ?? null } as unknown as EventStore;
};

const compare = (
  source: readonly RecordedEvent[],
  target: readonly RecordedEvent[],
  asked: readonly Position[] = [],
) => {
  const signal = new AbortController().signal;
  const logs = { source: storeOf(placed(source, 10)), target: storeOf(placed(target, 7)) };
  return compareLogs({ ...logs, asked, signal, onCompared: () => undefined });
};

describe('comparing a copy with its source', () => {
  it('returns how far the copy goes', async () => {
    const nothing = {
      events: 0,
      source: null,
      positions: new Map(),
      deleted: { deliveries: [], recordedBefore: null },
    };
    expect(await compare([], [])).to.deep.equal(nothing);
    expect(await compare(movedEvents(8), [])).to.deep.equal(nothing);
    expect(await compare(movedEvents(8), movedEvents(5))).to.include({ events: 5, source: at(50) });
    expect(await compare(movedEvents(8), movedEvents(8))).to.include({ events: 8, source: at(80) });
  });

  it('maps positions of the source to the last event of the copy at or before each', async () => {
    const asked = [at(80), at(5), at(10), at(19), at(20), at(20), at(99)];
    const { positions } = await compare(movedEvents(8), movedEvents(8), asked);
    expect([...positions].map(([from, to]) => [from, to?.position ?? null]).sort()).to.deep.equal([
      [at(5), null],
      [at(10), at(7)],
      [at(19), at(7)],
      [at(20), at(14)],
      [at(80), at(56)],
      [at(99), at(56)],
    ]);
    expect((await compare([], [], [at(5)])).positions).to.deep.equal(new Map([[at(5), null]]));
  });

  const differing: readonly (keyof RecordedEvent)[] = [
    'stream',
    'revision',
    'id',
    'type',
    'data',
    'metadata',
    'recordedAt',
  ];
  for (const field of differing)
    it(`rejects a copy with a different ${field}`, async () => {
      const copy = movedEvents(8).map((event, n) =>
        n === 4 ? { ...event, [field]: field === 'revision' ? 99 : 'else' } : event,
      );
      const error = await rejection(compare(movedEvents(8), copy));
      expect(error).to.be.instanceOf(LogsDiffer);
      const { stream, revision } = movedEvent(4);
      expect(error.message).to.equal(`event 5 (${stream}@${revision}) has a different ${field} in the copy`);
    });

  it('rejects a copy in another order, with a gap, with a duplicate, or with more events', async () => {
    const events = movedEvents(8);
    const [a, b, ...rest] = events as [RecordedEvent, RecordedEvent];
    for (const copy of [
      [b, a, ...rest],
      [a, ...rest],
      [a, b, b, ...rest],
      [...events, movedEvent(8)],
    ])
      expect(await rejection(compare(events, copy))).to.be.instanceOf(LogsDiffer);
  });

  it('reads up to a position, and nothing from an empty range', async () => {
    const store = storeOf(placed(movedEvents(8), 10));
    const signal = new AbortController().signal;
    const read = async (after: Position | null, until: Position | null) => {
      const given: string[] = [];
      for await (const batch of eventsUpTo(store, after, until, signal))
        given.push(...batch.map((event) => event.position));
      return given;
    };
    expect(await read(null, at(40))).to.deep.equal([at(10), at(20), at(30), at(40)]);
    expect(await read(at(20), at(40))).to.deep.equal([at(30), at(40)]);
    for (const [after, until] of [
      [null, null],
      [at(40), at(40)],
      [at(80), null],
    ] as const)
      expect(await read(after, until)).to.deep.equal([]);
  });

  it('ends at the signal', async () => {
    const stop = new AbortController();
    const store = storeOf(placed(movedEvents(8), 10));
    const read = (async () => {
      for await (const _ of eventsUpTo(store, null, at(80), stop.signal)) stop.abort(new Error('asked to stop'));
    })();
    expect((await rejection(read)).message).to.equal('asked to stop');
  });
});
