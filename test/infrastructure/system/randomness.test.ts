// Random bytes are generated in blocks and returned as slices, which must behave as if each were generated separately.
import { expect } from 'chai';
import { systemRandomness } from '../../../infrastructure/system/system.ts';

describe('the randomness of the system', () => {
  it('returns no byte twice, and returned bytes stay unchanged while thousands follow', () => {
    const held = Array.from({ length: 2_000 }, () => systemRandomness.bytes(16));
    const texts = held.map((bytes) => bytes.toString('hex'));
    for (let n = 0; n < 2_000; n++) systemRandomness.bytes(16).fill(0);
    expect(held.map((bytes) => bytes.toString('hex'))).to.deep.equal(texts);
    expect(new Set(texts).size).to.equal(2_000);
  });

  it('returns exactly the requested number of bytes, across and beyond the size of a block', () => {
    for (const size of [0, 1, 12, 16, 31, 32, 4_095, 4_096, 4_097, 10_000])
      for (let n = 0; n < 5; n++) expect(systemRandomness.bytes(size).length).to.equal(size);
    systemRandomness.bytes(4_096); // a whole block: the next request starts a new one
    const slices = Array.from({ length: 241 }, () => systemRandomness.bytes(17)); // the last slice does not fit into the block
    expect(new Set(slices.map(({ length }) => length))).to.deep.equal(new Set([17]));
    expect(systemRandomness.bytes(10_000).equals(systemRandomness.bytes(10_000))).to.equal(false);
  });
});
