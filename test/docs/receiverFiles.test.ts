// The webhook guide shows the files of docs/receivers unchanged, and the receivers are as short as it says.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

describe('docs/receivers', () => {
  for (const [file, language] of [
    ['receiver.mjs', 'js'],
    ['receiver.py', 'python'],
    ['verifyWebhook.mjs', 'js'],
    ['verify_webhook.py', 'python'],
  ] as const)
    it(`are shown by the guide: ${file}`, () => {
      expect(read('guides/webhooks.md')).to.include(`\n\`\`\`${language}\n${read(`receivers/${file}`)}\`\`\`\n`);
    });

  for (const file of ['receiver.mjs', 'receiver.py'])
    it(`have 15 lines of code: ${file}`, () => {
      const lines = read(`receivers/${file}`)
        .split('\n')
        .filter((line) => !/^\s*(?:(?:#|\/\/).*)?$/.test(line));
      expect(lines).to.have.length(15);
    });
});
