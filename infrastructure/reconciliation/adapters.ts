// Adapters of reconciliation, in the running program and on the command line.
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Log } from '../log/log.ts';
import { findingAlerts, findingReads, reconciliationFindings } from './findings.ts';
import { reconciliationLooks, reconciliationRuns } from './looks.ts';

interface OperatorsWorld {
  readonly storage: { readonly operations: SqlPool };
}
interface World extends OperatorsWorld {
  readonly log: Log;
}

/** For operators' use cases. */
export const reconciliationOperatorsAdapters = ({ storage: { operations } }: OperatorsWorld) => ({
  runs: reconciliationRuns(operations),
  findingReads: findingReads(operations),
});

export const reconciliationAdapters = ({ storage, log }: World) => ({
  ...reconciliationOperatorsAdapters({ storage }),
  looks: reconciliationLooks(storage.operations),
  findings: reconciliationFindings(storage.operations),
  findingAlerts: findingAlerts(log),
});
