// Every event ever written must stay readable. Each event type and version has a golden file, and a type whose data has several forms has
// one per form (`<EventType>.v<version>.<form>.json`).

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { PAYMENT_METHODS } from '../../domain/charge/methods.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { EventSerde } from '../../domain/kernel/serde.ts';

interface Golden {
  /** The event as stored, in that version. */
  readonly stored: { readonly type: string; readonly version: number; readonly data: Json };
  /** The event as decoded by the current code. */
  readonly event: { readonly type: string; readonly data: Json };
}

const FOLDER = new URL('./golden/', import.meta.url);
const HOW_TO_ADD =
  'Add test/domain/golden/<EventType>.v<version>.json with {"stored": {"type", "version", "data"}, "event": {"type", "data"}}: ' +
  'every field set, nullable ones not null. Never change or delete one that was released: stored events look like it for ever.';

const TYPES = AGGREGATES.flatMap((aggregate) => {
  const serde = aggregate.serde as unknown as {
    types: readonly string[];
    table: Record<string, EventSerde<unknown>>;
    encode(event: unknown): Golden['stored'];
    decode(stored: Golden['stored']): Golden['event'];
  };
  return serde.types.map((type) => ({ type, serde, entry: serde.table[type] as EventSerde<unknown> }));
});
const expected = TYPES.flatMap(({ type, entry }) =>
  Array.from({ length: entry.version }, (_, i) => `${type}.v${i + 1}.json`),
);
const found = readdirSync(FOLDER);
/** Returns the file name without its form. */
const baseOf = (file: string): string => file.split('.').slice(0, 2).concat('json').join('.');
const filesOf = (base: string): readonly string[] => found.filter((file) => baseOf(file) === base);
const read = (file: string): Golden => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Golden;

/** Returns the value at a dotted path, or undefined if the path does not exist. */
const valueAt = (data: Json, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>((value, key) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.hasOwn(value, key) ? (value as { [key: string]: Json })[key] : undefined;
  }, data);

describe('golden events', () => {
  it('exist for each type and version', () => {
    expect(
      expected.filter((file) => !found.includes(file)),
      HOW_TO_ADD,
    ).to.deep.equal([]);
  });
  it('exist only for known types and versions', () => {
    expect(
      found.filter((file) => !expected.includes(baseOf(file))),
      'A type or version was taken away that events have',
    ).to.deep.equal([]);
  });

  for (const { type, serde, entry } of TYPES)
    for (let version = 1; version <= entry.version; version++)
      for (const file of filesOf(`${type}.v${version}.json`)) {
        it(`${file} decodes to the same event`, () => {
          const { stored, event } = read(file);
          expect([stored.type, stored.version]).to.deep.equal([type, version]);
          expect(serde.decode(stored)).to.deep.equal(event);
        });
        if (version === (entry.writes ?? entry.version))
          it(`${file} is encoded as stored`, () => {
            const { stored, event } = read(file);
            expect(JSON.stringify(serde.encode(event))).to.equal(JSON.stringify(stored));
          });
      }
  it('exist for each kind of instrument', () => {
    const methods = filesOf('ChargeInstrumentIssued.v1.json').map(
      (file) => (read(file).stored.data as { instrument: { method: string } }).instrument.method,
    );
    expect(methods.sort()).to.deep.equal(PAYMENT_METHODS.filter((method) => method !== 'PIX').sort());
  });

  for (const { type, entry } of TYPES)
    it(`${type} has all of its personal fields`, () => {
      const forms = filesOf(`${type}.v${entry.version}.json`).map((file) => read(file).stored.data);
      const lost = entry.personal.filter((path) => forms.every((data) => (valueAt(data, path) ?? null) === null));
      expect(lost, 'paths of `personal` that lead to nothing in the golden events').to.deep.equal([]);
    });

  for (const { type, entry } of TYPES)
    it(`${type} has all fields that it may omit`, () => {
      const { stored } = read(`${type}.v${entry.version}.json`);
      const lost = Object.keys(entry.unsaid ?? {}).filter((path) => valueAt(stored.data, path) === undefined);
      expect(lost, 'paths of `unsaid` that lead to nothing in the golden event').to.deep.equal([]);
    });
});
