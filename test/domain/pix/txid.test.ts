import { expect } from 'chai';
import { isTxid } from '../../../domain/pix/ids.ts';

const lengths = (isOk: (text: string) => boolean): number[] =>
  Array.from({ length: 40 }, (_, length) => length).filter((length) => isOk('a'.repeat(length)));
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('isTxid', () => {
  it('accepts 26 to 35 letters and digits', () => {
    expect(lengths(isTxid)).to.deep.equal(range(26, 35));
    expect(isTxid('7978c0c97ea847e78e8849634473c1f1')).to.equal(true);
    expect(isTxid('ABCxyz0123456789ABCxyz0123')).to.equal(true);
  });

  for (const mark of ['-', '_', ' ', '*', 'é', '\n', '１'])
    it(`rejects ${JSON.stringify(mark)}`, () => {
      expect(isTxid(`${'a'.repeat(24)}${mark}bb`)).to.equal(false);
      expect(isTxid(`${'a'.repeat(26)}${mark}`)).to.equal(false);
    });
});
