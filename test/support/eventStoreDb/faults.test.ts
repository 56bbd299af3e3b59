// Tests the test server with the published client: each fault as the client sees it.
import { randomUUID } from 'node:crypto';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { all, event, failureOf, newStream, nextUncaught, RealClients, Seen, untilAnswered } from './realClient.ts';
import { EventStoreDbServer } from './server.ts';

/** Given per call, so that the client uses the classic append. */
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
  /** Appends without waiting for the answer. Its outcome is recorded from the start. */
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
      it(`${name} fails what is in flight, and the same client goes on when the server is there`, async () => {
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

    it('an append while it is down fails with a plain error, code 14', async () => {
      await client.appendToStream(newStream(), event());
      await server.stop();
      expect(server.connections).to.equal(0);
      await failureOf(client.appendToStream(newStream(), event()));
      const failure = await brief(client.appendToStream(newStream(), event()));
      expect(failure).to.deep.equal({ name: 'Error', type: undefined, code: 14 });
    });

    it('a graceful stop resets what is in flight with code 0', async () => {
      server.holdAppends();
      const { failure } = await inFlight('payment-1', event());
      await server.stop({ graceful: true });
      expect(await failure).to.deep.equal({ name: 'UnknownError', type: 'unknown', code: 13 });
      expect(written()).to.deep.equal([]);
    });

    it('one lost connection rejects the appends of every client of the process (B1)', async () => {
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
    it('come late, though what they answer has happened', async () => {
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

    it('that are late for a lost connection harm nobody', async () => {
      await client.appendToStream('payment-1', event());
      const lateMs = 500; // longer than the other answers are on their way, also on a busy machine
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

    it('are lost: written, never answered, a repeat gets the original revision', async () => {
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

    it('come twice: the second throws from the client', async () => {
      server.answerTwice();
      const uncaught = nextUncaught();
      expect((await client.appendToStream('payment-1', event(), NO_STREAM)).success).to.equal(true);
      expect((await uncaught).message).to.contain('undefined is not iterable');
    });

    for (const [name, invalid] of [
      ['no type', jsonEvent({ type: '', data: {} })],
      ['an id that is no UUID', jsonEvent({ id: 'x', type: 'SomethingHappened', data: {} })],
    ] as const) {
      it(`come twice for an event with ${name}`, async () => {
        const uncaught = nextUncaught();
        const failure = await failureOf(client.appendToStream('payment-1', invalid));
        expect(failure.type).to.equal('unknown');
        expect(failure['message']).to.match(/^Could not recognize /);
        expect((await uncaught).message).to.contain('undefined is not iterable');
        expect(written()).to.deep.equal([]);
        expect((await failureOf(client.appendToStream('payment-1', invalid, CLASSIC))).code).to.equal(3);
      });
    }

    it('are refused when the deadline has passed by the clock of the server', async () => {
      const failure = await brief(client.appendToStream('payment-1', event(), { deadline: -1_000 }));
      expect(failure).to.deep.equal({ name: 'DeadlineExceededError', type: 'deadline-exceeded', code: undefined });
      expect(written()).to.deep.equal([]);
    });

    it('a message of 20 MB kills the batch stream and what else is in flight on it, though written', async () => {
      const patient = clients.open(server, '&defaultDeadline=120000'); // 20 MB may take a busy machine long
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
    it('that are held time out, and so do repeats, which are dropped; then a repeat succeeds', async () => {
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

    it('that are held and released in time are answered, in the order in which they came', async () => {
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

    it('fail with an unknown outcome', async () => {
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
    it('that does not lead names the leader, and the client goes there', async () => {
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

    it('that does not lead sends every append in flight away', async () => {
      server.notLeader({ host: '127.0.0.1', port: server.port });
      const sent = [1, 2, 3, 4].map((n) => brief(client.appendToStream(`payment-${n}`, event())));
      for (const { type } of await Promise.all(sent)) expect(type).to.equal('not-leader');
      expect(written()).to.deep.equal([]);
      server.notLeader(null);
      expect((await client.appendToStream('payment-1', event())).success).to.equal(true);
    });

    it('that is silent answers nothing, not even pings, until it speaks again', async () => {
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

    it('whose server features fail once is lost for that client, not for a new one', async () => {
      server.failServerFeatures(true);
      const plain = { name: 'Error', type: undefined, code: 2 };
      expect(await brief(client.appendToStream('payment-1', event()))).to.deep.equal(plain);
      server.failServerFeatures(false);
      expect(await brief(client.appendToStream('payment-1', event())), 'again').to.deep.equal(plain);
      expect((await clients.open(server).appendToStream('payment-1', event())).success).to.equal(true);
    });
  });

  describe('subscriptions', () => {
    it('end with an error when the consumer is too slow', async () => {
      const subscription = client.subscribeToAll();
      await new Seen(subscription).until('caughtUp');
      const failure = failureOf(new Promise((_resolve, reject) => subscription.once('error', reject)));
      server.endSubscriptions('tooSlow');
      const { type, code, message } = await failure;
      expect([type, code]).to.deep.equal(['timeout', 10]);
      expect(message).to.contain('Consumer too slow');
      expect(server.subscriptions).to.equal(0);
    });

    it('end as if they were finished', async () => {
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
