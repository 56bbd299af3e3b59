// Mocha’s dots for people, and two numbers in a file for test/run.ts.
import { writeFileSync } from 'node:fs';
import mocha from 'mocha';

export default class CountingReporter extends mocha.reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () =>
      writeFileSync(options.reporterOptions.output, `${this.stats.passes} ${this.stats.failures}\n`),
    );
  }
}
