// The pages of the dashboard under /dashboard.
import { reject } from '../../../domain/kernel/rejection.ts';
import type { Role } from '../../../domain/user/user.ts';
import { PLATFORM_PAGES, SIGN_IN } from '../../kernel/callers.ts';
import { pathParam, type Route, route } from '../../kernel/route.ts';
import { NOT_MODIFIED } from '../../kernel/send.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
import { sentAsset } from '../assets.ts';
import { KEY_PAGES } from './developers/keys.ts';
import { requestRoute } from './developers/request.ts';
import { requestsRoute } from './developers/requests.ts';
import { DISPUTE_ACTIONS } from './disputes/actions.ts';
import { sendEvidenceRoute } from './disputes/evidence.ts';
import { disputesRoute } from './disputes/list.ts';
import { disputeRoute } from './disputes/one.ts';
import { DASHBOARD_ASSETS } from './layout.ts';
import { LIVE_STREAMS } from './live.ts';
import { overviewRoute } from './overview.ts';
import { PAGES, REDIRECT } from './page.ts';
import { PAYMENT_ACTIONS } from './payments/actions.ts';
import { createPaymentPageRoute, newPaymentRoute } from './payments/create.ts';
import { exportPaymentsRoute, paymentsRoute } from './payments/list.ts';
import { paymentRoute } from './payments/one.ts';
import { refundRoute } from './payments/refund.ts';
import { createPayoutRoute, newPayoutRoute } from './payouts/create.ts';
import { payoutsRoute } from './payouts/list.ts';
import { PAYOUT_PAGES } from './payouts/one.ts';
import { PLATFORM_ROUTES } from './platform/routes.ts';
import { SANDBOX_PAGES } from './sandbox.ts';
import { ACCOUNT_PAGES } from './settings/account.ts';
import { LOGO_PAGES } from './settings/logo.ts';
import { OWN_USER_PAGES } from './settings/ownUser.ts';
import { TEAM_PAGES } from './settings/team.ts';
import { SIGN_IN_ROUTES } from './signIn.ts';
import { statementPageRoute } from './statements.ts';
import { walletRoute } from './wallet.ts';
import { DELIVERY_PAGES } from './webhooks/delivery.ts';
import { ENDPOINT_PAGES } from './webhooks/endpoint.ts';
import { createEndpointRoute, newEndpointRoute } from './webhooks/endpointForm.ts';
import { webhooksRoute } from './webhooks/list.ts';
import { REDRIVE_PAGES } from './webhooks/redrive.ts';

const assetRoute = route('GET', '/dashboard/assets/{name}', {
  operationId: 'getDashboardAsset',
  summary: 'Get a file of the dashboard',
  tag: PAGES,
  principal: 'public',
  params: {
    name: pathParam(
      'The name of the file.',
      (text) => DASHBOARD_ASSETS.find(text) ?? reject('not_found', 'There is no such file.'),
    ),
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The file. Its URL in the pages changes with its content.',
      contentTypes: ['text/css', 'text/javascript', 'image/svg+xml'],
    },
    304: NOT_MODIFIED,
  },
  handle: async ({ params: { name: asset } }) => sentAsset(asset),
});

/** Returns the path of the user's own pages, or the sign-in page if they are on another listener. */
const startOf = (role: Role, { operatorsLogIn, hasMembersPages }: AppServices): string => {
  if (role === 'OPERATOR') return operatorsLogIn ? PLATFORM_PAGES : SIGN_IN;
  return hasMembersPages ? '/dashboard/test' : SIGN_IN;
};

const startRoute = route('GET', '/dashboard', {
  tag: PAGES,
  principal: 'anyMember',
  operationId: 'showDashboard',
  summary: 'Lead to the overview: of an account in test mode, or of the platform',
  responses: { 303: REDIRECT },
  handle: async ({ caller, services }) => ({ status: 303, headers: { Location: startOf(caller.role, services) } }),
});

const loginRoute = route('GET', '/login', {
  operationId: 'leadToDashboard',
  summary: 'Lead to the dashboard, for people who guess its address',
  tag: PAGES,
  principal: 'public',
  responses: { 303: REDIRECT },
  handle: async () => ({ status: 303, headers: { Location: '/dashboard' } }),
});

const SIGNING_IN: readonly Route[] = [assetRoute, startRoute, loginRoute, ...SIGN_IN_ROUTES];
/** Returns whether members of accounts and operators both need the route to sign in or out. */
export const isForSigningIn = (one: Route): boolean => SIGNING_IN.includes(one);

export const DASHBOARD_ROUTES: readonly Route[] = [
  ...SIGNING_IN,
  ...PLATFORM_ROUTES,
  overviewRoute,
  paymentsRoute,
  exportPaymentsRoute,
  newPaymentRoute,
  createPaymentPageRoute,
  ...LIVE_STREAMS,
  paymentRoute,
  refundRoute,
  ...PAYMENT_ACTIONS,
  walletRoute,
  statementPageRoute,
  payoutsRoute,
  newPayoutRoute,
  createPayoutRoute,
  ...PAYOUT_PAGES,
  disputesRoute,
  disputeRoute,
  sendEvidenceRoute,
  ...DISPUTE_ACTIONS,
  webhooksRoute,
  ...DELIVERY_PAGES,
  newEndpointRoute,
  createEndpointRoute,
  ...ENDPOINT_PAGES,
  ...REDRIVE_PAGES,
  ...KEY_PAGES,
  requestsRoute,
  requestRoute,
  ...SANDBOX_PAGES,
  ...ACCOUNT_PAGES,
  ...LOGO_PAGES,
  ...TEAM_PAGES,
  ...OWN_USER_PAGES,
];
