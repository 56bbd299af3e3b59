// The HTTP module for jobs, the ledger and the log (rule O1). Capabilities have their own routes for operators.
import { httpModule } from '../../kernel/httpModule.ts';
import { OPS_JOB_ROUTES } from './jobs.ts';
import { OPS_LEDGER_ROUTES } from './ledger.ts';
import { OPS_LOG_ROUTES } from './log.ts';
import { PLATFORM } from './operatorRoutes.ts';
import { OPS_PARKED_ROUTES } from './parked.ts';
import { OPS_RUN_ROUTES } from './runs.ts';
import { OPS_SYSTEM_ROUTES } from './system.ts';

export const ops = httpModule({
  name: 'ops',
  chapters: [PLATFORM],
  routes: [
    ...OPS_JOB_ROUTES,
    ...OPS_LEDGER_ROUTES,
    ...OPS_LOG_ROUTES,
    ...OPS_PARKED_ROUTES,
    ...OPS_RUN_ROUTES,
    ...OPS_SYSTEM_ROUTES,
  ],
});
