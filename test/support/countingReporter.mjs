// Prints mocha's dots and the slowest files, and writes what test/run.ts reads: how many tests passed in
// each file, and the file of each that failed.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import mocha from 'mocha';

const SHOWN = 15;

export default class CountingReporter extends mocha.reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    const spentMs = new Map();
    const passed = {};
    const failed = [];
    const named = ({ file }) => relative('', file ?? '');
    runner.on('pass', (test) => {
      passed[named(test)] = (passed[named(test)] ?? 0) + 1;
    });
    runner.on('fail', (test) => failed.push(named(test)));
    for (const event of ['test end', 'hook end'])
      runner.on(event, ({ file, duration = 0 }) => spentMs.set(file, (spentMs.get(file) ?? 0) + duration));
    runner.once('end', () => {
      const slowest = [...spentMs].sort(([, one], [, other]) => other - one).slice(0, SHOWN);
      for (const [file, ms] of slowest)
        console.log(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${relative('', file ?? '')}`);
      writeFileSync(options.reporterOptions.output, JSON.stringify({ passed, failed }));
    });
  }
}
