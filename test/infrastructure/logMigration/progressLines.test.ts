// What an operator sees while a log moves.
import { expect } from 'chai';
import { progressLines } from '../../../infrastructure/logMigration/migrateEvents.ts';

describe('the progress of a moving log', () => {
  it('is a line a second at most, with the rate of the copying, and one for each step that matters', () => {
    const lines: string[] = [];
    let nowMs = 10_000;
    const tell = progressLines(
      (line) => lines.push(line),
      () => nowMs,
    );
    tell({ kind: 'step', step: 'marked' });
    tell({ kind: 'step', step: 'sealed' });
    nowMs = 10_900;
    tell({ kind: 'compared', events: 1_000, share: 0.5 });
    nowMs = 11_000;
    tell({ kind: 'compared', events: 2_000, share: 0.5 });
    for (const events of [100, 200]) tell({ kind: 'copied', events, share: 0.5 });
    nowMs = 13_000;
    for (const events of [5_000, 5_001]) tell({ kind: 'copied', events, share: 0.5 });
    nowMs = 14_000;
    tell({ kind: 'copied', events: 9_000, share: 0.5 });
    tell({ kind: 'step', step: 'verified' });
    expect(lines).to.deep.equal([
      'The log is sealed: nothing is appended to it any more.',
      '2000 events compared',
      '5000 events copied, 2500/s',
      '9000 events copied, 3000/s',
      'The copy is equal to the log, event by event.',
    ]);
  });
});
