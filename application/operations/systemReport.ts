// The newest report of the checks of the deployment in this process (rule O1). Reading it needs no SQL statement.
import { secondsBetween } from '../../domain/kernel/time.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { SystemReports } from '../ports/systemReports.ts';
import { type CheckSystemNeeds, checkSystem } from './checkSystem.ts';

export interface SystemReportNeeds extends CheckSystemNeeds, Pick<UseCaseNeeds, 'accounts'> {
  readonly systemReports: SystemReports;
}

/** An older report is renewed as soon as it is read. */
const FRESH_SECONDS = 60;

export const systemReports = (needs: SystemReportNeeds) => {
  const { systemReports: reports, accounts } = needs;
  /** Checks in the background. Joins a run that is under way. Resolves at its end; never rejects. */
  const renewSystemReport = (): Promise<void> => reports.make(checkSystem(needs));
  return {
    renewSystemReport,
    /** Returns the newest report, or null, and whether checks are running. Starts them if there is no report of the last minute. */
    systemReport: (): ReturnType<SystemReports['newest']> => {
      const { report } = reports.newest();
      const isFresh = report !== null && secondsBetween(report.madeAt, accounts.realNow()) < FRESH_SECONDS;
      if (!isFresh) void renewSystemReport();
      return reports.newest();
    },
  };
};
