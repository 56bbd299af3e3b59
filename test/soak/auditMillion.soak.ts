// Each stand-alone verifier verifies an export of 1,000,000 events in less than a minute. EVENTS changes the number.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { logKeyOf, ORIGIN, writeSyntheticExport } from '../support/audit/syntheticExport.ts';
import { commandOf } from '../support/audit/verifiers.ts';

const EVENTS = Number(process.env['EVENTS'] ?? 1_000_000);
const KEY = logKeyOf('the log');
/** A checkpoint for each hour of a month. */
const CHECKPOINTS = 720;
const MINUTE_MS = 60_000;
/** Prints user and system time, which don’t depend on other load of the machine as elapsed time does. */
const TIMED = 'TIMEFORMAT="%U %S"; time "$@"';
const ENTRIES = `${EVENTS} entries from index 0 to ${EVENTS - 1} of ${ORIGIN}, in the tree of size ${EVENTS}`;
const VERIFIED = `verified: ${ENTRIES}; period: first entry to newest checkpoint; all accounts\n`;
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

describe(`an export of ${EVENTS} events`, () => {
  let root: string;
  let folder: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'quita-million-'));
    folder = join(root, 'export');
    const signedAt = Array.from({ length: CHECKPOINTS }, (_, n) => Math.ceil(((n + 1) * EVENTS) / CHECKPOINTS));
    writeSyntheticExport(folder, { size: EVENTS, signedAt, keyAt: () => KEY, keys: [KEY] });
  });
  after(() => rmSync(root, { recursive: true }));

  for (const language of ['node', 'python'] as const)
    it(`is verified in less than a minute of CPU time, in ${language}`, () => {
      const begun = performance.now();
      const command = commandOf(language, [folder, '--key', KEY.vkey]);
      const { status, stdout, stderr } = spawnSync('bash', ['-c', TIMED, 'bash', ...command], { encoding: 'utf8' });
      const tookMs = performance.now() - begun;
      const cpuMs = sum(stderr.trim().split(' ').map(Number)) * 1_000;
      console.log(`    ${language}: ${cpuMs / 1_000} s of CPU, ${Math.round(tookMs / 1_000)} s elapsed`);
      expect([status, stdout]).to.deep.equal([0, VERIFIED]);
      expect(cpuMs).to.be.below(MINUTE_MS);
    });
});
