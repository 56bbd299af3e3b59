// Properties of sealed personal data: stored bytes contain nothing personal, all of it can be restored, and erased events can always be
// read.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { JsonEventCodec } from '../../application/core/eventCodec.ts';
import { type Decoded, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { NewEvent, Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { type Decider, fold } from '../../domain/kernel/decider.ts';

import type { AccountId, StreamName } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import { ERASED, type Serde } from '../../domain/kernel/serde.ts';
import { anyEventOf } from '../support/arbitraries.ts';
import { MemoryDataKeys } from '../support/dataKeys.ts';
import type { AnyEvent } from '../support/serde.ts';

const OWNER = 'a'.repeat(26);
const metadata = {
  account: '0'.repeat(26) as AccountId,
  mode: 'test',
  actor: 'process:test',
  requestId: null,
  correlationId: OWNER,
  causationId: OWNER,
} as const;

type Data = { [key: string]: Json };
const valueAt = (data: Json | undefined, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>((value, key) => (value as Data | null | undefined)?.[key], data);
const without = (data: Json, paths: readonly string[]): Json => {
  const copy = structuredClone(data);
  for (const path of paths) {
    const keys = path.split('.');
    const last = keys.pop() as string;
    const owner = keys.reduce<Json | undefined>((value, key) => (value as Data | undefined)?.[key], copy);
    if (owner) delete (owner as Data)[last];
  }
  return copy;
};
/** Returns texts of a personal value that are too long to occur in stored bytes by chance. */
const tellingTexts = (value: Json | undefined): readonly string[] => {
  if (typeof value === 'string') return value.length >= 12 ? [JSON.stringify(value).slice(1, -1)] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(tellingTexts) : [];
};
const isErased = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === ERASED ||
  (typeof value === 'object' && Object.values(value).every(isErased));

for (const { category, ...aggregate } of AGGREGATES.filter((one) => one.isSealed)) {
  const serde = aggregate.serde as unknown as Serde<AnyEvent>;
  const decider = aggregate.decider as Decider<unknown, AnyEvent>;
  const stream = `${category}-${OWNER}` as StreamName;
  const personalOf = (type: string): readonly string[] =>
    (serde.table as Record<string, { personal: readonly string[] }>)[type]?.personal ?? [];
  const write = async (codec: JsonEventCodec, events: readonly AnyEvent[]): Promise<RecordedEvent[]> => {
    const commandId = randomUUID();
    const encoded = await codec.encode({ serde, stream, after: -1, events, commandId, metadata });
    return encoded.map(({ dataKey: _, ...event }: NewEvent, revision) => ({
      ...event,
      ...{ stream, revision, position: String(revision) as Position, recordedAt: '2026-11-21T13:00:00.000Z' },
    }));
  };
  const eventsOf = (decoded: readonly Decoded[]): readonly AnyEvent[] =>
    decoded.map((one) => {
      if (one instanceof UnreadableEvent) throw one.reason;
      return (one as LoggedEvent).event as AnyEvent;
    });
  const histories = fc.array(anyEventOf(serde.types) as fc.Arbitrary<AnyEvent>, { minLength: 1, maxLength: 8 });

  describe(`properties of sealed ${category} events`, () => {
    it('have personal fields', () => {
      expect(serde.types.flatMap(personalOf)).to.not.deep.equal([]);
    });

    it('are restored unchanged when opened, and hide personal values when stored', () =>
      fc.assert(
        fc.asyncProperty(histories, async (events) => {
          const keys = new MemoryDataKeys();
          const recorded = await write(new JsonEventCodec(keys), events);
          const opened = eventsOf(await new JsonEventCodec(keys).decode(recorded));
          expect(JSON.stringify(opened)).to.equal(
            JSON.stringify(events.map((event) => serde.encode(event)).map(({ type, data }) => ({ type, data }))),
          );
          for (const [i, { type, data }] of events.entries()) {
            const open = JSON.stringify(without(data as Json, personalOf(type)));
            const texts = personalOf(type).flatMap((path) => tellingTexts(valueAt(data as Json, path)));
            for (const text of texts) if (!open.includes(text)) expect(recorded[i]?.data).to.not.include(text);
          }
        }),
      ));

    it('can be read and folded after their key is destroyed, with only personal values changed', () =>
      fc.assert(
        fc.asyncProperty(histories, async (events) => {
          const keys = new MemoryDataKeys();
          const codec = new JsonEventCodec(keys);
          const recorded = await write(codec, events);
          await keys.destroy([OWNER]);
          for (const reader of [codec, new JsonEventCodec(keys)]) {
            const erased = eventsOf(await reader.decode(recorded));
            expect(fold(decider, erased)).to.not.equal(undefined);
            for (const [i, { type, data }] of events.entries()) {
              const after = erased[i]?.data as Json;
              expect(without(after, personalOf(type))).to.deep.equal(without(data as Json, personalOf(type)));
              for (const path of personalOf(type))
                expect(isErased(valueAt(after, path)), `${type}.${path}`).to.equal(true);
            }
          }
        }),
      ));

    it('are written without personal values if their key was destroyed before', () =>
      fc.assert(
        fc.asyncProperty(histories, async (events) => {
          const keys = new MemoryDataKeys();
          const before = await write(new JsonEventCodec(keys), events);
          await keys.destroy([OWNER]);
          const codec = new JsonEventCodec(keys);
          const after = await write(codec, events);
          const erased = eventsOf(await codec.decode(after));
          expect(erased).to.deep.equal(eventsOf(await codec.decode(before)));
          expect(eventsOf(await new JsonEventCodec(keys).decode(after))).to.deep.equal(erased);
        }),
      ));
  });
}
