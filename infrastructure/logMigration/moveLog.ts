// Moves an event log from one store to another. Each step leaves both logs in a state from which another run goes on, and at no moment
// can both be written to: the copy is marked, the original is sealed, the events are copied and compared, the checkpoints are
// translated, and only then is the copy the log in use.
import type { LeaderSession } from '../../application/ports/leaderSession.ts';
import { type Checkpoint, checkpointsToMove, moveCheckpointsTo } from '../../projections/engine/checkpoints.ts';
import { UsageError } from '../cli/command.ts';
import { type Comparison, compareLogs, eventsUpTo } from '../eventStore/compareLogs.ts';
import { IN_USE, type LogName, type LogState, type MigratableLog, refusalOf } from '../eventStore/logState.ts';
import { shareOf } from '../eventStore/share.ts';

export type Step = 'marked' | 'sealed' | 'verified' | 'translated' | 'moved' | 'inUse';

/** `copied`: by this run; `compared`: by this comparison. `share`: how far into the source, from 0 to 1. */
export type MoveProgress =
  | { readonly kind: 'copied' | 'compared'; readonly events: number; readonly share: number }
  | { readonly kind: 'step'; readonly step: Step };

export interface Move {
  readonly source: MigratableLog;
  readonly target: MigratableLog;
  /** Holds the leadership of projector and reactor, on the database of the checkpoints. */
  readonly session: LeaderSession;
  /** Rejects when another process works on this database. */
  readonly assertAlone: () => Promise<void>;
  /** Ends it between two writes. */
  readonly signal: AbortSignal;
  /** Whoever throws here ends it like a fault at that point. */
  readonly onProgress: (progress: MoveProgress) => void;
}

export interface MoveReport {
  /** It had been finished before: nothing was changed. */
  readonly wasDone: boolean;
  /** Events of both logs, compared one by one; 0 when it was done. */
  readonly compared: number;
  /** Events that this run has copied. */
  readonly copied: number;
  /** Checkpoints that this run has translated. */
  readonly checkpoints: number;
}

/* Which log may be copied into which: what both say of themselves decides, so that a killed run is gone on with and nothing is mixed. */

interface Route {
  /** It was finished before: nothing is to be done. */
  readonly isDone: boolean;
  readonly isTargetMarked: boolean;
  readonly isSourceSealed: boolean;
  /** The checkpoints may be translated already. */
  readonly isMoved: boolean;
}

const isAbout = (state: LogState, { storeId }: LogName): boolean =>
  state.kind !== 'inUse' && state.other.storeId === storeId;

const checkSource = (state: LogState, target: LogName): void => {
  if (state.kind === 'inUse') return;
  if (state.kind === 'copy' || !isAbout(state, target))
    throw new UsageError(`${refusalOf(state)?.message ?? ''}. Nothing was copied to ${target.address}`);
};

/** `moved`: it was the original once, and what it holds is the beginning of its copy, which now comes back. */
const checkTarget = async ({ store, name }: MigratableLog, state: LogState, source: LogName): Promise<void> => {
  if (state.kind === 'inUse') {
    if ((await store.head()) === null) return;
    throw new UsageError(
      `the event log at ${name.address} holds events of its own: only an empty one can become a copy`,
    );
  }
  if (state.kind === 'sealed' || !isAbout(state, source))
    throw new UsageError(`the event log at ${name.address} can't become a copy: ${refusalOf(state)?.message ?? ''}`);
};

/** Throws UsageError. */
const routeOf = async (source: MigratableLog, target: MigratableLog): Promise<Route> => {
  if (source.name.storeId === target.name.storeId) throw new UsageError('both are the same event log');
  const [from, to] = [await source.state(), await target.state()];
  checkSource(from, target.name);
  const isMoved = from.kind === 'moved';
  const isDone = isMoved && to.kind === 'inUse';
  if (!isDone) await checkTarget(target, to, source.name);
  return { isDone, isTargetMarked: to.kind === 'copy', isSourceSealed: from.kind !== 'inUse', isMoved };
};

/** Throws UsageError, CheckpointMismatch, LogsDiffer, EventStoreUnavailable. Another run goes on where this one ended. */
export const moveLog = async (move: Move): Promise<MoveReport> => {
  const { source, target, session, assertAlone, onProgress } = move;
  const step = (done: Step): void => onProgress({ kind: 'step', step: done });
  const route = await routeOf(source, target);
  if (route.isDone) return { wasDone: true, compared: 0, copied: 0, checkpoints: 0 };
  await checkpointsToMove(session, source.store, target.name.storeId);
  if (!route.isTargetMarked) await target.setState({ kind: 'copy', other: source.name });
  step('marked');
  if (!route.isSourceSealed) await source.setState({ kind: 'sealed', other: target.name });
  step('sealed');
  await assertAlone(); // who opened the log before it was sealed may not have heard of it; nobody can open it any more
  const { checkpoints, comparison, copied } = await catchUp(move);
  step('verified');
  await session.transaction(async (tx) => {
    await tx.query('SET LOCAL synchronous_commit = on'); // the steps behind it must not outlive it
    await moveCheckpointsTo(tx, checkpoints, target.name.storeId, comparison.positions);
  });
  step('translated');
  if (!route.isMoved) await source.setState({ kind: 'moved', other: target.name });
  step('moved');
  await target.setState(IN_USE);
  step('inUse');
  return { wasDone: false, compared: comparison.events, copied, checkpoints: checkpoints.length };
};

interface CaughtUp {
  readonly checkpoints: readonly Checkpoint[];
  readonly comparison: Comparison;
  readonly copied: number;
}

/** Compares, copies what is missing and compares again, until a comparison reaches the head of the source. */
const catchUp = async ({ source, target, session, signal, onProgress }: Move): Promise<CaughtUp> => {
  for (let copied = 0; ; ) {
    const head = await source.store.head();
    const checkpoints = await checkpointsToMove(session, source.store, target.name.storeId);
    const comparison = await compareLogs({
      source: source.store,
      target: target.store,
      asked: checkpoints.flatMap(({ position }) => position ?? []),
      signal,
      onCompared: (events, at) => onProgress({ kind: 'compared', events, share: shareOf(at, head) }),
    });
    const { deliveries, recordedBefore } = comparison.deleted;
    if (recordedBefore !== null) {
      await target.deleteDeliveries(deliveries, recordedBefore);
      continue;
    }
    const end = await source.store.head(); // asked again: on EventStoreDB nothing but good manners keeps the seal
    if (comparison.source === end) return { checkpoints, comparison, copied };
    for await (const batch of eventsUpTo(source.store, comparison.source, end, signal)) {
      const share = shareOf(batch[0]?.position ?? null, end);
      await target.write(batch, (count) => {
        copied += count;
        onProgress({ kind: 'copied', events: copied, share });
      });
    }
  }
};

/** The source is written to again; false: it was not sealed. Throws UsageError when the copy has taken its place. */
export const unseal = async (source: MigratableLog, session: LeaderSession): Promise<boolean> => {
  const state = await source.state();
  if (state.kind === 'inUse') return false;
  if (state.kind === 'copy') throw new UsageError('this event log is a copy itself: there is no seal to break');
  const { address, storeId } = state.other;
  const translated = await session.query('SELECT FROM subscriptions.checkpoints WHERE store_id = $1', [storeId]);
  if (state.kind === 'moved' || translated.rowCount > 0)
    throw new UsageError(
      `too late to give it up: the checkpoints stand in the log at ${address} already. Finish with npm run migrate-events; the way back is to copy that log here`,
    );
  await source.setState(IN_USE);
  return true;
};
