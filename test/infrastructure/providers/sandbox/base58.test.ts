import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { expect } from 'chai';
import fc from 'fast-check';
import { base58Check } from '../../../../infrastructure/providers/sandbox/cryptoAddress.ts';
import { base58Bytes } from './decoders.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe('base58', () => {
  // From base58_encode_decode.json of Bitcoin Core, and draft-msporny-base58.
  for (const [bytes, text] of [
    ['', ''],
    ['61', '2g'],
    ['626262', 'a3gV'],
    ['73696d706c792061206c6f6e6720737472696e67', '2cFupjhnEsSn59qHXstmK2ffpLv2'],
    ['00eb15231dfceb60925886b67d065299925915aeb172c06647', '1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L'],
    ['516b6fcd0f', 'ABnLTmg'],
    ['ecac89cad93923c02321', 'EJDM8drfXA6uyA'],
    ['10c8511e', 'Rt5zm'],
    ['00000000000000000000', '1111111111'],
    ['0000287fb4cd', '11233QC4'],
    [Buffer.from('Hello World!').toString('hex'), '2NEpo7TZRRrLZSi2U'],
  ] as const)
    it(`of ${bytes || 'nothing'} is ${text || 'nothing'}`, () => {
      expect(base58.encode(hex(bytes))).to.equal(text);
      expect(base58Bytes(text)).to.deep.equal(hex(bytes));
    });

  it('with a checksum is the published TRON address', () => {
    expect(base58Check.encode(hex('41a614f803b6fd780986a42c78ec9c7f77e6ded13c'))).to.equal(
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    );
  });

  it('with a checksum is the Bitcoin address from the example of its wiki', () => {
    expect(base58Check.encode(hex('00010966776006953d5567439e5e39f86a0d273bee'))).to.equal(
      '16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvM',
    );
  });

  it('decodes to the same bytes, and its checksum is the double SHA-256 (law)', () => {
    const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(base58Bytes(base58.encode(bytes))).to.deep.equal(bytes);
        const checked = base58Bytes(base58Check.encode(bytes));
        expect(checked.slice(0, -4)).to.deep.equal(bytes);
        expect(Buffer.from(checked.slice(-4)).toString('hex')).to.equal(
          sha256(sha256(bytes)).toString('hex').slice(0, 8),
        );
      }),
    );
  });
});
