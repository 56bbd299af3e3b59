// Checks readiness: the stores respond, and no consumer in any process lags more than 5 s (architecture §9). The reasons are public, so
// they contain no addresses.

import type { EventStore } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { knownConsumers } from '../subscriptions/knownConsumers.ts';
import type { LogProgress } from '../subscriptions/progress.ts';
import { withTimeout } from '../waiting.ts';

/** The parts of a running gateway that readiness depends on. */
export interface Watched {
  readonly projected: LogProgress;
  readonly reacted: LogProgress;
  /** null if another process has this role. */
  readonly projector: LeadingConsumers | null;
  readonly reactor: LeadingConsumers | null;
  /** Returns why this process must not work because its clock is wrong, or null. */
  readonly clockFault: () => string | null;
}

/** The consumers of the log that run in this process. */
interface LeadingConsumers {
  /** Names of all consumers and duties of the role. */
  readonly names: readonly string[];
  /** How many partitions of a consumer this process leads. */
  ledOf(consumer: string): number;
  /** Consumers that have failed. */
  faults(): readonly { readonly name: string }[];
}

const LAG_MS_MAX = 5_000;
const ANSWER_MS_MAX = 2_000;

const NO_ANSWER: unique symbol = Symbol('no answer');
type NoAnswer = typeof NO_ANSWER;

/** Returns NO_ANSWER if the work rejects or takes too long. */
const inTime = <T>(work: Promise<T>): Promise<T | NoAnswer> =>
  withTimeout(work, ANSWER_MS_MAX, () => new Error('no answer')).catch((): NoAnswer => NO_ANSWER);

/** Returns the consumers that make no progress. Ignores a consumer that only another version has (docs/upgrading.md). */
const standingStill = async (
  reads: Sql,
  { projected, reacted }: Pick<Watched, 'projected' | 'reacted'>,
  lagMsMax: number,
): Promise<readonly string[]> => {
  const [readModels, processes] = [projected.standingStill(lagMsMax), reacted.standingStill(lagMsMax)];
  if (readModels.length + processes.length === 0) return [];
  const known = await inTime(knownConsumers(reads));
  const isKnown = known === NO_ANSWER ? () => true : known;
  return [
    ...readModels.filter((name) => isKnown('projector', name)),
    ...processes.filter((name) => isKnown('reactor', name)),
  ];
};

/** Returns why the process is not ready, or null if it is ready. */
export const unreadiness = async (
  { store, reads }: { readonly store: EventStore; readonly reads: Sql },
  watched: Watched,
  lagMsMax = LAG_MS_MAX,
): Promise<string | null> => {
  const { projector, reactor, clockFault } = watched;
  const refusal = await inTime(store.head().then(() => store.refusal()));
  if (refusal === NO_ANSWER) return 'the event store does not answer';
  if (refusal !== null) return 'the event log rejects events: it was sealed or moved';
  if ((await inTime(reads.query('SELECT 1'))) === NO_ANSWER) return 'the database does not answer';
  const clock = clockFault();
  if (clock !== null) return clock;
  const [fault] = [...(projector?.faults() ?? []), ...(reactor?.faults() ?? [])];
  if (fault) return `${fault.name} has stopped`;
  const still = await standingStill(reads, watched, lagMsMax);
  return still.length === 0 ? null : `behind the log: ${still.join(', ')}`;
};

/** Returns why the audit log no longer follows the event log, or null if it does or the database doesn't answer in time. */
export const auditStopped = async (auditLog: { stopped(): Promise<string | null> }): Promise<string | null> => {
  const reason = await inTime(auditLog.stopped());
  return reason === NO_ANSWER ? null : reason;
};
