import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { crc16 } from '../../../domain/pix/brCode.ts';
import { brCodeVectors } from './vectors.ts';

/** A bit-by-bit implementation of the definition, over Node’s UTF-8 bytes. */
const reference = (text: string): string => {
  let crc = 0xffff;
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
};

describe('crc16', () => {
  it('returns the check value of CRC-16/CCITT-FALSE', () => {
    expect(crc16('123456789')).to.equal('29B1');
  });

  it('returns the initial value for an empty text', () => {
    expect(crc16('')).to.equal('FFFF');
  });

  it('keeps leading zeros', () => {
    const [vector] = brCodeVectors.filter(({ id }) => id === 'pixutils-dynamic-normalised-name');
    expect(crc16(vector!.code.slice(0, -4))).to.equal('0433');
  });

  for (const text of ['é', 'ç~ã', '€', '\u{1f4b8}', 'a\u07ff\u0800\uffff\u{10000}\u{10ffff}', '\ud800', 'a\udc00b'])
    it(`covers the UTF-8 bytes of ${JSON.stringify(text)}`, () => {
      expect(crc16(text)).to.equal(reference(text));
    });

  it('covers the UTF-8 bytes of accented text, which differ from those of plain text', () => {
    expect(crc16('São Paulo')).to.equal(reference('São Paulo'));
    expect(crc16('São Paulo')).to.not.equal(crc16('Sao Paulo'));
  });

  for (const { id, code, crc_ok } of brCodeVectors)
    it(`${crc_ok ? 'matches' : 'does not match'} the checksum of ${id}`, () => {
      expect(crc16(code.slice(0, -4)) === code.slice(-4)).to.equal(crc_ok);
    });

  it('returns the correct checksum of gist-static-phone', () => {
    const vector = brCodeVectors.find(({ id }) => id === 'gist-static-phone')!;
    expect(crc16(vector.code.slice(0, -4))).to.equal('04ED');
  });
});
