// What a merchant may declare about an evidence file (rule Q6).
import { expect } from 'chai';
import fc from 'fast-check';
import { isFileName } from '../../../domain/dispute/evidenceFile.ts';

/** Control characters, line and paragraph separators, and those that change the direction of text, as ranges of code points. */
const FORBIDDEN = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
] as const;

describe('the name of a declared file', () => {
  it('has 1 to 255 characters, no separators, control or direction characters, and is not “.” or “..”', () => {
    const isForbidden = (code: number) => FORBIDDEN.some(([first, last]) => first <= code && code <= last);
    const near = fc.constantFrom(...FORBIDDEN.flat()).chain((code) => fc.integer({ min: code - 1, max: code + 1 }));
    const odd = near.filter((code) => code >= 0).map((code) => String.fromCodePoint(code));
    const unit = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      odd,
      fc.constantFrom('.', '/', '\\'),
    );
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 9 }), (text) => {
        const isPath = text === '.' || text === '..' || /[/\\]/.test(text);
        const isOdd = [...text].some((char) => isForbidden(char.codePointAt(0) as number));
        expect(isFileName(text)).to.equal(!isPath && !isOdd);
      }),
      { numRuns: 1_000 },
    );
    expect(['', 'x'.repeat(256), '😀'.repeat(256)].map(isFileName)).to.deep.equal([false, false, false]);
    // Forms may be in UTF-16, with half of a surrogate pair (rule I14).
    expect(['\ud83d.png', '\ude00.png'].map(isFileName)).to.deep.equal([false, false]);
    expect(['x', 'x'.repeat(255), '😀'.repeat(255)].map(isFileName)).to.deep.equal([true, true, true]);
  });
});
