// What a merchant may declare of a file (rule Q6).
import { expect } from 'chai';
import fc from 'fast-check';
import { isFileName } from '../../../domain/dispute/evidenceFile.ts';

describe('a file that is declared', () => {
  it('has a name that no file system takes for a path', () => {
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
