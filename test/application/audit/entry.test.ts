import { expect } from 'chai';
import fc from 'fast-check';
import { entryBytes, isEntry, leafOf } from '../../../application/audit/entry.ts';
import { leafHash } from '../../../application/audit/merkleTree.ts';
import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { EventMetadata } from '../../../application/ports/loggedEvent.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';

const recorded = (event: Partial<RecordedEvent>): RecordedEvent => ({
  id: '11111111-1111-8111-a111-111111111111',
  type: 'ChargeCreated',
  data: '{"b":1,"a":{"d":[{"z":1,"y":2}],"c":"ção"}}',
  metadata: '{"account":"acc1","mode":"live","actor":"key:0123456789abcdef","$causationId":"req_1"}',
  stream: 'payment-p1' as StreamName,
  revision: 0,
  position: '1' as Position,
  recordedAt: '2026-11-21T12:00:00.000Z',
  ...event,
});

const entryOf = (event: RecordedEvent) => JSON.parse(entryBytes(event).toString()) as Record<string, unknown>;

describe('an entry of the audit log', () => {
  it('contains the data as stored and the complete metadata', () => {
    expect(entryBytes(recorded({})).toString()).to.equal(
      '{"data":{"b":1,"a":{"d":[{"z":1,"y":2}],"c":"ção"}},"id":"11111111-1111-8111-a111-111111111111",' +
        '"metadata":{"account":"acc1","actor":"key:0123456789abcdef","causationId":"req_1","correlationId":"p1",' +
        '"mode":"live","requestId":"req_1","v":1},"recordedAt":"2026-11-21T12:00:00.000Z","revision":0,' +
        '"stream":"payment-p1","type":"ChargeCreated"}',
    );
    expect(leafOf(recorded({}))).to.deep.equal(leafHash(entryBytes(recorded({}))));
  });

  for (const [why, metadata, full] of [
    ['a process, caused by an event', { actor: 'process:settle', $causationId: 'e1' }, ['e1', 'p1', null, 1]],
    ['an operator, caused by nothing', { actor: 'operator:ana' }, ['p1', 'p1', null, 1]],
    ['a user’s request', { actor: 'user:usr_1', $causationId: 'r1', v: 2 }, ['r1', 'p1', 'r1', 2]],
    [
      'a request that caused it through another event',
      { actor: 'key:1', $causationId: 'e1', requestId: 'r1' },
      ['e1', 'p1', 'r1', 1],
    ],
    ['another root', { actor: 'process:x', $correlationId: 'c1' }, ['c1', 'c1', null, 1]],
  ] as const)
    it(`completes the metadata of ${why}`, () => {
      const stored = JSON.stringify({ account: 'acc1', mode: 'test', ...metadata });
      const { causationId, correlationId, requestId, v } = entryOf(recorded({ metadata: stored }))
        .metadata as EventMetadata & { v: number };
      expect([causationId, correlationId, requestId, v]).to.deep.equal(full);
    });

  it('is one line of JSON that preserves the stored text (law)', () => {
    const { data: _, ...REST } = entryOf(recorded({}));
    const text = fc.oneof(
      fc.json(),
      fc.json().map((one) => JSON.stringify(JSON.parse(one), null, 1)),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (data) => {
        const bytes = entryBytes(recorded({ data })).toString();
        expect(bytes).not.to.match(/[\r\n]/);
        const { data: read, ...rest } = JSON.parse(bytes) as Record<string, unknown>;
        expect([read, data]).to.satisfy(
          () => read === data || JSON.stringify(read) === JSON.stringify(JSON.parse(data)),
        );
        expect(rest).to.deep.equal(REST);
      }),
    );
  });

  it('can contain a lone surrogate under any key', () => {
    for (const key of ['a', '1'])
      expect(entryBytes(recorded({ data: `{"${key}":"\\ud800"}` })).toString()).to.contain(`{"${key}":"\\ud800"}`);
  });

  it('keeps a text that is not JSON as a string', () => {
    const { data, metadata } = entryOf(recorded({ data: '{"a":', metadata: 'null' }));
    expect([data, metadata]).to.deep.equal(['{"a":', 'null']);
  });

  it('exists for every event except those of webhook deliveries', () => {
    expect(isEntry(recorded({}))).to.equal(true);
    expect(isEntry(recorded({ stream: 'webhookDelivery-d1' as StreamName }))).to.equal(false);
  });
});
