// What an operator sees while a log moves: at most a line a second, and one for each step.
import type { News, Step } from './moveLog.ts';

const LINE_EVERY_MS = 1_000;

const STEPS: { readonly [S in Step]: string | null } = {
  marked: null,
  sealed: 'The log is sealed: nothing is appended to it any more.',
  verified: 'The copy is equal to the log, event by event.',
  translated: 'The checkpoints of read models and processes point into the copy.',
  moved: null,
  inUse: null,
};

/** `nowMs`: a clock that only goes forward. */
export const progressLines = (print: (line: string) => void, nowMs: () => number): ((news: News) => void) => {
  let printedAtMs = nowMs();
  let copyingSinceMs: number | null = null;
  return (news) => {
    if (news.kind === 'step') {
      const line = STEPS[news.step];
      if (line !== null) print(line);
      return;
    }
    if (news.kind === 'copied') copyingSinceMs ??= nowMs();
    if (nowMs() - printedAtMs < LINE_EVERY_MS) return;
    printedAtMs = nowMs();
    const rate = news.events / Math.max((nowMs() - (copyingSinceMs ?? 0)) / 1_000, 0.001);
    print(
      news.kind === 'copied' ? `${news.events} events copied, ${Math.round(rate)}/s` : `${news.events} events compared`,
    );
  };
};
