import { expect } from 'chai';
import fc from 'fast-check';
import type { Fact } from '../../../domain/kernel/decider.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import { AMOUNT_MAX, type Minor, toMinor } from '../../../domain/kernel/money.ts';
import {
  ERASED,
  flag,
  formerVersion,
  freeForm,
  integer,
  listOf,
  MalformedEvent,
  money,
  nullable,
  oneOf,
  record,
  type Shape,
  serdeOf,
  taggedBy,
  text,
  time,
} from '../../../domain/kernel/serde.ts';
import { fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

interface Sample {
  readonly id: string;
  readonly mode: 'test' | 'live';
  readonly at: Timestamp;
  readonly count: number;
  readonly amount: Minor;
  readonly isLate: boolean;
  readonly note: string | null;
  readonly parts: readonly { readonly amount: Minor }[];
  readonly metadata: unknown;
}
const sampleShape: Shape<Sample> = record<Sample>({
  id: text(),
  mode: oneOf('test', 'live'),
  at: time,
  count: integer,
  amount: money,
  isLate: flag,
  note: nullable(text()),
  parts: listOf(record({ amount: money })),
  metadata: freeForm(),
});
const sample: Sample = {
  id: 'a',
  mode: 'live',
  at: parseTimestamp('2026-11-21T13:00:00.000Z'),
  count: 3,
  amount: toMinor(1_234),
  isLate: false,
  note: null,
  parts: [{ amount: toMinor(1_000) }, { amount: toMinor(234) }],
  metadata: { order: [1, 'two', null, { three: true }] },
};
type Either = { readonly kind: 'a'; readonly n: number } | { readonly kind: 'b'; readonly t: string };
const either = taggedBy<'kind', Either>('kind', {
  a: record({ kind: oneOf('a'), n: integer }),
  b: record({ kind: oneOf('b'), t: text() }),
});
const throughJson = (json: Json): unknown => JSON.parse(JSON.stringify(json));

describe('shapes', () => {
  const good: readonly (readonly [string, Shape<never>, readonly unknown[]])[] = [
    ['text', text(), ['', 'a', 'é\u{1f4b8}']],
    ['oneOf', oneOf('a', 'b'), ['a', 'b']],
    ['time', time, ['2026-11-21T13:00:00.000Z']],
    ['integer', integer, [0, -1, Number.MAX_SAFE_INTEGER]],
    ['money', money, [0, -1, AMOUNT_MAX]],
    ['flag', flag, [true, false]],
    ['nullable', nullable(integer), [null, 1]],
    ['listOf', listOf(integer), [[], [1, 2]]],
    ['record', record<{ n: number }>({ n: integer }), [{ n: 1 }]],
    [
      'taggedBy',
      either,
      [
        { kind: 'a', n: 1 },
        { kind: 'b', t: '' },
      ],
    ],
    ['freeForm', freeForm(), [null, 0, 'a', [], { a: { b: [1] } }]],
  ] as never;
  for (const [name, shape, values] of good)
    it(`${name} encodes and decodes its values unchanged`, () => {
      for (const value of values) {
        expect(shape.encode(value as never)).to.deep.equal(value);
        expect(shape.decode(throughJson(shape.encode(value as never)), 'x')).to.deep.equal(value);
      }
    });

  const bad: readonly (readonly [string, Shape<never>, readonly unknown[], string])[] = [
    ['text', text(), [1, null, undefined, {}, ['a']], 'x: expected a string'],
    ['oneOf', oneOf('a', 'b'), ['c', '', 'A', null, undefined, ['a']], 'x: expected a | b'],
    ['time', time, ['2026-11-21', 0, null, undefined], 'x: expected a timestamp'],
    ['integer', integer, [0.5, '1', null, undefined, 2 ** 53, Number.NaN], 'x: expected an integer'],
    ['money', money, [0.5, '1', null, undefined, 2 ** 53], 'x: expected minor units'],
    ['flag', flag, [0, 'true', null, undefined], 'x: expected a boolean'],
    ['nullable', nullable(integer), ['1', false, {}], 'x: expected an integer'],
    ['listOf', listOf(integer), [{}, 'ab', null, undefined, { length: 0 }], 'x: expected a list'],
    ['an item of listOf', listOf(integer), [[1, 'b']], 'x[1]: expected an integer'],
    ['record', record<{ n: number }>({ n: integer }), [[], null, undefined, 'a', 1], 'x: expected an object'],
    [
      'a field of record',
      record<{ n: number }>({ n: integer }),
      [{}, { n: '1' }, { N: 1 }],
      'x.n: expected an integer',
    ],
    [
      'taggedBy',
      either,
      [{ kind: 'c' }, { kind: 'toString' }, { kind: ['a'], n: 1 }, { n: 1 }, {}, [], 'a', null, undefined],
      'x: expected kind: a | b',
    ],
    ['a field of taggedBy', either, [{ kind: 'a', t: '' }], 'x.n: expected an integer'],
    ['freeForm', freeForm(), [undefined], 'x: expected a value'],
  ] as never;
  for (const [name, shape, values, message] of bad)
    it(`${name} rejects other values and names the field`, () => {
      for (const value of values) expect(() => shape.decode(value, 'x')).to.throw(MalformedEvent, message);
    });

  it('nullable decodes a missing field as null', () => {
    expect(record<{ n: number | null }>({ n: nullable(integer) }).decode({}, 'x')).to.deep.equal({ n: null });
  });

  it('record encodes and decodes only its own fields', () => {
    const shape = record<{ n: number }>({ n: integer });
    expect(shape.encode({ n: 1, secret: 's' } as { n: number })).to.deep.equal({ n: 1 });
    expect(shape.decode({ n: 1, extra: 2 }, 'x')).to.deep.equal({ n: 1 });
  });

  it('money decodes −0 as 0', () => {
    expect(Object.is(money.decode(-0, 'x'), 0)).to.equal(true);
  });

  for (const [path, damaged] of [
    ['x.at', { ...sample, at: 'yesterday' }],
    ['x.mode', { ...sample, mode: 'LIVE' }],
    ['x.parts[1].amount', { ...sample, parts: [{ amount: 1 }, { amount: '2' }] }],
    ['x.metadata', { ...sample, metadata: undefined }],
  ] as const)
    it(`report the path of a malformed nested field: ${path}`, () => {
      expect(() => sampleShape.decode(damaged, 'x')).to.throw(MalformedEvent, `${path}: expected`);
    });
});

type Counted = Fact<'Counted', { readonly total: number; readonly unit: string; readonly clerkName: string }>;
type Sampled = Fact<'Sampled', Sample>;

interface CountedV1 {
  readonly n: number;
  readonly by: string;
}
interface CountedV2 {
  readonly total: number;
  readonly clerk: { readonly name: string };
}
const countedShape = record<Counted['data']>({ total: integer, unit: text(), clerkName: text() });
const former = {
  1: formerVersion<CountedV1>({
    shape: record({ n: integer, by: text() }),
    personal: ['by'],
    unsaid: { n: { usually: 1 } },
    upcast: ({ n, by }) => ({ total: n, clerk: { name: by.toUpperCase() } }),
  }),
  2: formerVersion<CountedV2>({
    shape: record({ total: integer, clerk: record({ name: text() }) }),
    personal: ['clerk.name'],
    upcast: ({ total, clerk }) => ({ total, unit: 'piece', clerkName: clerk.name }),
    downcast: (data) => {
      const { total, clerkName } = data as Counted['data'];
      return { total, clerk: { name: clerkName } };
    },
  }),
};
const counted = { version: 3, shape: countedShape, former, personal: ['clerkName'] };
const serde = serdeOf<Counted | Sampled>({
  Counted: { ...counted, unsaid: { unit: { usually: 'box' } } },
  Sampled: { version: 1, shape: sampleShape, personal: ['note'] },
});
const AROUND = { subject: 's', account: 'a', mode: 'test', correlationId: 'c' };

describe('serdeOf', () => {
  it('exposes its types and its table', () => {
    expect(serde.types).to.deep.equal(['Counted', 'Sampled']);
    expect(serde.table.Sampled.personal).to.deep.equal(['note']);
  });

  it('encodes an event as type, version and data', () => {
    const event: Counted = { type: 'Counted', data: { total: 2, unit: 'box', clerkName: 'Ana' } };
    const stored = { type: 'Counted', version: 3, data: { total: 2, unit: 'box', clerkName: 'Ana' } };
    expect(serde.encode(event)).to.deep.equal(stored);
    expect(serde.encode(event)).to.deep.equal(stored);
    expect(serde.newest(stored)).to.equal(stored.data);
    expect(serde.decode(stored)).to.deep.equal(event);
  });

  const read = (version: number, data: Json, around?: typeof AROUND): unknown =>
    serde.decode({ type: 'Counted', version, data }, around).data;

  it('upcasts older versions step by step', () => {
    const lifted = { total: 5, unit: 'piece', clerkName: 'ANA' };
    expect(read(1, { n: 5, by: 'Ana' })).to.deep.equal(lifted);
    expect(read(2, { total: 5, clerk: { name: 'ANA' } })).to.deep.equal(lifted);
    expect(read(3, lifted)).to.deep.equal(lifted);
  });

  it('restores only the fields that the stored version omits', () => {
    expect(read(1, { by: 'Ana' }, AROUND)).to.deep.equal({ total: 1, unit: 'piece', clerkName: 'ANA' });
    expect(read(3, { total: 1, clerkName: 'Ana' }, AROUND)).to.deep.equal({ total: 1, unit: 'box', clerkName: 'Ana' });
    expect(() => read(2, { clerk: { name: 'Ana' } }, AROUND)).to.throw(MalformedEvent, 'Counted.total');
  });

  it('puts personal and erased values into the fields of the stored version', () => {
    const sealed = { type: 'Counted', version: 2, data: { total: 5, clerk: {} } };
    for (const [personal, name] of [
      [{ 'clerk.name': 'Ana' }, 'Ana'],
      [null, ERASED],
    ] as const) {
      const stored = structuredClone(sealed);
      serde.putPersonal(stored, personal);
      expect(stored.data).to.deep.equal({ total: 5, clerk: { name } });
      expect(serde.decode(stored).data).to.deep.equal({ total: 5, unit: 'piece', clerkName: name });
    }
    expect(serde.takePersonal({ type: 'Counted', version: 1, data: { n: 1, by: 'Ana' } })).to.deep.equal({
      rest: { n: 1 },
      personal: { by: 'Ana' },
    });
  });

  it('reports personal fields of a type even if only older versions have them', () => {
    const bare = serdeOf<Counted>({ Counted: { ...counted, personal: [] } });
    expect([serde, bare].map(({ hasPersonal }) => hasPersonal('Counted'))).to.deep.equal([true, true]);
    const { 1: first, 2: second } = former;
    const none = { 1: { ...first, personal: [] }, 2: { ...second, personal: [] } };
    expect(serdeOf<Counted>({ Counted: { ...counted, former: none, personal: [] } }).hasPersonal('Counted')).to.equal(
      false,
    );
  });

  it('writes an older version for the previous release and reads it back completely', () => {
    const cautious = serdeOf<Counted>({ Counted: { ...counted, writes: 2 } });
    const event: Counted = { type: 'Counted', data: { total: 2, unit: 'piece', clerkName: 'Ana' } };
    const stored = { type: 'Counted', version: 2, data: { total: 2, clerk: { name: 'Ana' } } };
    expect(cautious.encode(event)).to.deep.equal(stored);
    expect(cautious.newest(stored)).to.deep.equal(event.data);
    expect(cautious.decode(stored)).to.deep.equal(event);
    expect(cautious.decode({ type: 'Counted', version: 3, data: { ...event.data } })).to.deep.equal(event);
    const lost = serdeOf<Counted>({ Counted: { ...counted, writes: 1 } });
    expect(() => lost.encode(event)).to.throw('Counted: version 1 has no downcast');
  });

  it('does not upcast data that claims the current version', () => {
    expect(() => read(3, { n: 5 })).to.throw(MalformedEvent, 'Counted.total: expected an integer');
  });
  it('rejects malformed data of an older version', () => {
    expect(() => read(1, { n: '5', by: 'Ana' })).to.throw(MalformedEvent, 'Counted.n: expected an integer');
  });

  for (const version of [0, -1, 4, Number.NaN, 1.5, null, undefined])
    it(`rejects version ${String(version)}`, () => {
      expect(() => read(version as number, { total: 1, unit: 'box', clerkName: 'Ana' })).to.throw(
        MalformedEvent,
        `Counted: expected a version from 1 to 3, not ${version}`,
      );
    });

  it('throws when the format of an older version is missing', () => {
    const holed = serdeOf<Counted>({ Counted: { ...counted, former: { 1: former[1] } } });
    expect(() => holed.decode({ type: 'Counted', version: 3, data: {} })).to.throw('Counted: version 2 has no format');
  });

  for (const type of ['Unknown', '', 'counted', 'toString', 'constructor', '__proto__'])
    it(`rejects the type "${type}" when encoding and decoding`, () => {
      const message = `${type}: expected a known event type`;
      expect(() => serde.decode({ type, version: 1, data: {} })).to.throw(MalformedEvent, message);
      expect(() => serde.encode({ type, data: {} } as never)).to.throw(MalformedEvent, message);
    });

  it('round-trips every event through JSON', () => {
    const minor = fc.maxSafeInteger().map(toMinor);
    const data: fc.Arbitrary<Sample> = fc.record({
      id: fc.string({ unit: 'grapheme' }),
      mode: fc.constantFrom('test', 'live'),
      at: fc.integer({ min: 0, max: Date.UTC(9999, 0, 1) }).map(fromMillis),
      count: fc.maxSafeInteger(),
      amount: minor,
      isLate: fc.boolean(),
      note: fc.option(fc.string()),
      parts: fc.array(fc.record({ amount: minor })),
      metadata: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    });
    fc.assert(
      fc.property(data, (made) => {
        const stored = serde.encode({ type: 'Sampled', data: made });
        const read = JSON.parse(JSON.stringify(stored)) as typeof stored;
        expect(serde.decode(read)).to.deep.equal({ type: 'Sampled', data: made });
        expect(serde.encode(serde.decode(read))).to.deep.equal(stored);
      }),
    );
  });
});
