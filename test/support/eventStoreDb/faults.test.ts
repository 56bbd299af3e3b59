// Tests each fault of the test server with the published client.
import { randomUUID } from 'node:crypto';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { all, event, failureOf, newStream, nextUncaught, RealClients, Seen, untilAnswered } from './realClient.ts';
import { EventStoreDbServer } from './server.ts';

/** Credentials per call make the client use the classic append. */
const CLASSIC = { credentials: { username: 'admin', password: 'changeit' } };
const NO_STREAM = { expectedRevision: 'no_stream' } as const;

describe('faults of the EventStoreDB test server', () => {
  let server: EventStoreDbServer;
  let client: EventStoreDBClient;
  const clients = new RealClients();

  beforeEach(async () => {
    server = await EventStoreDbServer.start({ writeTimeoutMs: 50 });
    client = clients.open(server);
  });
  afterEach(async () => {
    await clients.dispose();
    await server.stop();
  });

  const written = (): string[] => server.events.map(({ id }) => id);
  const brief = async (work: Promise<unknown>) => {
    const { name, type, code } = await failureOf(work);
    return { name, type, code };
  };
  /** Appends without waiting for the answer. The outcome is observed from the start. */
  const inFlight = async (stream: string, { id }: { id: string }, to = client) => {
    const before = server.appendsReceived;
    const failure = brief(to.appendToStream(stream, event({}, id), NO_STREAM));
    await server.until(({ appendsReceived }) => appendsReceived === before + 1);
    return { failure };
  };

  describe('lost connections', () => {
    beforeEach(async () => {
      await server.stop();
      server = await EventStoreDbServer.start();
      client = clients.open(server);
    });

    for (const [name, lose] of [
      ['a cut', async () => server.cut()],
      ['kill -9', () => server.stop()],
    ] as const) {
      it(`${name} fails calls in flight, and the same client works again when the server is back`, async () => {
        const [first, lost, later] = [event(), event(), event()];
        await client.appendToStream('payment-1', first, NO_STREAM);
        const subscription = client.subscribeToAll();
        await new Seen(subscription).until('caughtUp');
        const following = brief(new Promise((_resolve, reject) => subscription.once('error', reject)));
        server.loseAnswers();
        const { failure } = await inFlight('payment-2', lost);
        await lose();
        expect(await failure).to.deep.equal({ name: 'UnavailableError', type: 'unavailable', code: 14 });
        expect(await following).to.deep.equal({ name: 'UnavailableError', type: 'unavailable', code: 14 });
        const { port } = server;
        if (name === 'kill -9') await server.restart();
        expect(server.port).to.equal(port);
        await untilAnswered(() => client.appendToStream('payment-3', later, NO_STREAM));
        expect(written()).to.deep.equal([first.id, lost.id, later.id]);
        await server.until(({ subscriptions }) => subscriptions === 0);
      });
    }

    it('fail an append with a plain error, code 14, while the server is down', async () => {
      await client.appendToStream(newStream(), event());
      await server.stop();
      expect(server.connections).to.equal(0);
      await failureOf(client.appendToStream(newStream(), event()));
      const failure = await brief(client.appendToStream(newStream(), event()));
      expect(failure).to.deep.equal({ name: 'Error', type: undefined, code: 14 });
    });

    it('reset calls in flight with code 0 on a graceful stop', async () => {
      server.holdAppends();
      const { failure } = await inFlight('payment-1', event());
      await server.stop({ graceful: true });
      expect(await failure).to.deep.equal({ name: 'UnknownError', type: 'unknown', code: 13 });
      expect(written()).to.deep.equal([]);
    });

    it('reject the appends of every client of the process (B1)', async () => {
      const other = await EventStoreDbServer.start();
      const otherClient = clients.open(other);
      await otherClient.appendToStream(newStream(), event());
      const lost = event();
      server.holdAppends();
      const { failure } = await inFlight('payment-1', lost);
      await other.stop();
      expect(await failure).to.deep.equal({ name: 'UnavailableError', type: 'unavailable', code: 14 });
      const uncaught = nextUncaught();
      server.releaseAppends();
      expect((await uncaught).message).to.contain('undefined is not iterable');
      expect(written()).to.deep.equal([lost.id]);
    });
  });

  describe('answers', () => {
    it('can be delayed, although the operation happens at once', async () => {
      server.delay(30);
      const sent = event();
      const outcomes: string[] = [];
      const appended = client.appendToStream('payment-1', sent, NO_STREAM).then(() => outcomes.push('appended'));
      await server.until(({ events }) => events.length === 1);
      expect(outcomes).to.deep.equal([]);
      const since = performance.now();
      expect(await all(client.readStream('payment-1'))).to.have.length(1);
      expect(performance.now() - since).to.be.greaterThan(25);
      await appended;
      await client.appendToStream('payment-1', event(), CLASSIC);
      expect(performance.now() - since).to.be.greaterThan(55);
    });

    it('have no effect if they are due after their connection was lost', async () => {
      await client.appendToStream('payment-1', event());
      const lateMs = 500; // Longer than the other answers take, also on a busy machine.
      server.delay(lateMs);
      const subscription = client.subscribeToAll();
      const following = failureOf(new Promise((_resolve, reject) => subscription.once('error', reject)));
      const appended = [1, 2, 3].map((n) => brief(client.appendToStream(`refund-${n}`, event(), NO_STREAM)));
      await server.until(({ events }) => events.length === 4);
      const since = performance.now();
      const slow = client.appendToStream('payment-2', event(), CLASSIC);
      server.cut();
      for (const { type } of await Promise.all(appended)) expect(type).to.equal('unavailable');
      await Promise.all([failureOf(slow), following]);
      await untilAnswered(() => all(client.readStream('payment-1')));
      expect(performance.now() - since, 'the late answers were due').to.be.greaterThan(lateMs - 5);
      expect(server.subscriptions, 'the call was over before its time').to.equal(0);
    });

    it('can be lost after the write, and a repeat gets the original revision', async () => {
      const sent = event();
      server.loseAnswers();
      const { failure } = await inFlight('payment-1', sent);
      expect(written()).to.deep.equal([sent.id]);
      const again = await client.appendToStream('payment-1', sent, NO_STREAM);
      expect([again.success, again.nextExpectedRevision]).to.deep.equal([true, 0n]);
      expect(written()).to.deep.equal([sent.id]);
      server.cut();
      expect((await failure).type).to.equal('unavailable');
    });

    it('can come twice, and the second throws from the client', async () => {
      server.answerTwice();
      const uncaught = nextUncaught();
      expect((await client.appendToStream('payment-1', event(), NO_STREAM)).success).to.equal(true);
      expect((await uncaught).message).to.contain('undefined is not iterable');
    });

    for (const [name, invalid] of [
      ['no type', jsonEvent({ type: '', data: {} })],
      ['an id that is no UUID', jsonEvent({ id: 'x', type: 'SomethingHappened', data: {} })],
    ] as const) {
      it(`come twice for an event with ${name}, which is not written`, async () => {
        const uncaught = nextUncaught();
        const failure = await failureOf(client.appendToStream('payment-1', invalid));
        expect(failure.type).to.equal('unknown');
        expect(failure['message']).to.match(/^Could not recognize /);
        expect((await uncaught).message).to.contain('undefined is not iterable');
        expect(written()).to.deep.equal([]);
        expect((await failureOf(client.appendToStream('payment-1', invalid, CLASSIC))).code).to.equal(3);
      });
    }

    it('reject an append whose deadline has passed by the server’s clock', async () => {
      const failure = await brief(client.appendToStream('payment-1', event(), { deadline: -1_000 }));
      expect(failure).to.deep.equal({ name: 'DeadlineExceededError', type: 'deadline-exceeded', code: undefined });
      expect(written()).to.deep.equal([]);
    });

    it('end with the batch stream on a message of 20 MB, including those of written appends', async () => {
      const patient = clients.open(server, '&defaultDeadline=120000'); // 20 MB may take long on a busy machine.
      const sent = event();
      server.loseAnswers();
      const { failure } = await inFlight('payment-1', sent, patient);
      const huge = patient.appendToStream('payment-2', event({ text: 'x'.repeat(20_000_000) }));
      expect(await brief(huge)).to.deep.equal({ name: 'UnknownError', type: 'unknown', code: 8 });
      expect(await failure).to.deep.equal({ name: 'UnknownError', type: 'unknown', code: 8 });
      expect(written()).to.deep.equal([sent.id]);
    });
  });

  describe('appends', () => {
    it('time out while held, as do their repeats, and a repeat after the release succeeds', async () => {
      server.holdAppends();
      const id = randomUUID();
      const first = await inFlight('payment-1', { id });
      expect(server.appendsHeld).to.equal(1);
      const second = await inFlight('payment-1', { id });
      const classic = brief(client.appendToStream('payment-1', event({}, id), CLASSIC));
      const timedOut = { name: 'DeadlineExceededError', type: 'deadline-exceeded', code: undefined };
      expect([await first.failure, await second.failure]).to.deep.equal([timedOut, timedOut]);
      expect(await classic).to.deep.equal({ name: 'TimeoutError', type: 'timeout', code: 10 });
      expect([server.appendsHeld, written()]).to.deep.equal([1, []]);
      server.releaseAppends();
      expect(written()).to.deep.equal([id]);
      const repeat = await client.appendToStream('payment-1', event({}, id), NO_STREAM);
      expect([repeat.success, repeat.nextExpectedRevision]).to.deep.equal([true, 0n]);
      expect(written()).to.deep.equal([id]);
    });

    it('are answered in order of arrival when released in time', async () => {
      const patient = await EventStoreDbServer.start();
      const other = clients.open(patient);
      patient.holdAppends();
      const [one, two] = [event(), event()];
      const answers: Promise<{ success: boolean }>[] = [];
      for (const [n, sent] of [one, two].entries()) {
        answers.push(other.appendToStream(`payment-${n}`, sent, NO_STREAM));
        await patient.until(({ appendsHeld }) => appendsHeld === n + 1);
      }
      patient.releaseAppends();
      expect((await Promise.all(answers)).map(({ success }) => success)).to.deep.equal([true, true]);
      expect(patient.events.map(({ id }) => id)).to.deep.equal([one.id, two.id]);
      await clients.dispose();
      await patient.stop();
    });

    it('can fail with an unknown outcome', async () => {
      server.failAppends(2);
      expect(await brief(client.appendToStream('payment-1', event()))).to.deep.equal({
        name: 'UnknownError',
        type: 'unknown',
        code: undefined,
      });
      expect((await brief(client.appendToStream('payment-1', event(), CLASSIC))).code).to.equal(2);
      expect(written()).to.deep.equal([]);
      expect((await client.appendToStream('payment-1', event())).success).to.equal(true);
    });

    for (const reason of ['Server Is Busy', 'Server Is Not Ready'] as const) {
      it(`fail when the ${reason.toLowerCase()}`, async () => {
        server.busy(reason);
        const failure = await failureOf(client.appendToStream('payment-1', event()));
        expect([failure.type, failure['message']]).to.deep.equal(['unknown', `Could not recognize ${reason}`]);
        const unavailable = { name: 'UnavailableError', type: 'unavailable', code: 14 };
        expect(await brief(all(client.readStream('payment-1')))).to.deep.equal(unavailable);
        server.busy(null);
        expect((await untilAnswered(() => client.appendToStream('payment-1', event()))).success).to.equal(true);
        expect(written()).to.have.length(1);
      });
    }
  });

  describe('a node', () => {
    it('redirects the client to the leader if it is not the leader', async () => {
      const leader = await EventStoreDbServer.start();
      server.notLeader({ host: '127.0.0.1', port: leader.port });
      const { type, leader: named } = await failureOf(client.appendToStream('payment-1', event()));
      expect({ type, named }).to.deep.equal({
        type: 'not-leader',
        named: { address: '127.0.0.1', port: leader.port },
      });
      const [sent, discovered] = [event(), event()];
      expect((await client.appendToStream('payment-1', sent)).success).to.equal(true);
      const discovering = clients.openAt(`esdb+discover://127.0.0.1:${server.port}?tls=false`);
      await discovering.appendToStream('payment-1', discovered);
      expect(leader.events.map(({ id }) => id)).to.deep.equal([sent.id, discovered.id]);
      expect(written()).to.deep.equal([]);
      await clients.dispose();
      await leader.stop();
    });

    it('redirects every append in flight if it is not the leader', async () => {
      server.notLeader({ host: '127.0.0.1', port: server.port });
      const sent = [1, 2, 3, 4].map((n) => brief(client.appendToStream(`payment-${n}`, event())));
      for (const { type } of await Promise.all(sent)) expect(type).to.equal('not-leader');
      expect(written()).to.deep.equal([]);
      server.notLeader(null);
      expect((await client.appendToStream('payment-1', event())).success).to.equal(true);
    });

    it('answers nothing while silent, not even pings, and continues afterwards', async () => {
      const [sent, waiting] = [event(), event()];
      await client.appendToStream('payment-1', sent);
      const { warn } = console;
      console.warn = () => undefined;
      const watchful = clients.open(server, '&keepAliveInterval=50&keepAliveTimeout=100');
      console.warn = warn;
      expect(await untilAnswered(() => all(watchful.readStream('payment-1')))).to.have.length(1);
      server.silent(true);
      const late = client.appendToStream('payment-2', waiting);
      const failure = await brief(all(watchful.readStream('payment-1')));
      expect(failure).to.deep.equal({ name: 'UnavailableError', type: 'unavailable', code: 14 });
      expect(written()).to.deep.equal([sent.id]);
      server.silent(false);
      expect((await late).success).to.equal(true);
      expect(written()).to.deep.equal([sent.id, waiting.id]);
    });

    it('stays unusable for a client after its server features failed once, but not for a new client', async () => {
      server.failServerFeatures(true);
      const plain = { name: 'Error', type: undefined, code: 2 };
      expect(await brief(client.appendToStream('payment-1', event()))).to.deep.equal(plain);
      server.failServerFeatures(false);
      expect(await brief(client.appendToStream('payment-1', event())), 'again').to.deep.equal(plain);
      expect((await clients.open(server).appendToStream('payment-1', event())).success).to.equal(true);
    });
  });

  describe('subscriptions', () => {
    it('end with an error if the consumer is too slow', async () => {
      const subscription = client.subscribeToAll();
      await new Seen(subscription).until('caughtUp');
      const failure = failureOf(new Promise((_resolve, reject) => subscription.once('error', reject)));
      server.endSubscriptions('tooSlow');
      const { type, code, message } = await failure;
      expect([type, code]).to.deep.equal(['timeout', 10]);
      expect(message).to.contain('Consumer too slow');
      expect(server.subscriptions).to.equal(0);
    });

    it('can end as if they were finished', async () => {
      const sent = event();
      await client.appendToStream('payment-1', sent);
      const seen: string[] = [];
      for await (const { event: recorded } of client.subscribeToStream('payment-1')) {
        seen.push(recorded!.id);
        server.endSubscriptions('ok');
      }
      expect(seen).to.deep.equal([sent.id]);
      expect(server.subscriptions).to.equal(0);
    });
  });
});
