// Tests the test server with the published client: appends, reads, deletes, discovery.
import { randomUUID } from 'node:crypto';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { BACKWARDS, END, START } from '@eventstore/db-client';
import { expect } from 'chai';
import { all, event, failureOf, newStream, RealClients, untilAnswered } from './realClient.ts';
import { EventStoreDbServer } from './server.ts';

const APPEND_BYTES_MAX = 1_048_576;

describe('EventStoreDB test server', () => {
  let server: EventStoreDbServer;
  let client: EventStoreDBClient;
  const clients = new RealClients();

  beforeEach(async () => {
    server = await EventStoreDbServer.start();
    client = clients.open(server);
  });
  afterEach(async () => {
    await clients.dispose();
    await server.stop();
  });

  const revisions = async (stream: string, options: object = {}): Promise<number[]> =>
    (await all(client.readStream(stream, options))).map((resolved) => Number(resolved.event!.revision));

  // Credentials per call make the client use the classic append.
  for (const [way, options] of [
    ['batch append', {}],
    ['append', { credentials: { username: 'admin', password: 'changeit' } }],
  ] as const) {
    describe(`expected revisions through ${way}`, () => {
      const append = (
        stream: string,
        expectedRevision: bigint | 'no_stream' | 'any' | 'stream_exists',
        ids: string[],
      ) =>
        client.appendToStream(
          stream,
          ids.map((id) => event({}, id)),
          { expectedRevision, ...options },
        );
      const outcome = async (...args: Parameters<typeof append>) => {
        const { success, nextExpectedRevision } = await append(...args);
        return { success, revision: nextExpectedRevision };
      };
      const refusal = async (...args: Parameters<typeof append>) => {
        const { type, streamName, expectedVersion, actualVersion } = await failureOf(append(...args));
        return { type, streamName, expectedVersion, actualVersion };
      };
      const wrong = (streamName: string, expectedVersion: unknown, actualVersion: unknown) => ({
        type: 'wrong-expected-version',
        streamName,
        expectedVersion,
        actualVersion,
      });
      const [a, b, c, d] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const;

      it('accepts the head, returns the original revision for a repeat, and rejects everything else', async () => {
        const stream = newStream();
        expect(await outcome(stream, 'no_stream', [a, b])).to.deep.equal({ success: true, revision: 1n });
        expect(await outcome(stream, 1n, [c])).to.deep.equal({ success: true, revision: 2n });
        expect(await outcome(stream, 'no_stream', [a, b]), 'twice').to.deep.equal({ success: true, revision: 1n });
        expect(await outcome(stream, 0n, [b]), 'a part that matches').to.deep.equal({ success: true, revision: 1n });
        expect(await refusal(stream, 'no_stream', [d])).to.deep.equal(wrong(stream, 'no_stream', 2n));
        expect(await refusal(stream, 'no_stream', [a, d]), 'half').to.deep.equal(wrong(stream, 'no_stream', 2n));
        expect(await refusal(stream, 1n, [c, d]), 'beyond the head').to.deep.equal(wrong(stream, 1n, 2n));
        expect(await refusal(stream, 7n, [d]), 'above the head').to.deep.equal(wrong(stream, 7n, 2n));
        expect(server.events.map(({ id }) => id)).to.deep.equal([a, b, c]);
      });

      it('returns the position of the write, or the original position for a repeat', async () => {
        const stream = newStream();
        const first = await append(stream, 'no_stream', [a, b]);
        const recorded = await all(client.readStream(stream));
        expect(first.position).to.deep.equal(recorded[1]!.event!.position);
        await append(stream, 1n, [c]);
        expect((await append(stream, 'no_stream', [a, b])).position).to.deep.equal(first.position);
      });

      it('rejects every revision of a missing stream', async () => {
        const stream = newStream();
        expect(await refusal(stream, 0n, [a])).to.deep.equal(wrong(stream, 0n, 'no_stream'));
        expect(await refusal(stream, 'stream_exists', [a])).to.deep.equal(wrong(stream, 'stream_exists', 'no_stream'));
        expect(server.events).to.deep.equal([]);
      });

      it('accepts any and stream_exists, and recognizes their repeats until a restart', async () => {
        const stream = newStream();
        expect(await outcome(stream, 'any', [a])).to.deep.equal({ success: true, revision: 0n });
        expect(await outcome(stream, 'stream_exists', [b])).to.deep.equal({ success: true, revision: 1n });
        expect(await outcome(stream, 'any', [a]), 'twice').to.deep.equal({ success: true, revision: 0n });
        expect(await refusal(stream, 'any', [a, c]), 'half').to.deep.equal(wrong(stream, 'any', 1n));
        await server.restart();
        expect(await untilAnswered(() => revisions(stream))).to.deep.equal([0, 1]);
        expect(await outcome(stream, 'any', [a]), 'doubled').to.deep.equal({ success: true, revision: 2n });
        expect(await outcome(stream, 'no_stream', [a]), 'exact').to.deep.equal({ success: true, revision: 0n });
        expect(server.events.map(({ id }) => id)).to.deep.equal([a, b, a]);
      });

      it('accepts 1 MiB of data and metadata, but not one byte more', async () => {
        const ofBytes = (bytes: number) => {
          const empty = event({ text: '' });
          const own = JSON.stringify(empty.data).length + JSON.stringify(empty.metadata).length;
          return event({ text: 'x'.repeat(bytes - own) });
        };
        const [exact, over] = [ofBytes(APPEND_BYTES_MAX), ofBytes(APPEND_BYTES_MAX + 1)];
        expect((await client.appendToStream(newStream(), exact, options)).success).to.equal(true);
        const { type, maxAppendSize } = await failureOf(client.appendToStream(newStream(), over, options));
        expect({ type, maxAppendSize }).to.deep.equal({
          type: 'maximum-append-size-exceeded',
          maxAppendSize: APPEND_BYTES_MAX,
        });
        expect(server.events.map(({ id }) => id)).to.deep.equal([exact.id]);
      });
    });
  }

  it('forgets the oldest ids that make any idempotent', async () => {
    const small = await EventStoreDbServer.start({ anyCacheEvents: 2 });
    const other = clients.open(small);
    const stream = newStream();
    const [first, second, third] = [event(), event(), event()];
    await other.appendToStream(stream, [first!, second!, third!]);
    expect((await other.appendToStream(stream, second!)).nextExpectedRevision, 'known').to.equal(1n);
    expect((await other.appendToStream(stream, first!)).nextExpectedRevision, 'forgotten').to.equal(3n);
    await clients.dispose();
    await small.stop();
  });

  it('returns events as they were appended', async () => {
    const before = Date.now();
    const stream = newStream();
    const written = [event({ text: 'é👍' }), event({ cents: 9_007_199_254_740_991 })];
    await client.appendToStream(stream, written, { expectedRevision: 'no_stream' });
    const recorded = (await all(client.readStream(stream))).map((resolved) => resolved.event!);
    expect(recorded.map(({ created: _created, position: _position, ...rest }) => rest)).to.deep.equal(
      written.map(({ id, type, data, metadata }, n) => ({
        streamId: stream,
        id,
        revision: BigInt(n),
        type,
        data,
        metadata,
        isJson: true,
      })),
    );
    for (const { created } of recorded) expect(created.getTime()).to.be.within(before, Date.now());
    const [one, two] = recorded.map(({ position }) => position!);
    expect(two!.commit > one!.commit + 100n, 'positions have gaps').to.equal(true);
  });

  it('returns a large append of several messages in order', async () => {
    const stream = newStream();
    const events = Array.from({ length: 500 }, (_, n) => event({ n }));
    await client.appendToStream(stream, events, { expectedRevision: 'no_stream', batchAppendSize: 2_000 });
    expect(await revisions(stream)).to.deep.equal(Array.from({ length: 500 }, (_, n) => n));
    expect(server.events.map(({ id }) => id)).to.deep.equal(events.map(({ id }) => id));
  });

  it('reads a stream in both directions, from a revision and up to a count', async () => {
    const stream = newStream();
    await client.appendToStream(stream, [event(), event(), event(), event()]);
    expect(await revisions(stream)).to.deep.equal([0, 1, 2, 3]);
    expect(await revisions(stream, { fromRevision: 2n })).to.deep.equal([2, 3]);
    expect(await revisions(stream, { fromRevision: 4n })).to.deep.equal([]);
    expect(await revisions(stream, { fromRevision: 1n, maxCount: 2 })).to.deep.equal([1, 2]);
    expect(await revisions(stream, { fromRevision: END })).to.deep.equal([]);
    expect(await revisions(stream, { direction: BACKWARDS, fromRevision: END })).to.deep.equal([3, 2, 1, 0]);
    expect(await revisions(stream, { direction: BACKWARDS, fromRevision: 1n })).to.deep.equal([1, 0]);
    expect(await revisions(stream, { direction: BACKWARDS, fromRevision: START })).to.deep.equal([0]);
    const missing = await failureOf(all(client.readStream(newStream())));
    expect(missing.type).to.equal('stream-not-found');
  });

  it('reads $all forward from a position inclusively, and backward exclusively', async () => {
    const stream = newStream();
    await client.appendToStream(stream, [event(), event(), event()]);
    const whole = (await all(client.readAll())).map((resolved) => resolved.event!);
    expect(
      whole.slice(0, -3).every(({ type }) => type.startsWith('$')),
      'never empty',
    ).to.equal(true);
    expect(whole.length).to.be.greaterThan(3);
    const ids = whole.map(({ id }) => id);
    const ask = async (options: object) => (await all(client.readAll(options))).map((resolved) => resolved.event!.id);
    const { commit } = whole.at(-2)!.position!;
    for (const position of [whole.at(-2)!.position!, { commit, prepare: 0n }]) {
      expect(await ask({ fromPosition: position })).to.deep.equal(ids.slice(-2));
      expect(await ask({ fromPosition: position, direction: BACKWARDS })).to.deep.equal(ids.slice(0, -2).reverse());
    }
    expect(await ask({ fromPosition: END, direction: BACKWARDS, maxCount: 2 })).to.deep.equal(ids.slice(-2).reverse());
    expect(await ask({ fromPosition: END })).to.deep.equal([]);
    for (const odd of [
      { commit: commit + 1n, prepare: commit + 1n },
      { commit, prepare: commit - 1n },
      { commit: commit + 1_000_000n, prepare: 0n },
    ]) {
      const { type, code } = await failureOf(ask({ fromPosition: odd }));
      expect({ type, code }).to.deep.equal({ type: 'unknown', code: 2 });
    }
  });

  it('hides a soft-deleted stream and continues its numbering', async () => {
    const stream = newStream();
    const [old, fresh] = [event(), event()];
    await client.appendToStream(stream, [old, event()], { expectedRevision: 'no_stream' });
    await client.deleteStream(stream, { expectedRevision: 1n });
    expect((await failureOf(all(client.readStream(stream)))).type).to.equal('stream-not-found');
    const exists = failureOf(client.appendToStream(stream, event(), { expectedRevision: 'stream_exists' }));
    expect((await exists).type).to.equal('stream-deleted');
    const again = await client.appendToStream(stream, old, { expectedRevision: 'no_stream' });
    expect(again).to.deep.equal({ success: true, nextExpectedRevision: 0n, position: undefined });
    const written = await client.appendToStream(stream, fresh, { expectedRevision: 'no_stream' });
    expect(written.nextExpectedRevision).to.equal(2n);
    expect(await revisions(stream)).to.deep.equal([2]);
    const markers = (await all(client.readAll())).filter((resolved) => resolved.event?.streamId === `$$${stream}`);
    expect(markers.map((resolved) => resolved.event!.type)).to.deep.equal(['$metadata', '$metadata']);
  });

  it('rejects all reads and appends of a tombstoned stream', async () => {
    const stream = newStream();
    await client.appendToStream(stream, event());
    const refused = await failureOf(client.tombstoneStream(stream, { expectedRevision: 3n }));
    expect([refused.type, refused['expectedVersion'], refused['actualVersion']]).to.deep.equal([
      'wrong-expected-version',
      3n,
      0n,
    ]);
    await client.tombstoneStream(stream, { expectedRevision: 0n });
    const failures = [
      all(client.readStream(stream)),
      all(client.subscribeToStream(stream)),
      client.appendToStream(stream, event(), { expectedRevision: 'no_stream' }),
      client.appendToStream(stream, event(), { credentials: { username: 'a', password: 'b' } }),
      client.deleteStream(stream),
    ].map(failureOf);
    for (const { type, streamName } of await Promise.all(failures)) {
      expect([type, streamName]).to.deep.equal(['stream-deleted', stream]);
    }
    const [last] = await all(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }));
    expect([last!.event!.streamId, last!.event!.type, last!.event!.revision]).to.deep.equal([
      stream,
      '$streamDeleted',
      9_223_372_036_854_775_807n,
    ]);
  });

  it('answers cluster discovery', async () => {
    const discovering = clients.openAt(`esdb+discover://127.0.0.1:${server.port}?tls=false`);
    expect((await discovering.appendToStream(newStream(), event())).success).to.equal(true);
  });
});
