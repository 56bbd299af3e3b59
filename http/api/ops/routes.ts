// What operators of the platform ask for (rule O1), as `npm run cli` does it.
import type { Route } from '../../kernel/route.ts';
import { OPS_ACCOUNT_ROUTES } from './accounts.ts';
import { OPS_KEY_ROUTES } from './keys.ts';
import { OPS_LEDGER_ROUTES } from './ledger.ts';
import { OPS_LOG_ROUTES } from './log.ts';
import { OPS_MED_ROUTES } from './med.ts';
import { OPS_PARKED_ROUTES } from './parked.ts';
import { OPS_PAYOUT_ROUTES } from './payouts.ts';
import { OPS_USER_ROUTES } from './users.ts';
import { OPS_WORK_ROUTES } from './work.ts';

export const OPS_ROUTES: readonly Route[] = [
  ...OPS_ACCOUNT_ROUTES,
  ...OPS_KEY_ROUTES,
  ...OPS_USER_ROUTES,
  ...OPS_WORK_ROUTES,
  ...OPS_MED_ROUTES,
  ...OPS_PAYOUT_ROUTES,
  ...OPS_LEDGER_ROUTES,
  ...OPS_LOG_ROUTES,
  ...OPS_PARKED_ROUTES,
];
