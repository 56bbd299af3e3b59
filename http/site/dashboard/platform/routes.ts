// The pages of operators under /dashboard/platform. Where operators have a listener of their own, they exist only there (rule S7).
import type { Route } from '../../../kernel/route.ts';
import { ACCOUNT_PAGES } from './account.ts';
import { ACCOUNT_ACTIONS } from './accountActions.ts';
import { ACCOUNT_LIST_PAGES } from './accounts.ts';
import { CALLBACK_PAGES } from './callbacks.ts';
import { CONNECTION_PAGES } from './connection.ts';
import { CONNECTION_LIST_PAGES } from './connections.ts';
import { CASE_PAGES } from './dispute.ts';
import { CASE_REVIEW_PAGES } from './disputes.ts';
import { HELD_PAGES } from './held.ts';
import { OPERATIONS_PAGES } from './operations/routes.ts';
import { OPERATOR_PAGES } from './operators.ts';
import { PLATFORM_OVERVIEW } from './overview.ts';
import { PAYOUT_REVIEW_PAGES } from './payouts.ts';
import { FINDING_PAGES, RECONCILIATION_PAGES } from './reconciliation.ts';
import { SECURITY_PAGES } from './security.ts';
import { OPERATOR_SETTINGS_PAGES } from './settings.ts';
import { USER_PAGES } from './user.ts';

export const PLATFORM_ROUTES: readonly Route[] = [
  ...PLATFORM_OVERVIEW,
  ...OPERATIONS_PAGES,
  ...HELD_PAGES,
  ...CASE_REVIEW_PAGES,
  ...CASE_PAGES,
  ...PAYOUT_REVIEW_PAGES,
  ...CONNECTION_LIST_PAGES,
  ...FINDING_PAGES,
  ...CONNECTION_PAGES,
  ...RECONCILIATION_PAGES,
  ...CALLBACK_PAGES,
  ...ACCOUNT_LIST_PAGES,
  ...ACCOUNT_PAGES,
  ...ACCOUNT_ACTIONS,
  ...OPERATOR_PAGES,
  ...USER_PAGES,
  ...SECURITY_PAGES,
  ...OPERATOR_SETTINGS_PAGES,
];
