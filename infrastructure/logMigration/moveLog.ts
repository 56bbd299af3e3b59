// Moves an event log from one store to another. The steps: mark the copy, seal the original, copy and compare the events, translate the
// checkpoints, put the copy into use. An interrupted run can be continued after any step, and the two logs are never both writable.
import type { LeaderSession } from '../../application/ports/sql.ts';
import { type Checkpoint, checkpointsToMove, moveCheckpointsTo } from '../../projections/engine/checkpoints.ts';
import { UsageError } from '../cli/command.ts';
import { type Comparison, compareLogs, eventsUpTo } from '../eventStore/compareLogs.ts';
import { IN_USE, type LogName, type LogState, type MigratableLog, refusalOf } from '../eventStore/logState.ts';
import { shareOf } from '../eventStore/share.ts';
import { moveTreeTo, treePositions } from './moveTree.ts';

export type Step = 'marked' | 'sealed' | 'verified' | 'translated' | 'moved' | 'inUse';

/** Events copied by this run or compared so far. `share` is the position in the source, from 0 to 1. */
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
  /** Stops the move between two writes. */
  readonly signal: AbortSignal;
  /** An exception from this callback ends the move. */
  readonly onProgress: (progress: MoveProgress) => void;
}

export interface MoveReport {
  /** The move was finished earlier; nothing was changed. */
  readonly wasDone: boolean;
  /** Events compared one by one; 0 if the move was finished earlier. */
  readonly compared: number;
  /** Events that this run copied. */
  readonly copied: number;
  /** Checkpoints that this run translated. */
  readonly checkpoints: number;
}

/* The stored states of both logs decide whether a copy is allowed. So an interrupted run can continue, and logs are never mixed. */

interface Route {
  /** The move was finished earlier. */
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

/** A log in state `moved` is acceptable: it was the original, so its events are the beginning of the log that now moves back. */
const checkTarget = async ({ store, name }: MigratableLog, state: LogState, source: LogName): Promise<void> => {
  if (state.kind === 'inUse') {
    if ((await store.head()) === null) return;
    throw new UsageError(`the event log at ${name.address} already holds events: only an empty log can become a copy`);
  }
  if (state.kind === 'sealed' || !isAbout(state, source))
    throw new UsageError(`the event log at ${name.address} can't become a copy: ${refusalOf(state)?.message ?? ''}`);
};

/** Decides how to move the log, from the states of both logs. Throws UsageError if the move is not allowed. */
const routeOf = async (source: MigratableLog, target: MigratableLog): Promise<Route> => {
  if (source.name.storeId === target.name.storeId) throw new UsageError('source and target are the same event log');
  const [from, to] = [await source.state(), await target.state()];
  checkSource(from, target.name);
  const isMoved = from.kind === 'moved';
  const isDone = isMoved && to.kind === 'inUse';
  if (!isDone) await checkTarget(target, to, source.name);
  return { isDone, isTargetMarked: to.kind === 'copy', isSourceSealed: from.kind !== 'inUse', isMoved };
};

/** Moves the log. Throws UsageError, CheckpointMismatch, LogsDiffer or EventStoreUnavailable; another run continues from there. */
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
  await assertAlone(); // A process that opened the log before the seal might still write; none can open it now.
  const { checkpoints, comparison, copied } = await catchUp(move);
  step('verified');
  await session.transaction(async (tx) => {
    await tx.query('SET LOCAL synchronous_commit = on'); // Later steps must not survive a crash that loses this one.
    await moveCheckpointsTo(tx, checkpoints, target.name.storeId, comparison.positions);
    await moveTreeTo(tx, source.name.storeId, target.name.storeId, comparison.positions);
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
      asked: [
        ...checkpoints.flatMap(({ position }) => position ?? []),
        ...(await treePositions(session, source.name.storeId)),
      ],
      signal,
      onCompared: (events, at) => onProgress({ kind: 'compared', events, share: shareOf(at, head) }),
    });
    const { deliveries, recordedBefore } = comparison.deleted;
    if (recordedBefore !== null) {
      await target.deleteDeliveries(deliveries, recordedBefore);
      continue;
    }
    const end = await source.store.head(); // Read again: on EventStoreDB the seal is not enforced.
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

/** Makes the source writable again. Returns false if it was not sealed. Throws UsageError if the copy already replaced it. */
export const unseal = async (source: MigratableLog, session: LeaderSession): Promise<boolean> => {
  const state = await source.state();
  if (state.kind === 'inUse') return false;
  if (state.kind === 'copy') throw new UsageError('this event log is itself a copy and has no seal to remove');
  const { address, storeId } = state.other;
  const translated = await session.query('SELECT FROM subscriptions.checkpoints WHERE store_id = $1', [storeId]);
  if (state.kind === 'moved' || translated.rowCount > 0)
    throw new UsageError(
      `the move can no longer be cancelled: the checkpoints already refer to the log at ${address}. Finish it with npm run migrate-events; to go back, move that log here`,
    );
  await source.setState(IN_USE);
  return true;
};
