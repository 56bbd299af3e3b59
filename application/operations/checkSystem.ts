// Checks the deployment for operators (rule O1): the lines of `doctor`.
import { auditStatus, type OperateAuditNeeds } from '../audit/operateAudit.ts';
import type { Finding, SystemChecks } from '../ports/systemChecks.ts';
import { connectionProblems, type ViewConnectionsNeeds } from '../providers/viewConnections.ts';

export interface CheckSystemNeeds extends OperateAuditNeeds, ViewConnectionsNeeds {
  readonly systemChecks: SystemChecks;
  readonly store: OperateAuditNeeds['store'];
}

/** Returns the result of each check. Throws if a store doesn't answer. */
export const checkSystem = (needs: CheckSystemNeeds) => (): Promise<readonly Finding[]> =>
  needs.systemChecks.run({ connectionProblems: connectionProblems(needs), auditStatus: auditStatus(needs) });
