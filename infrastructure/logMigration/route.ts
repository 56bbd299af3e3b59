// Which log may be copied into which: what both say of themselves decides, so that a killed run is gone on with and nothing is mixed.

import { UsageError } from '../cli/command.ts';
import { type LogName, type LogState, refusalOf } from '../eventStore/logState.ts';
import type { MigratableLog } from '../eventStore/migratableLog.ts';

export interface Route {
  /** It was finished before: nothing is to be done. */
  readonly isDone: boolean;
  readonly isTargetMarked: boolean;
  readonly isSourceSealed: boolean;
  /** The checkpoints may be translated already. */
  readonly isMoved: boolean;
}

const isAbout = (use: LogState, { storeId }: LogName): boolean => use.kind !== 'inUse' && use.other.storeId === storeId;

const checkSource = (use: LogState, target: LogName): void => {
  if (use.kind === 'inUse') return;
  if (use.kind === 'copy' || !isAbout(use, target))
    throw new UsageError(`${refusalOf(use)?.message ?? ''}. Nothing was copied to ${target.address}`);
};

/** `moved`: it was the original once, and what it holds is the beginning of its copy, which now comes back. */
const checkTarget = async ({ store, name }: MigratableLog, use: LogState, source: LogName): Promise<void> => {
  if (use.kind === 'inUse') {
    if ((await store.head()) === null) return;
    throw new UsageError(
      `the event log at ${name.address} holds events of its own: only an empty one can become a copy`,
    );
  }
  if (use.kind === 'sealed' || !isAbout(use, source))
    throw new UsageError(`the event log at ${name.address} can't become a copy: ${refusalOf(use)?.message ?? ''}`);
};

/** Throws UsageError. */
export const routeOf = async (source: MigratableLog, target: MigratableLog): Promise<Route> => {
  if (source.name.storeId === target.name.storeId) throw new UsageError('both are the same event log');
  const [from, to] = [await source.state(), await target.state()];
  checkSource(from, target.name);
  const isMoved = from.kind === 'moved';
  const isDone = isMoved && to.kind === 'inUse';
  if (!isDone) await checkTarget(target, to, source.name);
  return { isDone, isTargetMarked: to.kind === 'copy', isSourceSealed: from.kind !== 'inUse', isMoved };
};
