import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { type Circumstances, decodeEvent, renderEvents } from '../../../application/ports/loggedEvent.ts';
import { SERDE } from '../../../domain/events.ts';
import { CATEGORIES, type StreamName } from '../../../domain/kernel/event.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { anyEventOf } from '../../support/arbitraries.ts';

const why: Circumstances = {
  account: '0'.repeat(26) as AccountId,
  mode: 'test',
  actor: 'process:test',
  requestId: null,
  correlationId: 'c',
  causationId: 'd',
};

describe('an event that was rendered here', () => {
  for (const category of CATEGORIES)
    it(`is read as its stored text reads, to the order of the fields: ${category}`, () => {
      fc.assert(
        fc.property(anyEventOf(SERDE[category].types), (event) => {
          const [rendered] = renderEvents(category, [event as never], randomUUID(), why);
          const recorded: RecordedEvent = {
            ...rendered!,
            stream: `${category}-${'0'.repeat(26)}` as StreamName,
            revision: 0,
            position: '1' as Position,
            recordedAt: '2026-11-21T13:00:00.000Z',
          };
          const here = decodeEvent(recorded);
          const elsewhere = decodeEvent({ ...recorded, id: randomUUID() });
          expect(JSON.stringify({ ...here, id: '' })).to.equal(JSON.stringify({ ...elsewhere, id: '' }));
        }),
      );
    });
});
