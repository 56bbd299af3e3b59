// `npm run soak -- payouts model` runs the soaks of these names (`test/soak/<name>.soak.ts`). Without names, it runs all of them in turn.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';

/** Runs of each property test that a soak repeats with other random numbers. */
const RUNS = '300';

const names = process.argv.slice(2);
const files =
  names.length === 0 ? globSync('test/soak/*.soak.ts').sort() : names.map((name) => `test/soak/${name}.soak.ts`);
const mocha = spawn('mocha', ['--no-config', '--exit', '--timeout', '0', ...files], {
  stdio: 'inherit',
  env: { RUNS, ...process.env },
});
mocha.on('exit', (code) => process.exit(code ?? 1));
