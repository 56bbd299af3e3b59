// Decides which connections are compared now: every ten minutes, on an operator's request, and again after 1, 7 and 30 days.
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, earlier, HOUR_MS, MINUTE_MS, SECOND_MS, type Timestamp } from '../../domain/kernel/time.ts';
import type { TakeReturns } from '../disputes/takeReturns.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import type { Look, LookName, ReconciliationRuns, RunState } from '../ports/providerBooks.ts';
import type { OpenConnection, ProviderConnections } from '../ports/providerConnections.ts';
import { ReadModelsBehind } from '../ports/readModels/progress.ts';
import type { Stopwatch } from '../ports/system.ts';
import { type CompareNeeds, takeStep } from './compareConnection.ts';
import { OVERLAP_MS, plausible } from './progress.ts';

const PAUSE_MS = 10 * MINUTE_MS;
/** How far the first look and looks on request go back. */
const BACK_MS = DAY_MS;
/** Older periods are looked at again in portions of this length. */
const PORTION_MS = HOUR_MS;
/** A run of the schedule ends after this time and is continued by the next one, so that a long list delays no other connection. */
const SLICE_MS = 5 * SECOND_MS;
const RETRY_MS = MINUTE_MS;
const RETRY_MAX_MS = 10 * MINUTE_MS;
/** From this number of failures in a row on, operators get an alert of each, and a single movement that fails is skipped. */
const STALLED_FAILURES = 3;

/** In the order in which they are taken. */
const AGAIN: readonly { readonly name: LookName; readonly ageMs: number }[] = [
  { name: 'day1', ageMs: DAY_MS },
  { name: 'day7', ageMs: 7 * DAY_MS },
  { name: 'day30', ageMs: 30 * DAY_MS },
];

export interface ReconcileNeeds extends CompareNeeds {
  readonly stopwatch: Stopwatch;
  readonly providerConnections: Pick<ProviderConnections, 'callable'>;
  readonly runs: ReconciliationRuns;
}

/**
 * Compares all connections that are due, each for a few seconds. The next call continues where this one stopped. Several processes may do
 * so at once: of two that compare the same connection, one continues.
 */
export const reconcileConnections =
  (needs: ReconcileNeeds, takeReturns: readonly TakeReturns[]) => async (): Promise<void> => {
    const connections = await needs.providerConnections.callable();
    const results = await Promise.allSettled(connections.map((one) => reconcileConnection(needs, one, takeReturns)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  };

/** Compares one connection if it is due. An institution that gives no answer is asked again later. */
export const reconcileConnection = async (
  needs: ReconcileNeeds,
  connection: OpenConnection,
  takeReturns: readonly TakeReturns[],
): Promise<void> => {
  const { connectionId } = connection.terms;
  const { runs, stopwatch } = needs;
  const state = await runs.stateOf(connectionId);
  const now = await runs.now();
  if (isPaused(state, now)) return;
  const end = stopwatch.elapsedMs() + SLICE_MS;
  const work = { ...needs, connection, takeReturns, passesOver: state.failures >= STALLED_FAILURES };
  try {
    for (let look = await nextLook(needs, connectionId); look !== null; look = await nextLook(needs, connectionId))
      if (!(await takeSteps(work, look, () => stopwatch.elapsedMs() >= end))) return;
  } catch (error) {
    const failures = state.failures + 1;
    await runs.failed(connectionId, addMillis(now, pauseMsAfter(failures)));
    const { comparedAt } = state;
    if (failures >= STALLED_FAILURES)
      needs.findingAlerts.stalled(connectionId, { failures, comparedAt, reason: (error as Error).message });
    if (!(error instanceof UnknownAtProvider) && !(error instanceof ReadModelsBehind)) throw error;
  }
};

/** Returns whether the look is done. Otherwise time is up, or another process has continued it. */
const takeSteps = async (
  work: Parameters<typeof takeStep>[0] & Pick<ReconcileNeeds, 'runs'>,
  from: Look,
  isTimeUp: () => boolean,
): Promise<boolean> => {
  let look: Look | null = from;
  while (look !== null && look.step !== 'done') {
    if (isTimeUp()) return false;
    look = await takeStep(work, look);
  }
  if (look === null) return false;
  if (look.name === 'latest') await work.runs.completed(look.connectionId, look.startedAt);
  return true;
};

const pauseMsAfter = (failures: number): number => Math.min(RETRY_MS * 2 ** Math.min(failures - 1, 10), RETRY_MAX_MS);

/** Returns whether the institution gave no answer, and no operator has requested a comparison since. */
const isPaused = ({ retryAt, requestedAt, failures }: RunState, now: Timestamp): boolean => {
  if (retryAt === null || now >= retryAt) return false;
  const failedAt = addMillis(retryAt, -pauseMsAfter(failures));
  return requestedAt === null || requestedAt <= failedAt;
};

const isRequested = ({ comparedAt, requestedAt }: RunState): boolean =>
  requestedAt !== null && (comparedAt === null || comparedAt < requestedAt);

/** Returns the look to continue or to start, or null if nothing is due. */
const nextLook = async (needs: ReconcileNeeds, connectionId: ConnectionId): Promise<Look | null> => {
  const { looks, runs } = needs;
  const all = new Map((await looks.of(connectionId)).map((look) => [look.name, look]));
  const state = await runs.stateOf(connectionId);
  const latest = all.get('latest') ?? null;
  if (latest !== null && latest.step !== 'done') return latest;
  const now = await runs.now();
  const isRequestedNow = isRequested(state);
  if (isRequestedNow || state.comparedAt === null || addMillis(state.comparedAt, PAUSE_MS) <= now) {
    const until = startOf(plausible(latest?.until ?? null, now), now, isRequestedNow);
    return looks.start(latest, { connectionId, name: 'latest', until, target: now });
  }
  for (const { name, ageMs } of AGAIN) {
    const before = all.get(name) ?? null;
    if (before !== null && before.step !== 'done') return before;
    const target = addMillis(now, -ageMs);
    const until = plausible(before?.until ?? null, target) ?? addMillis(target, -PORTION_MS);
    if (addMillis(until, PORTION_MS) <= target) return looks.start(before, { connectionId, name, until, target });
  }
  return null;
};

const startOf = (until: Timestamp | null, now: Timestamp, isRequestedNow: boolean): Timestamp => {
  const back = addMillis(now, -BACK_MS);
  if (until === null) return back;
  const overlapping = addMillis(until, -OVERLAP_MS);
  return isRequestedNow ? earlier(overlapping, back) : overlapping;
};
