// Every suite runs on every adapter of its port: a hole here is a claim that nobody checked.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../..');
/** Suite → folder whose sub-folders are the adapters of its port. Those of mail are files, and one test runs the suite on both. */
const SUITES = { eventStore: 'infrastructure/eventStore' } as const;
const MAIL_ADAPTERS = { 'outbox.ts': 'outboxMail', 'smtp.ts': 'smtpMail' };

describe('conformance suites × adapters', () => {
  it('has a suite for every file of one, and the reverse', async () => {
    const files = await readdir(import.meta.dirname, { withFileTypes: true });
    const suites = files.filter((f) => f.isFile() && !f.name.includes('.test.')).map(({ name }) => name);
    expect(suites.toSorted()).to.deep.equal([...Object.keys(SUITES), 'mail'].map((suite) => `${suite}.ts`));
  });

  for (const [suite, folder] of Object.entries(SUITES))
    it(`${suite} runs on each adapter`, async () => {
      const entries = await readdir(join(ROOT, folder), { withFileTypes: true });
      const adapters = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      expect(adapters.toSorted()).to.deep.equal(['eventStoreDb', 'postgres']);
      for (const adapter of adapters) {
        const text = await readFile(join(import.meta.dirname, `${suite}.${adapter}.test.ts`), 'utf8');
        expect(text, adapter).to.match(new RegExp(`^\\s*${suite}Conformance\\(`, 'm'));
      }
    });

  it('mail runs on each adapter', async () => {
    const files = await readdir(join(ROOT, 'infrastructure/mail'));
    expect(files.filter((name) => name !== 'message.ts').toSorted()).to.deep.equal(Object.keys(MAIL_ADAPTERS));
    const text = await readFile(join(import.meta.dirname, 'mail.test.ts'), 'utf8');
    expect(text.match(/^mailConformance\(/gm)).to.have.length(2);
    for (const adapter of Object.values(MAIL_ADAPTERS)) expect(text).to.match(new RegExp(`\\b${adapter}\\(`));
  });
});
