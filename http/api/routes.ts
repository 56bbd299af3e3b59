// The HTTP modules of the capabilities. The routes, the chapters of the reference and the OpenAPI document derive from this list.
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
import { OPERATIONS_ROUTES } from '../kernel/health.ts';
import { type HttpModule, inMatchingOrder } from '../kernel/httpModule.ts';
import type { Route } from '../kernel/route.ts';
import { CHECKOUT_ROUTES } from '../site/checkoutRoutes.ts';
import { DASHBOARD_ROUTES } from '../site/dashboard/routes.ts';
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

/** Returns the modules in the order of the reference's chapters. Routes that show or change settings take the declared ones. */
const modulesFor = (declared: DeclaredSettings): readonly HttpModule[] => [
  payments,
  stats,
  refunds,
  payouts,
  disputes,
  wallets,
  statements,
  webhooks,
  sandbox(declared),
  requests,
  access,
  accounts(declared),
  providers,
  privacy,
  ops,
  audit,
];

interface Routes {
  /** The routes of the JSON API by chapter. */
  readonly api: readonly Route[];
  /** Every route: the JSON API, the pages for payers, health and metrics. */
  readonly all: readonly Route[];
}

const routesOf = (modules: readonly HttpModule[]): Routes => {
  const chapters = modules.flatMap((one) => one.chapters);
  const routes = modules.flatMap((one) => one.routes);
  const api = inMatchingOrder(routes.toSorted((a, b) => chapters.indexOf(a.tag) - chapters.indexOf(b.tag)));
  const undocumented = modules.flatMap(({ undocumentedRoutes }) => undocumentedRoutes);
  return {
    api,
    all: [...api, ...undocumented, ...CHECKOUT_ROUTES, ...DASHBOARD_ROUTES, ...PASSWORD_ROUTES, ...OPERATIONS_ROUTES],
  };
};

/** Returns the routes for these settings, to which an extension may have added its own. */
export const routesFor = (declared: DeclaredSettings): Routes =>
  declared === DECLARED_SETTINGS ? PRODUCT : routesOf(modulesFor(declared));

export const HTTP_MODULES = modulesFor(DECLARED_SETTINGS);
const PRODUCT = routesOf(HTTP_MODULES);
export const { api: API_ROUTES, all: ROUTES } = PRODUCT;
