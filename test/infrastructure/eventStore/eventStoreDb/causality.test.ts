// The IDs that EventStoreDB's own tools index: written to the metadata of every event, and removed on reading.
import { expect } from 'chai';
import fc from 'fast-check';
import { withCausality, withoutCausality } from '../../../../infrastructure/eventStore/eventStoreDb/causality.ts';
import { withOriginalTimestamp } from '../../../../infrastructure/eventStore/eventStoreDb/originalTimestamp.ts';
import { collect, newEvent, newEvents, TestSubscription } from '../../../conformance/eventStore/harness.ts';
import { anyCharacter } from '../../../support/anyCharacter.ts';
import { startWorld, type World } from './support.ts';

const STREAM = 'payment-p1';
const idsIn = (metadata: string) => {
  const { $correlationId, $causationId } = JSON.parse(metadata) as Record<string, unknown>;
  return [$correlationId, $causationId];
};

describe('the causation and correlation IDs', () => {
  it('are added with their defaults if missing', () => {
    const cases: readonly [string, unknown[]][] = [
      ['{}', ['p1', 'p1']],
      ['{ }', ['p1', 'p1']],
      ['{"actor":"test"}', ['p1', 'p1']],
      ['{"$correlationId":"p2"}', ['p2', 'p2']],
      ['{"$causationId":"req_1"}', ['p1', 'req_1']],
      ['{"$correlationId":"p2","$causationId":"req_1"}', ['p2', 'req_1']],
      ['{"said":"\\"$correlationId\\":","deep":{"$causationId":"x"}}', ['p1', 'p1']],
    ];
    for (const [metadata, ids] of cases) {
      const written = withCausality(metadata, STREAM);
      expect(idsIn(written), metadata).to.deep.equal(ids);
      expect(JSON.parse(written)).to.deep.include(JSON.parse(metadata));
      expect(withoutCausality(written)).to.equal(metadata);
    }
  });

  it('stay unchanged if both are present', () => {
    const whole = '{"$correlationId":"p1", "$causationId":"p1"}';
    expect(withCausality(whole, STREAM)).to.equal(whole);
    expect(withoutCausality(whole)).to.equal(whole);
  });

  it('are added only once', () => {
    const once = withCausality('{"a":1}', STREAM);
    expect(withoutCausality(withCausality(once, STREAM))).to.equal(once);
  });

  it('can be added and removed without changing any other byte of the metadata (law)', () => {
    const key = fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('$correlationId', '$causationId'));
    const objects = fc.dictionary(key, fc.jsonValue());
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, ' ', '\t'), fc.boolean(), (object, space, isCopied) => {
        const text = JSON.stringify(object, null, space);
        const metadata = isCopied ? withOriginalTimestamp(text, '2026-11-21T12:00:00.120Z') : text;
        const written = withCausality(metadata, STREAM);
        const [correlationId, causationId] = idsIn(written);
        const asked = JSON.parse(text) as Record<string, unknown>;
        expect(correlationId).to.deep.equal('$correlationId' in asked ? asked['$correlationId'] : 'p1');
        expect(causationId).to.deep.equal('$causationId' in asked ? asked['$causationId'] : (correlationId ?? 'p1'));
        expect(withoutCausality(written)).to.equal(metadata);
      }),
    );
  });

  describe('on the server', () => {
    let world: World;
    beforeEach(async () => {
      world = await startWorld();
    });
    afterEach(() => world.end());

    it('are in all written events, including the adapter’s own, and in no event that is read', async () => {
      const { server, store } = world;
      const named = newEvent({ metadata: '{"actor":"test","$correlationId":"p2","$causationId":"req_1"}' });
      await store.append('payment-p1' as never, -1, [...newEvents(2), named]);
      expect(server.events.map(({ stream, metadata }) => [stream, ...idsIn(metadata)])).to.deep.equal([
        ['quita_store-identity', 'identity', 'identity'],
        ['payment-p1', 'p1', 'p1'],
        ['payment-p1', 'p1', 'p1'],
        ['payment-p1', 'p2', 'req_1'],
      ]);
      const read = await collect(store.readStream('payment-p1' as never));
      expect(read.map(({ metadata }) => metadata)).to.deep.equal([
        '{"actor":"test"}',
        '{"actor":"test"}',
        named.metadata,
      ]);
      const subscription = new TestSubscription(store);
      await subscription.until(({ events }) => events.length === 3);
      await subscription.stop();
      expect(subscription.events).to.deep.equal(read);
    });

    it('don’t prevent a repeated append from being recognized', async () => {
      const events = newEvents(2);
      for (let twice = 0; twice < 2; twice++) {
        const answer = await world.store.append('payment-p1' as never, -1, events);
        expect(answer).to.include({ ok: true, revision: 1 });
      }
      expect(world.written()).to.have.length(2);
    });
  });
});
