// A schedule, its log lines and its errors.
import { expect } from 'chai';
import { openLog } from '../../../infrastructure/log/log.ts';
import { startSchedule } from '../../../infrastructure/system/schedule.ts';

const EVERY_SECOND = '* * * * * *';

describe('a schedule', () => {
  it('does not run twice at once, and logs that as JSON only', async () => {
    const { promise: said, resolve: say } = Promise.withResolvers<string>();
    const log = openLog('warn', { write: (line) => say(line) });
    const onConsole: unknown[] = [];
    const { warn } = console;
    console.warn = (...words) => void onConsole.push(words);
    let runs = 0;
    const over = Promise.withResolvers<void>();
    const run = () => {
      runs++;
      return over.promise;
    };
    const stop = startSchedule(EVERY_SECOND, run, () => undefined, log);
    try {
      const { time: _, ...line } = JSON.parse(await said) as Record<string, unknown>;
      // A busy machine may miss a second before a run is skipped.
      expect(line['msg']).to.match(/^(task still running|missed execution)/);
      expect({ ...line, msg: '' }).to.deep.equal({ level: 40, schedule: EVERY_SECOND, msg: '' });
      expect([runs <= 1, onConsole]).to.deep.equal([true, []]);
    } finally {
      console.warn = warn;
      over.resolve();
      await stop();
    }
  });

  it('passes on the error of a run, and runs again', async () => {
    const failures: Error[] = [];
    const twice = Promise.withResolvers<void>();
    const onError = (error: Error) => {
      if (failures.push(error) === 2) twice.resolve();
    };
    const failure = new Error('no');
    const stop = startSchedule(EVERY_SECOND, () => Promise.reject(failure), onError, openLog('silent'));
    await twice.promise;
    await stop();
    expect(failures.slice(0, 2)).to.deep.equal([failure, failure]);
  });
});
