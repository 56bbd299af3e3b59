// Reconciliation's part of the capability of provider connections.

import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { TakeReturns } from '../disputes/takeReturns.ts';
import type { FindingReads } from '../ports/providerBooks.ts';
import { deleteOldItems, type OldItemsNeeds } from './deleteOldItems.ts';
import { type ReconcileNeeds, reconcileConnections } from './reconcileConnections.ts';

export interface ReconciliationNeeds extends ReconcileNeeds, OldItemsNeeds {
  readonly findingReads: FindingReads;
}

/** The memory of a process between runs. */
interface ReconciliationMemory {
  /** Connections whose last deletion of old items failed. */
  readonly failingDeletions: Set<ConnectionId>;
}

/** Adds an empty memory to the needs. */
export const withReconciliationMemory = <Needs extends ReconciliationNeeds>(
  needs: Needs,
): Needs & ReconciliationMemory => ({ ...needs, failingDeletions: new Set() });

/** `returnsOf`: the handlers of the returns of a received Pix. */
export const reconciliationUpkeep = <Needs extends ReconciliationNeeds>(
  returnsOf: (needs: Needs) => readonly TakeReturns[],
) => [
  {
    failure: 'provider connections could not be compared',
    pattern: '*/5 * * * * *',
    onlyLeader: true as const,
    run: (needs: Needs) => reconcileConnections(needs, returnsOf(needs))(),
  },
  {
    failure: 'old items of provider connections could not be deleted',
    pattern: '35 * * * * *',
    onlyLeader: true as const,
    run: (needs: Needs & ReconciliationMemory) => deleteOldItems(needs, needs.failingDeletions),
  },
];

export const reconciliationGauges = [
  {
    name: 'provider_findings',
    help: 'Unresolved differences between Quita and the institutions (`reconcile list`).',
    read: ({ findingReads }: ReconciliationNeeds) => findingReads.countOpen(),
  },
];
