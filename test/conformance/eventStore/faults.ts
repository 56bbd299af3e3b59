// Lost connections, unknown outcomes and slow writers: nothing acknowledged is lost, doubled or skipped.
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { EventStore, NewEvent, RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import {
  appendUntilAnswered,
  brief,
  collect,
  idsOf,
  type LogUnderTest,
  newEvent,
  newEvents,
  newStream,
  TestSubscription,
} from './harness.ts';

const WRITERS = 16;
const STREAMS = 25;
const APPENDS_PER_WRITER = 60;
const CUTS = 8;

export const faults = (log: () => LogUnderTest, store: () => EventStore): void => {
  /** Appends like a process that runs commands, with a new revision after each conflict. Returns the acknowledged ids by stream. */
  const writeOptimistically = async (
    to: EventStore,
    streams: readonly StreamName[],
    seed: number,
  ): Promise<Written> => {
    const acknowledged: Written = new Map();
    const [first] = fc.sample(fc.integer({ min: 0, max: streams.length - 1 }), { numRuns: 1, seed });
    for (let n = 0; n < APPENDS_PER_WRITER; n++) {
      const stream = streams[(first! + n * (1 + (seed % 3))) % streams.length]!;
      const events = newEvents(1 + (n % 3));
      for (let expected = -1; ; ) {
        const result = await appendUntilAnswered(to, stream, expected, events);
        if (result.ok) break;
        expected = result.actual;
      }
      acknowledged.set(stream, [...(acknowledged.get(stream) ?? []), ...idsOf(events)]);
    }
    return acknowledged;
  };

  const expectGapless = (events: readonly RecordedEvent[]): void => {
    const next = new Map<string, number>();
    for (const { stream, revision } of events) {
      expect(revision, stream).to.equal(next.get(stream) ?? 0);
      next.set(stream, revision + 1);
    }
  };

  describe('faults', () => {
    it('an append is neither lost nor doubled if its connection is cut at any moment', async () => {
      const jobs = Array.from({ length: 60 }, () => ({ stream: newStream(), events: newEvents(2) }));
      for (const [n, { stream, events }] of jobs.entries()) {
        const answer = appendUntilAnswered(store(), stream, -1, events);
        for (let turns = 0; turns < n % 6; turns++) await turn();
        if (n % 2 === 0) await log().cutConnections();
        expect(brief(await answer)).to.deep.equal({ ok: true, revision: 1 });
      }
      for (const { stream, events } of jobs) {
        expect(idsOf(await collect(store().readStream(stream)))).to.deep.equal(idsOf(events));
      }
    });

    it('a repetition on another instance after a cut returns the original revision', async () => {
      const other = await log().connect();
      const stream = newStream();
      const events = newEvents(3);
      const first = appendUntilAnswered(store(), stream, -1, events);
      await log().cutConnections();
      expect(brief(await appendUntilAnswered(other, stream, -1, events))).to.deep.equal({ ok: true, revision: 2 });
      expect(brief(await first)).to.deep.equal({ ok: true, revision: 2 });
      expect(idsOf(await collect(other.readStream(stream)))).to.deep.equal(idsOf(events));
    });

    it(`no event is lost with ${WRITERS} writers on ${STREAMS} streams, two instances, three subscriptions and repeated cuts`, async () => {
      const other = await log().connect();
      const after = await store().head();
      const streams = Array.from({ length: STREAMS }, () => newStream());
      const readers = [
        new TestSubscription(store(), { after }),
        new TestSubscription(other, { after, batchSize: 10 }),
        new TestSubscription(other, { after, categories: ['payment'] }),
      ];
      const writers = Array.from({ length: WRITERS }, (_, seed) =>
        writeOptimistically(seed % 2 === 0 ? store() : other, streams, seed),
      );
      const done = Promise.all(writers);
      for (let cut = 0; cut < CUTS; cut++) {
        const seen = readers[0]!.events.length;
        await readers[0]!.until(({ events }) => events.length > seen + 50 || events.length >= total);
        await log().cutConnections();
      }
      const acknowledged = await done;

      const expected = acknowledged.flatMap((written) => [...written.values()].flat()).sort();
      expect(expected).to.have.length(total);
      for (const reader of readers) {
        await reader.until(({ events }) => events.length >= total);
        await reader.stop();
        expect(idsOf(reader.events).sort(), 'all of them, once').to.deep.equal(expected);
        expectGapless(reader.events);
        expect(reader.events).to.deep.equal(readers[0]!.events);
      }
      for (const stream of streams) {
        const stored = await collect(store().readStream(stream));
        const followed = readers[0]!.events.filter((event) => event.stream === stream);
        expect(followed, 'the log has each stream in its order').to.deep.equal(stored);
      }
      for (const written of acknowledged) {
        for (const [stream, ids] of written) {
          const inLog = idsOf(readers[0]!.events.filter((event) => event.stream === stream && ids.includes(event.id)));
          expect(inLog, 'in the order in which they were acknowledged').to.deep.equal(ids);
        }
      }
    });

    it('a subscription continues after its connection was cut while it waited', async () => {
      const subscription = new TestSubscription(store(), { after: await store().head() });
      await subscription.until(({ caughtUp }) => caughtUp.length === 1);
      const ids: string[] = [];
      for (let cut = 0; cut < 3; cut++) {
        await log().cutConnections();
        const event = newEvent();
        await appendUntilAnswered(store(), newStream(), -1, [event]);
        ids.push(event.id);
        await subscription.untilIds(ids);
      }
      await subscription.stop();
      expect(idsOf(subscription.events)).to.deep.equal(ids);
    });

    it('a read continues after its connection was cut', async () => {
      const stream = newStream();
      const events = newEvents(2_000);
      await store().append(stream, -1, events);
      const seen: string[] = [];
      for await (const { id, revision } of store().readStream(stream)) {
        seen.push(id);
        if (revision % 700 === 10) await log().cutConnections();
      }
      expect(seen).to.deep.equal(idsOf(events));
    });

    it('subscriptions don’t skip an append that is still in progress elsewhere', async () => {
      const after = await store().head();
      const reader = new TestSubscription(store(), { after });
      await reader.until(({ caughtUp }) => caughtUp.length === 1);
      const slow = newEvent();
      const held = await log().holdAppend(newStream(), slow);
      const quick: NewEvent[] = newEvents(20);
      const answers = quick.map((event) => appendUntilAnswered(store(), newStream(), -1, [event]));
      const meanwhile = new TestSubscription(store(), { after });
      await meanwhile.until(({ caughtUp }) => caughtUp.length === 1);
      await held.release();
      await Promise.all(answers);
      const all = idsOf([slow, ...quick]).sort();
      for (const subscription of [reader, meanwhile]) {
        await subscription.until(({ events }) => events.length === all.length);
        await subscription.stop();
        expect(idsOf(subscription.events).sort()).to.deep.equal(all);
        const positions = subscription.events.map(({ position }) => position);
        expect(positions).to.deep.equal([...positions].sort());
      }
      expect(idsOf(reader.events)).to.deep.equal(idsOf(meanwhile.events));
    });
  });
};

type Written = Map<StreamName, string[]>;
/** The writers append one, two and three events in turn. */
const total = WRITERS * (APPENDS_PER_WRITER / 3) * 6;
