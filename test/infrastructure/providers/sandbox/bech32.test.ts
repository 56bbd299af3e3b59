import { bech32 } from '@scure/base';
import { expect } from 'chai';
import fc from 'fast-check';
import { segwitV0Address } from '../../../../infrastructure/providers/sandbox/cryptoAddress.ts';
import { bech32Words, bytesOfWords } from './decoders.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe('bech32', () => {
  for (const text of [
    'a12uel5l',
    'an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs',
    'abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw',
    '11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j',
    'split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w',
  ])
    it(`encodes ${text} of BIP-173`, () => {
      const { prefix, words } = bech32Words(text)!;
      expect(bech32.encode(prefix, [...words])).to.equal(text);
    });

  for (const [prefix, program, address] of [
    ['bc', '751e76e8199196d454941c45d1b3a323f1433bd6', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['tb', '751e76e8199196d454941c45d1b3a323f1433bd6', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    [
      'bc',
      '1863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
      'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    ],
    [
      'tb',
      '1863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
    ],
    [
      'tb',
      '000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433',
      'tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy',
    ],
  ] as const)
    it(`encodes the address ${address} of BIP-173`, () => {
      expect(segwitV0Address(prefix, hex(program))).to.equal(address);
    });

  for (const length of [0, 19, 21, 31, 33])
    it(`rejects a program of ${length} bytes`, () => {
      expect(() => segwitV0Address('bc', new Uint8Array(length))).to.throw(RangeError, `${length} bytes`);
    });

  it('decodes to the same program, and detects any changed character (law)', () => {
    const program = fc.oneof(...[20, 32].map((length) => fc.uint8Array({ minLength: length, maxLength: length })));
    const word = fc.integer({ min: 1, max: 31 });
    fc.assert(
      fc.property(program, fc.nat(), word, (bytes, anywhere, other) => {
        const address = segwitV0Address('bc', bytes);
        const { prefix, words } = bech32Words(address)!;
        expect([prefix, words[0]]).to.deep.equal(['bc', 0]);
        expect(bytesOfWords(words.slice(1))).to.deep.equal(bytes);
        const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
        const place = 3 + (anywhere % (address.length - 3));
        const changed = alphabet[(alphabet.indexOf(address[place]!) + other) % 32];
        expect(bech32Words(address.slice(0, place) + changed + address.slice(place + 1))).to.equal(null);
      }),
    );
  });
});
