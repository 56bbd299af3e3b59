// The retention required by law, and erasures before it ends (rule L3).
import { expect } from 'chai';
import { erasureOf, keptUntil } from '../../../domain/kernel/erasure.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const END = parseTimestamp('2026-11-21T13:00:00.000Z');
const UNTIL = parseTimestamp('2031-11-21T13:00:00.000Z');
const BEFORE = parseTimestamp('2031-11-21T12:59:59.999Z');
const wish = (despiteRetention: boolean) => ({
  by: 'operator:ana',
  reason: 'request 17',
  retentionYears: 5,
  despiteRetention,
});

describe('keptUntil', () => {
  for (const [end, years, until] of [
    ['2026-11-21T13:00:00.000Z', 5, '2031-11-21T13:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', 1, '2027-12-31T23:59:59.999Z'],
    ['2028-02-29T00:00:00.000Z', 4, '2032-02-29T00:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', 5, '2033-03-01T00:00:00.000Z'],
  ] as const)
    it(`returns ${until} for ${years} years after ${end}`, () => {
      expect(keptUntil(parseTimestamp(end), years)).to.equal(until);
    });
});

describe('an erasure', () => {
  const erasure = (despiteRetention: boolean, at: typeof END) => ({
    by: 'operator:ana',
    reason: 'request 17',
    despiteRetention,
    at,
  });
  it('is rejected until the retention has passed', () => {
    expect(erasureOf(wish(false), END, BEFORE)).to.deep.equal({
      rejected: true,
      code: 'retention_not_passed',
      message: 'The data must be kept until 2031-11-21T13:00:00.000Z. Only an operator can erase it earlier.',
    });
    expect(erasureOf(wish(false), END, UNTIL)).to.deep.equal(erasure(false, UNTIL));
  });
  it('by an operator may come earlier, and says whether it did', () => {
    expect(erasureOf(wish(true), END, BEFORE)).to.deep.equal(erasure(true, BEFORE));
    expect(erasureOf(wish(true), END, UNTIL)).to.deep.equal(erasure(false, UNTIL));
  });
});
