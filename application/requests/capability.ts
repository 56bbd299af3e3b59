// Requests: what is kept of them. Nothing follows from it: there is no process and no job, and whoever answers requests writes it.
import type { Capability } from '../core/capability.ts';
import type { RequestLogUpkeep } from '../ports/requestLog.ts';
import type { RequestMinutes } from '../ports/requestShares.ts';

export interface RequestsNeeds {
  readonly requestUpkeep: RequestMinutes & RequestLogUpkeep;
}

export const requests: Capability<RequestsNeeds> = {
  name: 'requests',
  processes: [],
  jobs: [],
  upkeep: [
    {
      failure: 'minutes of requests that are long over could not be forgotten',
      pattern: '0 */10 * * * *',
      run: ({ requestUpkeep }) => requestUpkeep.forgetOldMinutes(),
    },
    {
      failure: 'the request log could not be given its next days and rid of its oldest',
      pattern: '30 5 * * * *',
      onlyLeader: true,
      run: ({ requestUpkeep }) => requestUpkeep.keepDays(),
    },
  ],
};
