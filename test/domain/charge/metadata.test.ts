// Limits of the merchant’s metadata (domain/charge/request.ts, rule I11).
import { expect } from 'chai';
import fc from 'fast-check';
import { keptMetadata, METADATA_BYTES_MAX, metadataProblems } from '../../../domain/charge/request.ts';
import type { Json } from '../../../domain/kernel/json.ts';

type Metadata = { readonly [key: string]: Json };
const TOO_LARGE = `must not be larger than ${METADATA_BYTES_MAX} bytes as JSON`;
const messagesOf = (metadata: Metadata) => metadataProblems(metadata, true).map(({ message }) => message);

const key = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.constantFrom('constructor', '_a', 'med', 'description', '"', '\\'),
);
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.integer(),
      fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ) as fc.Arbitrary<Json>,
}));

describe('the bounds of metadata', () => {
  it('allow exactly 8,192 bytes of the stored metadata as JSON, and reject one byte more', () => {
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 6 }), (generated) => {
        const { description: _, filler: __, ...kept } = keptMetadata(generated);
        const free = METADATA_BYTES_MAX - Buffer.byteLength(JSON.stringify({ ...kept, filler: '' }));
        fc.pre(free >= 0);
        expect(messagesOf({ ...generated, filler: 'x'.repeat(free) })).to.deep.equal([]);
        expect(messagesOf({ ...generated, filler: 'x'.repeat(free + 1) })).to.deep.equal([TOO_LARGE]);
      }),
    );
  });
  it('apply to thousands of keys at the top level and nested, but not to keys that are dropped', () => {
    const many = (prefix: string) => Object.fromEntries(Array.from({ length: 6_500 }, (_, i) => [`${prefix}${i}`, 1]));
    expect(messagesOf(many('k'))).to.deep.equal(['must not have more than 50 keys']);
    expect(messagesOf({ a: many('k') })).to.deep.equal([TOO_LARGE]);
    expect(messagesOf({ a: { constructor: many('k') }, ...many('_') })).to.deep.equal([]);
  });
  it('cost less than four times the CPU time of parsing the JSON', () => {
    const cpuOf = (work: () => unknown): number => {
      const before = process.threadCpuUsage();
      work();
      const { user, system } = process.threadCpuUsage(before);
      return user + system;
    };
    // The times are summed, because one round is shorter than the resolution of the thread’s CPU clock.
    let [reading, judging] = [0, 0];
    for (let start = 0; start < 400_000; start += 10_000) {
      const keys = Array.from({ length: 6_500 }, (_, i) => `"${(start + i).toString(36)}z":1`);
      let metadata: Metadata = {};
      reading += cpuOf(() => {
        metadata = JSON.parse(`{${keys.join()}}`);
      });
      judging += cpuOf(() => messagesOf(metadata));
    }
    // The ratio was 8.7 when the check copied the metadata.
    expect(judging / reading).to.be.below(4);
  });
});
