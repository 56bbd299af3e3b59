// Checks that every suite runs on every adapter of its port.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../..');
/** Maps a suite to the folder whose subfolders are the adapters of its port, each with its own test file. */
const BY_FOLDER = { eventStore: 'infrastructure/eventStore' } as const;
/** Maps a suite to the folder whose matching files are the adapters, and to their constructors. One test file runs the suite on all. */
const BY_FILE = {
  evidenceStorage: {
    folder: 'infrastructure/evidence',
    isAdapter: (name: string) => name.endsWith('Storage.ts'),
    adapters: { 'fileStorage.ts': ['FileEvidenceStorage.open'], 's3Storage.ts': ['new S3EvidenceStorage'] },
  },
  mail: {
    folder: 'infrastructure/mail',
    isAdapter: (name: string) => name === 'mail.ts',
    adapters: { 'mail.ts': ['outboxMail', 'smtpMail'] },
  },
} as const;

describe('conformance suites × adapters', () => {
  it('covers all suite files', async () => {
    const files = await readdir(import.meta.dirname, { withFileTypes: true });
    const suites = files.filter((f) => f.isFile() && !f.name.includes('.test.')).map(({ name }) => name);
    expect(suites.toSorted()).to.deep.equal(
      [...Object.keys(BY_FOLDER), ...Object.keys(BY_FILE)].map((suite) => `${suite}.ts`),
    );
  });

  for (const [suite, folder] of Object.entries(BY_FOLDER))
    it(`runs ${suite} on each adapter`, async () => {
      const entries = await readdir(join(ROOT, folder), { withFileTypes: true });
      const adapters = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      expect(adapters.toSorted()).to.deep.equal(['eventStoreDb', 'postgres']);
      for (const adapter of adapters) {
        const text = await readFile(join(import.meta.dirname, `${suite}.${adapter}.test.ts`), 'utf8');
        expect(text, adapter).to.match(new RegExp(`^\\s*${suite}Conformance\\(`, 'm'));
      }
    });

  for (const [suite, { folder, isAdapter, adapters }] of Object.entries(BY_FILE))
    it(`runs ${suite} on each adapter`, async () => {
      const files = await readdir(join(ROOT, folder));
      expect(files.filter(isAdapter).toSorted()).to.deep.equal(Object.keys(adapters));
      const text = await readFile(join(import.meta.dirname, `${suite}.test.ts`), 'utf8');
      expect(text.match(new RegExp(`^ *${suite}Conformance\\(`, 'gm'))).to.have.length(
        Object.values(adapters).flat().length,
      );
      for (const adapter of Object.values(adapters).flat()) expect(text).to.contain(`${adapter}(`);
    });
});
