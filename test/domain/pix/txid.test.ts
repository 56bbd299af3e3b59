import { expect } from 'chai';
import { isTxid, txidFromBytes } from '../../../domain/pix/txid.ts';

const lengths = (isOk: (text: string) => boolean): number[] =>
  Array.from({ length: 40 }, (_, length) => length).filter((length) => isOk('a'.repeat(length)));
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('txid', () => {
  it('of a cob has 26 to 35 letters and digits', () => {
    expect(lengths(isTxid)).to.deep.equal(range(26, 35));
    expect(isTxid('7978c0c97ea847e78e8849634473c1f1')).to.equal(true);
    expect(isTxid('ABCxyz0123456789ABCxyz0123')).to.equal(true);
  });

  for (const mark of ['-', '_', ' ', '*', 'é', '\n', '１'])
    it(`never has ${JSON.stringify(mark)}`, () => {
      expect(isTxid(`${'a'.repeat(24)}${mark}bb`)).to.equal(false);
      expect(isTxid(`${'a'.repeat(26)}${mark}`)).to.equal(false);
    });

  it('is made of 16 bytes as 32 hexadecimal digits', () => {
    const bytes = Uint8Array.from([0, 1, 15, 16, 127, 128, 171, 205, 239, 254, 255, 0, 0, 9, 10, 99]);
    expect(txidFromBytes(bytes)).to.equal('00010f107f80abcdeffeff0000090a63');
    expect(txidFromBytes(bytes)).to.equal(txidFromBytes(Uint8Array.from(bytes)));
    expect(isTxid(txidFromBytes(bytes))).to.equal(true);
    expect(txidFromBytes(new Uint8Array(16))).to.equal('0'.repeat(32));
  });

  for (const length of [0, 15, 17, 32])
    it(`is not made of ${length} bytes`, () => {
      expect(() => txidFromBytes(new Uint8Array(length))).to.throw(RangeError);
    });
});
