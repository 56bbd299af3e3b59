// Equal requests have equal texts (rule K2). Stored fingerprints depend on the text, so it must never change within a version.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalText, fingerprintOf } from '../../../application/core/derivedIds.ts';

const KEYS = fc.oneof(
  fc.string(),
  fc.constantFrom('a', 'b', '0', '10', '9', '01', '4294967294', '4294967295', '-1', ' '),
);
const { tree: JSON_VALUE } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, undefined),
    fc.array(tie('tree').map((value) => value ?? null)),
    fc.dictionary(KEYS, tie('tree')),
  ),
}));
const REQUEST = fc.dictionary(KEYS, JSON_VALUE);

/** The rules of RFC 8785: members sorted by the UTF-16 code units of their names, values as written by ECMAScript. */
const written = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${written(inner)}`);
  return `{${members.join(',')}}`;
};
const shuffled = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(shuffled);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
};

describe('canonicalText', () => {
  it('returns the version and the request with sorted keys, without omitted fields', () => {
    const request = {
      b: [{ z: 1, y: undefined }, null],
      amount: 1990,
      a: { é: 'x"', 10: 1, 9: 2, 'a b': {} },
      none: undefined,
    };
    expect(canonicalText(1, request)).to.equal(
      '1\n{"a":{"10":1,"9":2,"a b":{},"é":"x\\""},"amount":1990,"b":[{"z":1},null]}',
    );
  });

  it('agrees with RFC 8785 (law)', () => {
    fc.assert(
      fc.property(REQUEST, (request) => {
        expect(canonicalText(1, request)).to.equal(`1\n${written(request)}`);
      }),
      { numRuns: 1_000 },
    );
  });

  it('depends on everything except the key order (law)', () => {
    fc.assert(
      fc.property(REQUEST, REQUEST, (one, other) => {
        expect(canonicalText(1, shuffled(one) as object)).to.equal(canonicalText(1, one));
        const isSame = written(one) === written(other);
        expect(canonicalText(1, one) === canonicalText(1, other)).to.equal(isSame);
      }),
    );
  });

  it('throws for values that JSON can’t represent, which the HTTP layer rejects (I11, I14)', () => {
    for (const value of [Number.POSITIVE_INFINITY, Number.NaN, 'half a pair \ud800', { 'a\udfff': 1 }])
      expect(() => canonicalText(1, { metadata: { value } })).to.throw(Error);
  });
});

describe('fingerprintOf', () => {
  const account = { idSeed: Buffer.alloc(32, 7).toString('base64') };
  const other = { idSeed: Buffer.alloc(32, 8).toString('base64') };
  it('returns an HMAC of the text keyed with the account’s seed, in base64url', () => {
    expect(fingerprintOf(account, 1, { b: 2, a: '€' })).to.equal(
      createHmac('sha256', Buffer.alloc(32, 7)).update('fingerprint\n1\n{"a":"€","b":2}').digest('base64url'),
    );
  });
  it('differs between seeds, so that a database dump can’t confirm a guessed tax id (L2)', () => {
    expect(fingerprintOf(other, 1, { a: 1 })).not.to.equal(fingerprintOf(account, 1, { a: 1 }));
  });
  it('differs between rule versions', () => {
    expect(fingerprintOf(account, 2, { a: 1 })).not.to.equal(fingerprintOf(account, 1, { a: 1 }));
  });
});
