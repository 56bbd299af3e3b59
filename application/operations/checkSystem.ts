// Checks the deployment for operators (rule O1): the lines of `doctor`.
import { auditStatus, type OperateAuditNeeds } from '../audit/operateAudit.ts';
import type { Finding, SystemChecks } from '../ports/systemChecks.ts';
import { connectionProblems, unusableConnections, type ViewConnectionsNeeds } from '../providers/viewConnections.ts';
import { type UnansweredOrdersNeeds, unansweredOrders } from './unansweredOrders.ts';

export interface CheckSystemNeeds extends OperateAuditNeeds, ViewConnectionsNeeds, UnansweredOrdersNeeds {
  readonly systemChecks: SystemChecks;
  readonly store: OperateAuditNeeds['store'];
}

/** The maximum number of orders named. */
const ORDERS_NAMED = 5;

/** Returns the result of each check. Throws if a store doesn't answer. */
export const checkSystem = (needs: CheckSystemNeeds) => (): Promise<readonly Finding[]> =>
  needs.systemChecks.run({
    connectionProblems: async () => [...(await unusableConnections(needs)()), ...(await connectionProblems(needs)())],
    unansweredOrders: async () => (await unansweredOrders(needs)(ORDERS_NAMED)).map(({ order }) => order),
    auditStatus: auditStatus(needs),
  });
