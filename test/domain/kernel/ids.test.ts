import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import fc from 'fast-check';
import { AGGREGATES } from '../../../domain/aggregates.ts';
import {
  type AccountId,
  BEHIND_TIME,
  encodeRawId,
  encodeTimedId,
  idIn,
  idInPartition,
  isRawId,
  PLATFORM_ACCOUNT,
  PREFIX,
  parseId,
  parsePrefixedId,
  partitionOf,
  type RequestLogId,
  timeOfId,
} from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
/** The inverse of encodeRawId(). */
const encodedBytes = (raw: string): Uint8Array => {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const number = [...raw].reduce((sum, digit) => sum * 32n + BigInt(alphabet.indexOf(digit)), 0n);
  return bytesOf(number.toString(16).padStart(32, '0'));
};
const RAW = '01arz3ndektsv4rrffq69g5fav';

describe('encodeRawId', () => {
  for (const [hex, raw] of [
    ['00000000000000000000000000000000', '00000000000000000000000000'],
    ['00000000000000000000000000000001', '00000000000000000000000001'],
    ['0000000000000000000000000000001f', '0000000000000000000000000z'],
    ['00000000000000000000000000000020', '00000000000000000000000010'],
    ['80000000000000000000000000000000', '40000000000000000000000000'],
    ['ffffffffffffffffffffffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['01563e3ab5d3d6764c61efb99302bd5b', RAW], // The example of the ULID specification, which uses the same encoding.
  ] as const)
    it(`encodes ${hex} as ${raw}`, () => {
      expect(encodeRawId(bytesOf(hex))).to.equal(raw);
    });

  for (const length of [0, 15, 17, 32])
    it(`rejects ${length} bytes`, () => {
      expect(() => encodeRawId(new Uint8Array(length))).to.throw(RangeError, `not ${length}`);
    });

  it('returns 26 characters of lower-case Crockford base32 that encode the same number', () => {
    const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
    fc.assert(
      fc.property(bytes, (given) => {
        const raw = encodeRawId(given);
        expect(raw).to.match(/^[0-9a-hjkmnp-tv-z]{26}$/);
        expect(isRawId(raw)).to.equal(true);
        const number = [...raw].reduce((sum, digit) => sum * 32n + BigInt(alphabet.indexOf(digit)), 0n);
        expect(number).to.equal(BigInt(`0x${Buffer.from(given).toString('hex')}`));
      }),
    );
  });

  it('preserves the order of the bytes', () => {
    fc.assert(
      fc.property(bytes, bytes, fc.nat({ max: 16 }), (a, other, shared) => {
        const b = Uint8Array.from([...a.slice(0, shared), ...other.slice(shared)]);
        const [rawA, rawB] = [encodeRawId(a), encodeRawId(b)];
        expect(rawA < rawB ? -1 : rawA > rawB ? 1 : 0).to.equal(Buffer.compare(a, b));
      }),
    );
  });
});

describe('partitionOf', () => {
  for (const [id, partition] of [
    [PLATFORM_ACCOUNT, 0],
    ['007zzzzzzzzzzzzzzzzzzzzzzz', 0],
    ['00800000000000000000000000', 1],
    ['5a041061050r3gg28a1c60t3gf', 680],
    ['7zzzzzzzzzzzzzzzzzzzzzzzzz', 1023],
  ] as const)
    it(`returns ${partition} for ${id}`, () => void expect(partitionOf(id as AccountId)).to.equal(partition));

  it('returns the first 10 of the 128 bits, and idInPartition() keeps the other bits', () => {
    fc.assert(
      fc.property(bytes, fc.nat({ max: 1023 }), (given, partition) => {
        const id = idInPartition<AccountId>(partition, given);
        const own = encodeRawId(given) as AccountId;
        expect(partitionOf(own)).to.equal(((given[0] as number) << 2) | ((given[1] as number) >>> 6));
        expect(partitionOf(id)).to.equal(partition);
        expect(idInPartition(partitionOf(own), encodedBytes(id))).to.equal(own);
      }),
    );
  });
  it('idIn() rejects a wrong number of bytes', () => {
    expect(() => idIn(PLATFORM_ACCOUNT, new Uint8Array(32))).to.throw(RangeError, 'not 32');
  });
});

describe('timed ids', () => {
  const rest = fc.uint8Array({ minLength: BEHIND_TIME, maxLength: BEHIND_TIME });
  const millis = fc.integer({ min: 0, max: 2 ** 48 - 1 });

  it('match the example of the ULID specification', () => {
    expect(encodeTimedId(0x01563e3ab5d3, bytesOf('d6764c61efb99302bd5b'))).to.equal(RAW);
    expect(timeOfId(RAW as RequestLogId)).to.equal(1_469_922_850_259);
  });
  it('contain their time and sort by it, whatever follows', () => {
    fc.assert(
      fc.property(millis, millis, rest, rest, (a, b, restA, restB) => {
        const [idA, idB] = [encodeTimedId(a, restA), encodeTimedId(b, restB)];
        expect([idA, idB].map((id) => timeOfId(id as RequestLogId))).to.deep.equal([a, b]);
        if (a !== b) expect(idA < idB).to.equal(a < b);
      }),
    );
  });
  it('require ten bytes after the time', () => {
    expect(() => encodeTimedId(0, new Uint8Array(BEHIND_TIME + 1))).to.throw(RangeError);
  });
});

const NOT_RAW = [
  '',
  RAW.toUpperCase(),
  RAW.slice(1),
  `${RAW}0`,
  `8${RAW.slice(1)}`, // more than 128 bits
  `${RAW.slice(0, -1)}i`,
  `${RAW.slice(0, -1)}l`,
  `${RAW.slice(0, -1)}o`,
  `${RAW.slice(0, -1)}u`,
  `${RAW}\n`,
  ` ${RAW}`,
];

describe('isRawId', () => {
  it('accepts the lowest id, the highest id and one between them', () => {
    expect(['0'.repeat(26), `7${'z'.repeat(25)}`, RAW].map(isRawId)).to.deep.equal([true, true, true]);
  });

  for (const value of [...NOT_RAW, `ch_${RAW}`, null, undefined, 1, [RAW]])
    it(`rejects ${JSON.stringify(value)}`, () => {
      expect(isRawId(value)).to.equal(false);
    });
});

describe('parseId', () => {
  it('accepts the raw form and the form with each given prefix', () => {
    const read = (text: string): string | null => parseId(text, PREFIX.charge, PAYMENT.idPrefix);
    expect([RAW, `ch_${RAW}`, `tx_${RAW}`].map(read)).to.deep.equal([RAW, RAW, RAW]);
    expect([`we_${RAW}`, `ch_ch_${RAW}`, `CH_${RAW}`, 'ch_', 'ch'].map(read)).to.deep.equal(Array(5).fill(null));
  });

  it('accepts only the raw form if no prefix is given', () => {
    expect([parseId(RAW), parseId(`ch_${RAW}`)]).to.deep.equal([RAW, null]);
  });

  for (const text of NOT_RAW)
    it(`rejects ${JSON.stringify(text)}, with or without a prefix`, () => {
      expect([parseId(text, 'ch_'), parseId(`ch_${text}`, 'ch_')]).to.deep.equal([null, null]);
      expect(parsePrefixedId(`ch_${text}`, 'ch_')).to.equal(null);
    });
});

describe('parsePrefixedId', () => {
  it('accepts only the prefixed form', () => {
    const read = (text: string): string | null => parsePrefixedId(text, WEBHOOK_ENDPOINT.idPrefix);
    expect([`we_${RAW}`, RAW, `wd_${RAW}`, `we_we_${RAW}`].map(read)).to.deep.equal([RAW, null, null, null]);
  });
});

describe('PREFIX', () => {
  it('contains no prefix that starts with another prefix', () => {
    const ofAggregates = AGGREGATES.flatMap(({ idPrefix }) => idPrefix ?? []);
    expect(new Set(ofAggregates).size).to.equal(ofAggregates.length);
    const all = [...new Set([...Object.values(PREFIX), ...ofAggregates])];
    expect(all.filter((one) => all.some((other) => other !== one && other.startsWith(one)))).to.deep.equal([]);
  });
});
