// What a merchant may declare about an evidence file (rule Q6).
import { expect } from 'chai';
import fc from 'fast-check';
import { isFileName } from '../../../domain/dispute/evidenceFile.ts';

describe('the name of a declared file', () => {
  it('has 1 to 255 characters, no path separators, no control characters, and is not “.” or “..”', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }), (text) => {
        const isPath = text === '.' || text === '..' || /[/\\]/.test(text);
        const isControlled = [...text].some((char) => {
          const code = char.codePointAt(0) as number;
          return code < 0x20 || (code >= 0x7f && code < 0xa0);
        });
        expect(isFileName(text)).to.equal(!isPath && !isControlled);
      }),
    );
    expect(['', 'x'.repeat(256), '😀'.repeat(256)].map(isFileName)).to.deep.equal([false, false, false]);
    expect(['x', 'x'.repeat(255), '😀'.repeat(255)].map(isFileName)).to.deep.equal([true, true, true]);
  });
});
