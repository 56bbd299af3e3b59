import { expect } from 'chai';
import { retryAfterMs } from '../../../infrastructure/webhookSender/retryAfter.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const DAY = 86_400_000;

const READINGS: readonly (readonly [unknown, number | null])[] = [
  ['1', 1_000],
  ['120', 120_000],
  ['0120', 120_000],
  ['86400', DAY],
  ['86401', DAY],
  ['99999999999999999999999', DAY],
  ['0', null],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['0x10', null],
  ['', null],
  ['soon', null],
  ['120, 120', null],
  [['1', '2'], null],
  [undefined, null],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
  ['Sat Nov 21 12:00:30 2026', 30_000],
  ['Sat Dec  5 12:00:00 2026', DAY],
  ['Sat, 21 Nov 2026 12:00:00 GMT', null],
  ['Sat, 21 Nov 2026 11:59:59 GMT', null],
  ['Sun, 06 Nov 1994 08:49:37 GMT', null],
  ['2026-11-21T12:00:30Z', null],
  ['Sat, 99 Nov 2026 12:00:30 GMT', null],
  ['Sat, 21 Nov 2026 12:00:30', null],
];

describe('retryAfterMs', () => {
  for (const [header, delayMs] of READINGS) {
    it(`reads ${JSON.stringify(header)} as ${delayMs}`, () => {
      expect(retryAfterMs(429, header, NOW)).to.equal(delayMs);
      expect(retryAfterMs(503, header, NOW)).to.equal(delayMs);
    });
  }

  it('ignores the header with any other status', () => {
    for (const status of [200, 202, 301, 400, 428, 500, 502, 504])
      expect(retryAfterMs(status, '120', NOW)).to.equal(null);
  });
});
