// Runs the guides under /docs: every shell command against a fresh start, and every answer compared with the one shown.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

const run = promisify(execFile);
/** In reading order, because the first guide begins with an empty wallet. */
const GUIDES = [
  ...['first-charge', 'webhooks', 'refunds', 'payouts', 'statements', 'disputes', 'test-clock', 'going-live'],
  'auditing',
];
/** Port of the simulated institution’s control API. */
const SIMULATOR_PORT = 8444;
const MARK = '@@ next block @@';

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }));

/** Fields with the same value in every run, so that guides must show it exactly. */
const EXACT =
  /^(amount|available|attempts|currency|deleted|eventType|events|lastStatusCode|offset_seconds|outcome|pending|reason|status|total)$/;

/** Expects `answered` to contain the fields of `shown`, with values of the same types. */
const expectShown = (shown: unknown, answered: unknown, name: string): void => {
  if (EXACT.test(name)) expect(answered, name).to.deep.equal(shown);
  else if (Array.isArray(shown)) expectShown(shown[0], (answered as unknown[])[0], name);
  else if (shown === null || typeof shown !== 'object') expect(typeof answered, name).to.equal(typeof shown);
  else
    for (const [key, value] of Object.entries(shown)) {
      expect(Object.keys(answered as object), name).to.include(key);
      expectShown(value, (answered as Record<string, unknown>)[key], key);
    }
};

describe('the guides', () => {
  let program: Program;
  let port: number;
  let dataDir: string;
  let folder: string;
  let receiverPort: number;

  before(async () => {
    [dataDir, folder, receiverPort] = [
      await newDataDir(),
      await mkdtemp(join(tmpdir(), 'quita-guides-')),
      await freePort(),
    ];
    port = await freePort();
    program = await new Program({ dataDir, port }).ready();
  });
  after(async () => {
    await program.stop();
    await removeDataDir(dataDir);
    await rm(folder, { recursive: true, force: true });
  });

  const onThisMachine = (text: string): string =>
    text
      .replaceAll('http://127.0.0.1:3000', program.baseUrl)
      .replaceAll('/tmp/', `${folder}/`)
      .replaceAll('./.data/', `${dataDir}/`)
      .replaceAll(/\b4000\b/g, String(receiverPort));

  /** Returns a script that fails with its first failing line. It waits for receivers started in the background and ends them. */
  const scriptOf = (blocks: readonly Block[]): string =>
    [
      'set -euo pipefail',
      `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`,
      'curl() { command curl --fail-with-body "$@"; }',
      ...blocks.flatMap(({ text }) => [
        onThisMachine(text),
        ...(text.trimEnd().endsWith('&')
          ? [
              `command curl -s --retry 30 --retry-delay 1 --retry-connrefused -o /dev/null http://127.0.0.1:${text.includes('simulator') ? SIMULATOR_PORT : receiverPort} || true`,
            ]
          : []),
        `echo; echo '${MARK}'`,
      ]),
    ].join('\n');

  for (const name of GUIDES)
    it(`work as written: ${name}`, async () => {
      const blocks = blocksOf(await readFile(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8'));
      const shell = blocks.filter(({ language }) => language === 'sh');
      const env = { ...process.env, DATA_DIR: dataDir, PORT: String(port) };
      const { stdout } = await run('bash', ['-c', scriptOf(shell)], { timeout: 170_000, env });
      const outputs = stdout.split(MARK);
      expect(outputs.length).to.equal(shell.length + 1);
      blocks.forEach(({ language, text }, index) => {
        const before = blocks[index - 1];
        if (language !== 'json' || before === undefined) return;
        const output = outputs[shell.indexOf(before)] as string;
        // Leave out the lines that the webhook receiver printed meanwhile.
        const answer = output
          .split('\n')
          .filter((line) => !line.startsWith('signature valid'))
          .join('\n');
        expectShown(JSON.parse(onThisMachine(text)), JSON.parse(answer), name);
      });
      if (name === 'webhooks') expect(stdout).to.match(/signature valid: charge\.paid evt_/);
    });
});
