// The pages of operators under /dashboard/platform. Where operators have a listener of their own, they exist only there (rule S7).
import type { Route } from '../../../kernel/route.ts';
import { OPERATIONS_PAGES } from './operations/routes.ts';
import { PLATFORM_OVERVIEW } from './overview.ts';
import { OPERATOR_SETTINGS_PAGES } from './settings.ts';

export const PLATFORM_ROUTES: readonly Route[] = [
  ...PLATFORM_OVERVIEW,
  ...OPERATIONS_PAGES,
  ...OPERATOR_SETTINGS_PAGES,
];
