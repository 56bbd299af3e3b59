// The handlers of all jobs, made of what they need, one of which is to have the work of other jobs' timers done here and now.
import type { JobPayload } from '../ports/jobs.ts';
import type { Timer } from '../ports/timers.ts';
import type { Handler, Job } from './capability.ts';

/** The work of timers, as the capabilities declare it. */
export interface TimerWork {
  /** Whether timers of the kind become jobs of their queue whatever the clock does, because their work may be slow: messages. */
  isSent(kind: string): boolean;
  /** Does the work of a timer, at its instant. */
  run(timer: Timer): Promise<void>;
}

/** Returns what jobs need and their handlers by the name of their kind. `needsWith`: what they need, given the work of timers. */
export const withHandlers = <Needs>(
  jobs: readonly Job<Needs>[],
  needsWith: (timerWork: TimerWork) => Needs,
): { readonly needs: Needs; readonly handlers: ReadonlyMap<string, Handler<JobPayload>> } => {
  const handlers = new Map<string, Handler<JobPayload>>();
  const needs = needsWith({
    isSent: (kind) => handlers.get(kind)?.runOne === undefined,
    run: async ({ kind, payload, dueAt }) => handlers.get(kind)?.runOne?.(payload, dueAt),
  });
  for (const { kind, handler } of jobs) handlers.set(kind.name, handler(needs));
  return { needs, handlers };
};
