// The progress that an operator sees while a log moves.
import { expect } from 'chai';
import { progressLines } from '../../../infrastructure/logMigration/migrateEvents.ts';

describe('the progress of a moving log', () => {
  it('is at most one line a second, with the copy rate, and one line for each important step', () => {
    const lines: string[] = [];
    let nowMs = 10_000;
    const onProgress = progressLines(
      (line) => lines.push(line),
      () => nowMs,
    );
    onProgress({ kind: 'step', step: 'marked' });
    onProgress({ kind: 'step', step: 'sealed' });
    nowMs = 10_900;
    onProgress({ kind: 'compared', events: 1_000, share: 0.5 });
    nowMs = 11_000;
    onProgress({ kind: 'compared', events: 2_000, share: 0.5 });
    for (const events of [100, 200]) onProgress({ kind: 'copied', events, share: 0.5 });
    nowMs = 13_000;
    for (const events of [5_000, 5_001]) onProgress({ kind: 'copied', events, share: 0.5 });
    nowMs = 14_000;
    onProgress({ kind: 'copied', events: 9_000, share: 0.5 });
    onProgress({ kind: 'step', step: 'verified' });
    expect(lines).to.deep.equal([
      'The log is sealed and rejects further events.',
      '2000 events compared',
      '5000 events copied, 2500/s',
      '9000 events copied, 3000/s',
      'The copy is identical to the log, event by event.',
    ]);
  });
});
