// Random bytes are drawn many at once and handed out in slices, which must behave as if each were drawn by itself.
import { expect } from 'chai';
import { systemRandomness } from '../../../infrastructure/system/system.ts';

describe('the randomness of the system', () => {
  it('hands no byte out twice: what was handed out stays as it was while thousands follow', () => {
    const held = Array.from({ length: 2_000 }, () => systemRandomness.bytes(16));
    const texts = held.map((bytes) => bytes.toString('hex'));
    for (let n = 0; n < 2_000; n++) systemRandomness.bytes(16).fill(0);
    expect(held.map((bytes) => bytes.toString('hex'))).to.deep.equal(texts);
    expect(new Set(texts).size).to.equal(2_000);
  });

  it('gives exactly as many bytes as asked for, across draws and beyond the size of one', () => {
    for (const size of [0, 1, 12, 16, 31, 32, 4_095, 4_096, 4_097, 10_000])
      for (let n = 0; n < 5; n++) expect(systemRandomness.bytes(size).length).to.equal(size);
    systemRandomness.bytes(4_096); // a whole draw: the next one begins anew
    const slices = Array.from({ length: 241 }, () => systemRandomness.bytes(17)); // the last one lacks a byte of the draw
    expect(new Set(slices.map(({ length }) => length))).to.deep.equal(new Set([17]));
    expect(systemRandomness.bytes(10_000).equals(systemRandomness.bytes(10_000))).to.equal(false);
  });
});
