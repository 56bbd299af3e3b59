// A server that stops, moves, freezes or doesn't answer: no acknowledged event is lost or duplicated, and every call ends in time.
import { EventStoreDBClient } from '@eventstore/db-client';
import { expect } from 'chai';
import type { EventStore, Position } from '../../../../application/ports/eventStore.ts';
import { openEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/store.ts';
import {
  appendUntilAnswered,
  brief,
  collect,
  idsOf,
  newEvent,
  newEvents,
  newStream,
  TestSubscription,
} from '../../../conformance/eventStore/harness.ts';
import { EventStoreDbServer } from '../../../support/eventStoreDb/server.ts';
import { RECEIVER } from '../../../support/tls/certificates.ts';
import { clientEvent, opened, PATIENT, QUICK, Reports, rejection, startWorld, type World } from './support.ts';

/** notSentMs, outcomeUnknownMs and one read of the stream, from the times in `QUICK`, with a margin for a busy machine. */
const UNAVAILABLE_MS_MAX = 4_000;
const UNKNOWN_MS_MAX = 5_000;
const WRITERS = 8;
const APPENDS_PER_WRITER = 15;

const CERTIFICATE = new URL('../../../support/tls/receiver.cert.pem', import.meta.url).pathname;

const timed = async <T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> => {
  const beganAt = performance.now();
  return { value: await work(), ms: performance.now() - beganAt };
};

describe('the EventStoreDB store during faults', () => {
  let world: World;

  beforeEach(async () => {
    world = await startWorld({ writeTimeoutMs: 100 });
  });
  afterEach(async () => {
    await world.end();
  });

  for (const graceful of [false, true]) {
    const how = graceful ? 'stopped and started' : 'killed and started';
    it(`while a server is ${how}, appends fail in time; afterwards they succeed and the subscription continues`, async () => {
      const { server, written, open } = world;
      const store = await open(QUICK);
      const subscription = new TestSubscription(store);
      const ids: string[] = [];
      for (let round = 0; round < 2; round++) {
        await subscription.until(({ caughtUp }) => caughtUp.length === round + 1);
        await server.stop({ graceful });
        const stream = newStream();
        const events = newEvents(2);
        const { value, ms } = await timed(() => rejection(store.append(stream, -1, events)));
        // The append may have used a connection whose end was not detected yet.
        expect(value.name).to.be.oneOf(['EventStoreUnavailable', 'AppendOutcomeUnknown']);
        expect(ms).to.be.below(UNKNOWN_MS_MAX);
        const again = await timed(() => rejection(store.append(newStream(), -1, newEvents(1))));
        expect(again.value.name).to.equal('EventStoreUnavailable');
        expect(again.ms).to.be.below(UNAVAILABLE_MS_MAX);
        expect((await rejection(collect(store.readStream(stream)))).name).to.equal('EventStoreUnavailable');
        await server.restart();
        expect(brief(await appendUntilAnswered(store, stream, -1, events))).to.deep.equal({ ok: true, revision: 1 });
        ids.push(...idsOf(events));
        await subscription.untilIds(ids);
      }
      await subscription.stop();
      expect(idsOf(subscription.events)).to.deep.equal(ids);
      expect(idsOf(written())).to.deep.equal(ids);
    });
  }

  it(`${WRITERS} writers store every event once and every call ends in time while the server is killed, stopped and cut off`, async () => {
    const { server, written, open } = world;
    const [store, other] = [await open(QUICK), await open(QUICK)];
    const subscription = new TestSubscription(other);
    let slowest = 0;
    const write = async (to: EventStore): Promise<string[]> => {
      const ids: string[] = [];
      for (let n = 0; n < APPENDS_PER_WRITER; n++) {
        const stream = newStream();
        const events = newEvents(2);
        for (let result: object | null = null; result === null; ) {
          const { value, ms } = await timed(() => to.append(stream, -1, events).catch((error: Error) => error.name));
          slowest = Math.max(slowest, ms);
          if (typeof value === 'string') expect(value).to.be.oneOf(['EventStoreUnavailable', 'AppendOutcomeUnknown']);
          else result = value;
        }
        ids.push(...idsOf(events));
      }
      return ids;
    };
    const total = WRITERS * APPENDS_PER_WRITER * 2;
    const done = Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n % 2 === 0 ? store : other)));
    const faults = [
      () => server.cut(),
      () => server.restart(),
      async () => {
        await server.stop({ graceful: true });
        await server.restart();
      },
      () => server.loseAnswers(3),
      () => server.failAppends(3),
      () => server.answerTwice(3),
    ];
    for (const [n, fault] of faults.entries()) {
      await subscription.until(({ events }) => events.length >= (total * (n + 1)) / (faults.length + 2));
      await fault();
    }
    const acknowledged = (await done).flat();
    await subscription.until(({ events }) => events.length >= total);
    await subscription.stop();
    expect(idsOf(subscription.events).sort(), 'given').to.deep.equal([...acknowledged].sort());
    expect(idsOf(written()).sort(), 'stored').to.deep.equal([...acknowledged].sort());
    expect(slowest).to.be.below(UNKNOWN_MS_MAX);
  });

  it('finds a complete write in the stream if its answer was lost', async () => {
    const { server, store, written } = world;
    const stream = newStream();
    const events = newEvents(3);
    server.loseAnswers();
    const { value, ms } = await timed(() => store.append(stream, -1, events));
    const recorded = await collect(store.readStream(stream));
    expect(value).to.deep.equal({ ok: true, revision: 2, position: recorded[2]!.position });
    expect(ms).to.be.within(QUICK.attemptMs! - 5, UNAVAILABLE_MS_MAX);
    expect(idsOf(written())).to.deep.equal(idsOf(events));
  });

  it('distinguishes a lost answer from a conflict, although another write followed', async () => {
    const { server, store, open } = world;
    const stream = newStream();
    const [mine, next] = [newEvents(2), newEvents(1)];
    server.loseAnswers();
    const answer = store.append(stream, -1, mine);
    await server.until(({ events }) => events.some(({ id }) => id === mine[1]!.id));
    expect(brief(await (await open()).append(stream, 1, next))).to.deep.equal({ ok: true, revision: 2 });
    expect(brief(await answer)).to.deep.equal({ ok: true, revision: 1 });
    server.failAppends();
    expect(brief(await store.append(stream, 0, newEvents(1))), 'a conflict').to.deep.equal({ ok: false, actual: 2 });
  });

  it('repeats an append with an unknown outcome and writes it once', async () => {
    const { server, store, written } = world;
    server.failAppends(2);
    const events = newEvents(2);
    expect(brief(await store.append(newStream(), -1, events))).to.deep.equal({ ok: true, revision: 1 });
    expect(idsOf(written())).to.deep.equal(idsOf(events));
  });

  it('writes concurrent appends with the same IDs once, and both return the result', async () => {
    const { server, store, written, open } = world;
    const stream = newStream();
    const events = newEvents(2);
    const other = await open();
    server.holdAppends();
    const answers = [store.append(stream, -1, events), other.append(stream, -1, events)];
    await server.until(({ appendsReceived }) => appendsReceived >= 4);
    server.releaseAppends();
    const fine = { ok: true, revision: 1 };
    expect((await Promise.all(answers)).map(brief)).to.deep.equal([fine, fine]);
    expect(idsOf(written())).to.deep.equal(idsOf(events));
  });

  it('leaves an append to a frozen server with an unknown outcome in time; a repeat finds what was written', async () => {
    const { server, written, open } = world;
    const store = await open(QUICK);
    await appendUntilAnswered(store, newStream(), -1, newEvents(1));
    const stream = newStream();
    const event = newEvent();
    server.silent(true);
    const { value, ms } = await timed(() => rejection(store.append(stream, -1, [event])));
    expect(value.name).to.equal('AppendOutcomeUnknown');
    expect(ms).to.be.below(UNKNOWN_MS_MAX);
    server.silent(false);
    expect(brief(await appendUntilAnswered(store, stream, -1, [event]))).to.deep.equal({ ok: true, revision: 0 });
    expect(written().filter(({ id }) => id === event.id)).to.have.length(1);
  });

  it('starts a subscription to a frozen server when the server is back', async () => {
    const { server, open } = world;
    const store = await open(QUICK);
    const events = newEvents(2);
    await appendUntilAnswered(store, newStream(), -1, events);
    server.silent(true);
    const subscription = new TestSubscription(store);
    await world.reports.until('cannot be reached');
    server.silent(false);
    await subscription.untilIds(idsOf(events));
    await subscription.stop();
    expect(idsOf(subscription.events)).to.deep.equal(idsOf(events));
  });

  it('sends appends and reads to the new leader that the old one names', async () => {
    const { server, store } = world;
    const leader = await EventStoreDbServer.start();
    server.notLeader({ host: '127.0.0.1', port: leader.port });
    const stream = newStream();
    const events = newEvents(2);
    expect(brief(await store.append(stream, -1, events))).to.deep.equal({ ok: true, revision: 1 });
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(idsOf(events));
    expect(leader.events.map(({ id }) => id)).to.deep.equal(idsOf(events));

    server.notLeader(null);
    await leader.stop();
    expect(brief(await appendUntilAnswered(store, stream, -1, events)), 'and back').to.deep.equal({
      ok: true,
      revision: 1,
    });
    expect(idsOf(world.written())).to.deep.equal(idsOf(events));
  });

  it('finds a cluster again that was unreachable; the client never does (seen 12)', async () => {
    const { server } = world;
    const connectionString = `esdb+discover://127.0.0.1:${server.port}?tls=false&maxDiscoverAttempts=1`;
    const client = EventStoreDBClient.connectionString(connectionString);
    const store = await opened({ connectionString, timings: QUICK });
    await server.stop();
    expect((await rejection(client.appendToStream(newStream(), clientEvent()))).message).to.include(
      'Failed to discover',
    );
    const stream = newStream();
    const events = newEvents(1);
    expect((await rejection(store.append(stream, -1, events))).name).to.equal('EventStoreUnavailable');
    await server.restart();
    expect((await rejection(client.appendToStream(newStream(), clientEvent()))).message).to.include(
      'Failed to discover',
    );
    expect(brief(await appendUntilAnswered(store, stream, -1, events))).to.deep.equal({ ok: true, revision: 0 });
    await store.close();
    await client.dispose();
  });

  it('B13, B14: logs in over TLS with tlsCAFile; wrong credentials are rejected at once without showing the password', async () => {
    const server = await EventStoreDbServer.start({
      tls: RECEIVER,
      users: { ana: { password: 's3cr&t', admin: true } },
    });
    const at = (login: string): string =>
      `${server.connectionString.replace('://127.0.0.1', `://${login}localhost`)}&tlsCAFile=${CERTIFICATE}`;
    const reports = new Reports();
    const options = { timings: PATIENT, onError: reports.add };
    const store = await openEventStoreDb({ connectionString: at('ana:s3cr%26t@'), ...options });
    const event = newEvent();
    expect(brief(await store.append(newStream(), -1, [event]))).to.deep.equal({ ok: true, revision: 0 });
    await store.close();
    for (const login of ['ana:wrong-word@', '']) {
      const { value, ms } = await timed(() => rejection(openEventStoreDb({ connectionString: at(login), ...options })));
      expect(value.name).to.equal('EventStoreUnavailable');
      expect(value.message)
        .to.match(/rejected the user or password|denied access/)
        .and.not.include('wrong-word');
      expect(ms).to.be.below(UNAVAILABLE_MS_MAX);
    }
    expect(server.events.filter(({ id }) => id === event.id)).to.have.length(1);
    await server.stop();
  });

  for (const how of ['ok', 'not leader', 'denied', 'unknown user', 'invalid', 'deleted', 'unavailable'] as const)
    it(`finds written appends, and writes them once, if their stream ends (${how}) before the answer`, async () => {
      const { server, store, written } = world;
      for (let twice = 1; twice <= 2; twice++) {
        server.endAppendStreams(how);
        const batches = Array.from({ length: 3 }, () => newEvents(2));
        const answers = await Promise.all(batches.map((events) => store.append(newStream(), -1, events)));
        expect(answers.map(brief)).to.deep.equal(Array(3).fill({ ok: true, revision: 1 }));
        expect(written()).to.have.length(6 * twice);
      }
    });

  it('reports an unknown outcome, never "not written", if the stream ends with an error and the server is gone', async () => {
    const { server, open } = world;
    const store = await open(QUICK);
    for (const how of ['not leader', 'denied', 'invalid'] as const) {
      server.endAppendStreams(how, 100);
      const event = newEvent();
      const outcome = rejection(store.append(newStream(), -1, [event]));
      await server.until(({ events }) => events.some(({ id }) => id === event.id));
      await server.stop();
      const { name } = await outcome;
      // If the event was found in the stream before the server stopped, there is no error.
      expect(name, how).to.be.oneOf(['AppendOutcomeUnknown', 'Error']);
      await server.restart();
    }
  });

  it('rejects an event above a newer server’s size limit as invalid, and sends it once', async () => {
    const { server, store, written } = world;
    server.limitEvents(200);
    const large = newEvent({ data: JSON.stringify({ text: 'x'.repeat(200) }) });
    for (let twice = 0; twice < 2; twice++) {
      const before = server.appendsReceived;
      const { name, message } = await rejection(store.append(newStream(), -1, [large]));
      expect(name).to.equal('InvalidAppend');
      expect(message).to.include('--max-append-event-size');
      expect(server.appendsReceived).to.equal(before + 1);
    }
    expect(brief(await store.append(newStream(), -1, newEvents(1)))).to.deep.equal({ ok: true, revision: 0 });
    expect(written()).to.have.length(1);
  });

  for (const version of ['23.10.0', '25.0.0'])
    it(`ends a subscription with UnknownPosition if no record has its position (${version})`, async () => {
      const { server, store } = world;
      server.pretendToBe(version);
      await store.append(newStream(), -1, newEvents(2));
      const after = `${'7'.padStart(20, '0')}/${'7'.padStart(20, '0')}` as Position;
      for (let twice = 0; twice < 2; twice++) {
        const subscription = store.subscribe({ after, categories: null, signal: new AbortController().signal });
        const { name, message } = await rejection(collect(subscription));
        expect(name).to.equal('UnknownPosition');
        expect(message).to.equal(
          `the event store has no event at position ${after}, up to which it was already processed: was a backup restored? Restore both stores, the event store last`,
        );
      }
    });

  it('resumes a subscription whose position is unknown only for a moment', async () => {
    const { server, store, reports } = world;
    const subscription = new TestSubscription(store);
    const events = newEvents(2);
    await store.append(newStream(), -1, events);
    await subscription.untilIds(idsOf(events));
    const before = reports.messages.length;
    server.forgetPositions(true);
    server.endSubscriptions('ok');
    await reports.until('InvalidPosition');
    server.forgetPositions(false);
    const more = newEvents(1);
    await store.append(newStream(), -1, more);
    await subscription.untilIds(idsOf([...events, ...more]));
    await subscription.stop();
    expect(reports.messages.length).to.be.above(before);
  });

  it('neither reads nor writes a log that was restored while the program runs', async () => {
    const { server, reports, written } = world;
    await world.store.append(newStream(), -1, newEvents(2));
    const store = await world.open(); // the store begins after these events
    server.forgetPositions(true);
    server.endSubscriptions('ok');
    await reports.until('was a backup restored?');
    for (const work of [() => store.append(newStream(), -1, newEvents(1)), () => store.head(), () => store.refusal()]) {
      const { name, message } = await rejection(work());
      expect([name, message.includes('was a backup restored?')]).to.deep.equal(['EventStoreUnavailable', true]);
    }
    expect(written()).to.have.length(2);
  });

  it('closes in time while the server is down, and ends all pending work', async () => {
    const { server, open } = world;
    const store = await open(QUICK);
    const subscription = new TestSubscription(store);
    await subscription.until(({ caughtUp }) => caughtUp.length === 1);
    await server.stop();
    const answer = rejection(store.append(newStream(), -1, newEvents(1)));
    const { ms } = await timed(() => store.close());
    expect((await answer).name).to.equal('EventStoreUnavailable');
    await subscription.ended;
    expect(ms).to.be.below(UNAVAILABLE_MS_MAX);
    await server.restart();
  });
});
