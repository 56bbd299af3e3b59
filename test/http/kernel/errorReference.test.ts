import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { errorReference } from '../../docs/errorReference.ts';

describe('docs/errors.md', () => {
  it('matches the error table (node -e "…errorReference()" writes it)', async () => {
    expect(await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8')).to.equal(errorReference());
  });
});
