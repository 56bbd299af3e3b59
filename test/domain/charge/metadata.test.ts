// The bounds of the merchant's metadata (domain/charge/request.ts, rule I11).
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
  it('are those of what is kept of it, written as JSON: exactly 8,192 bytes pass, one more does not', () => {
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
  it('are judged of thousands of keys at the top, inside, and of those that are not kept', () => {
    const many = (prefix: string) => Object.fromEntries(Array.from({ length: 6_500 }, (_, i) => [`${prefix}${i}`, 1]));
    expect(messagesOf(many('k'))).to.deep.equal(['must not have more than 50 keys']);
    expect(messagesOf({ a: many('k') })).to.deep.equal([TOO_LARGE]);
    expect(messagesOf({ a: { constructor: many('k') }, ...many('_') })).to.deep.equal([]);
  });
  it('cost little beside reading the JSON, whatever the keys: nothing is copied to be counted', () => {
    const cpuOf = (work: () => unknown): number => {
      const before = process.threadCpuUsage();
      work();
      const { user, system } = process.threadCpuUsage(before);
      return user + system;
    };
    // Summed: one round is shorter than what the system's clock of a thread tells apart.
    let [reading, judging] = [0, 0];
    for (let start = 0; start < 400_000; start += 10_000) {
      const keys = Array.from({ length: 6_500 }, (_, i) => `"${(start + i).toString(36)}z":1`);
      let metadata: Metadata = {};
      reading += cpuOf(() => {
        metadata = JSON.parse(`{${keys.join()}}`);
      });
      judging += cpuOf(() => messagesOf(metadata));
    }
    // 8.7 with copies.
    expect(judging / reading).to.be.below(4);
  });
});
