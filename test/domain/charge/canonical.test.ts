// Equal requests are equal texts (rule K2). The text is part of what was stored: it may never change under a version.
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalText } from '../../../domain/charge/canonical.ts';

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

/** An object of sorted keys, written by the runtime: what version 1 was first defined by. */
const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
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
  it('is the version and the request with sorted keys, without fields that were not sent', () => {
    const request = {
      b: [{ z: 1, y: undefined }, null],
      amount: 1990,
      a: { é: 'x"', 10: 1, 9: 2, 'a b': {} },
      none: undefined,
    };
    expect(canonicalText(1, request)).to.equal(
      '1\n{"a":{"9":2,"10":1,"a b":{},"é":"x\\""},"amount":1990,"b":[{"z":1},null]}',
    );
  });

  it('law: it is what JSON makes of an object with sorted keys', () => {
    fc.assert(
      fc.property(REQUEST, (request) => {
        expect(canonicalText(1, request)).to.equal(`1\n${JSON.stringify(sorted(request))}`);
      }),
      { numRuns: 1_000 },
    );
  });

  it('law: key order does not matter, and everything else does', () => {
    fc.assert(
      fc.property(REQUEST, REQUEST, (one, other) => {
        expect(canonicalText(1, shuffled(one) as object)).to.equal(canonicalText(1, one));
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
        expect(canonicalText(1, one) === canonicalText(1, other)).to.equal(isSame);
      }),
    );
  });
});
