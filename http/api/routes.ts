// The HTTP modules of the capabilities. The routes, the chapters of the reference and the OpenAPI document derive from this list.
import { OPERATIONS_ROUTES } from '../kernel/health.ts';
import { type HttpModule, inMatchingOrder } from '../kernel/httpModule.ts';
import type { Route } from '../kernel/route.ts';
import { CHECKOUT_ROUTES } from '../site/checkoutRoutes.ts';
import { PASSWORD_ROUTES } from '../site/passwordRoutes.ts';
import { access } from './access/module.ts';
import { accounts } from './accounts/module.ts';
import { audit } from './audit/module.ts';
import { disputes } from './disputes/module.ts';
import { ops } from './ops/module.ts';
import { payments } from './payments/module.ts';
import { payouts } from './payouts/module.ts';
import { privacy } from './privacy/module.ts';
import { providers } from './providers/module.ts';
import { refunds } from './refunds/module.ts';
import { requests } from './requests/requestLogs.ts';
import { sandbox } from './sandbox/module.ts';
import { statements } from './statements/statements.ts';
import { stats } from './stats/stats.ts';
import { wallets } from './wallets/wallets.ts';
import { webhooks } from './webhooks/module.ts';

/** The modules in the order of the reference's chapters. */
export const HTTP_MODULES: readonly HttpModule[] = [
  payments,
  stats,
  refunds,
  payouts,
  disputes,
  wallets,
  statements,
  webhooks,
  sandbox,
  requests,
  access,
  accounts,
  providers,
  privacy,
  ops,
  audit,
];

const CHAPTERS = HTTP_MODULES.flatMap(({ chapters }) => chapters);

/** The routes of the JSON API by chapter. */
export const API_ROUTES = inMatchingOrder(
  HTTP_MODULES.flatMap(({ routes }) => routes).toSorted((a, b) => CHAPTERS.indexOf(a.tag) - CHAPTERS.indexOf(b.tag)),
);

/** Every route: the JSON API, the pages for payers, health and metrics. */
export const ROUTES: readonly Route[] = [
  ...API_ROUTES,
  ...HTTP_MODULES.flatMap(({ undocumentedRoutes }) => undocumentedRoutes),
  ...CHECKOUT_ROUTES,
  ...PASSWORD_ROUTES,
  ...OPERATIONS_ROUTES,
];
