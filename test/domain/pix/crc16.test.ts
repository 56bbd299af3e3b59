import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { crc16 } from '../../../domain/pix/brCode.ts';
import { brCodeVectors } from './vectors.ts';

/** The definition, bit by bit, over the bytes that Node makes. */
const reference = (text: string): string => {
  let crc = 0xffff;
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
};

describe('crc16', () => {
  it('gives the check value of CRC-16/CCITT-FALSE', () => {
    expect(crc16('123456789')).to.equal('29B1');
  });

  it('gives the initial value for nothing', () => {
    expect(crc16('')).to.equal('FFFF');
  });

  it('keeps leading zeros', () => {
    const [vector] = brCodeVectors.filter(({ id }) => id === 'pixutils-dynamic-normalised-name');
    expect(crc16(vector!.code.slice(0, -4))).to.equal('0433');
  });

  for (const text of ['é', 'ç~ã', '€', '\u{1f4b8}', 'a\u07ff\u0800\uffff\u{10000}\u{10ffff}', '\ud800', 'a\udc00b'])
    it(`counts the UTF-8 bytes of ${JSON.stringify(text)}`, () => {
      expect(crc16(text)).to.equal(reference(text));
    });

  it('differs from a checksum over UTF-16 or Latin-1', () => {
    expect(crc16('São Paulo')).to.equal(reference('São Paulo'));
    expect(crc16('São Paulo')).to.not.equal(crc16('Sao Paulo'));
  });

  for (const { id, code, crc_ok } of brCodeVectors)
    it(`${crc_ok ? 'agrees with' : 'disagrees with'} ${id}`, () => {
      expect(crc16(code.slice(0, -4)) === code.slice(-4)).to.equal(crc_ok);
    });

  it('tells what gist-static-phone should have had', () => {
    const vector = brCodeVectors.find(({ id }) => id === 'gist-static-phone')!;
    expect(crc16(vector.code.slice(0, -4))).to.equal('04ED');
  });
});
