import { expect } from 'chai';
import fc from 'fast-check';
import { METHOD_RULES } from '../../../../domain/charge/methods.ts';
import { base58Check, cryptoAddress } from '../../../../infrastructure/providers/sandbox/cryptoAddress.ts';
import { base58Bytes, bech32Words, bytesOfWords } from './decoders.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const padded = (twentyBytes: string) => hex(twentyBytes + 'ff'.repeat(12));
const anyBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('the address of a coin', () => {
  for (const [currency, network, bytes, address] of [
    [
      'BTC',
      'BITCOIN',
      padded('751e76e8199196d454941c45d1b3a323f1433bd6'),
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    ],
    ['USDT', 'TRON', padded('a614f803b6fd780986a42c78ec9c7f77e6ded13c'), 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['USDT', 'TRON', padded('503aa4ad108bd3a89ba0310e23b49fb654cd6986'), 'THHRK1bA7YRPZBcLnTP1SZy9ipUpsRwpo6'],
    ['USDT', 'TRON', padded('9d1015e669c2df831003c5c54ceb48da613d9979'), 'TQHgMpVzWkhSsRB4BzZgmV8uW4cFL8eaBr'],
    [
      'USDC',
      'SOLANA',
      hex('06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9'),
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    ],
    [
      'USDC',
      'SOLANA',
      hex('8c97258f4e2489f1bb3d1029148e0d830b5a1399daff1084048e7bd8dbe9f859'),
      'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
    ],
    ['USDC', 'SOLANA', new Uint8Array(32), '11111111111111111111111111111111'],
  ] as const)
    it(`${currency} is ${address}`, () => {
      expect(cryptoAddress(currency, bytes)).to.deep.equal({ address, network });
      expect(cryptoAddress(currency, Uint8Array.from(bytes))).to.deep.equal({ address, network });
    });

  it('exists for every currency of the method', () => {
    const networks = METHOD_RULES.CRYPTO.currencies.map((one) => cryptoAddress(one, new Uint8Array(32)).network);
    expect(networks).to.deep.equal(['TRON', 'SOLANA', 'BITCOIN']);
  });

  for (const currency of ['BRL', 'ETH', 'btc', ''])
    it(`doesn’t exist for ${JSON.stringify(currency)}`, () => {
      expect(() => cryptoAddress(currency, new Uint8Array(32))).to.throw(RangeError, `no network for ${currency}`);
    });

  for (const length of [0, 20, 31, 33])
    it(`can’t be made from ${length} bytes`, () => {
      expect(() => cryptoAddress('BTC', new Uint8Array(length))).to.throw(RangeError, `not ${length}`);
    });
});

describe('laws of addresses', () => {
  it('BTC is a witness program of version 0 with 20 bytes', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const { address } = cryptoAddress('BTC', bytes);
        const { words } = bech32Words(address)!;
        expect(address).to.match(/^bc1q[02-9ac-hj-np-z]{38}$/);
        expect([words[0], bytesOfWords(words.slice(1))]).to.deep.equal([0, bytes.slice(0, 20)]);
      }),
    );
  });

  it('USDT is the version byte, 20 bytes and their checksum', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const { address } = cryptoAddress('USDT', bytes);
        expect(address).to.match(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
        const read = base58Bytes(address);
        expect([read.length, read[0], read.slice(1, 21)]).to.deep.equal([25, 0x41, bytes.slice(0, 20)]);
        expect(base58Check.encode(read.slice(0, 21))).to.equal(address);
      }),
    );
  });

  it('USDC is the 32 bytes', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const { address } = cryptoAddress('USDC', bytes);
        expect(address).to.match(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
        expect(base58Bytes(address)).to.deep.equal(bytes);
      }),
    );
  });
});
