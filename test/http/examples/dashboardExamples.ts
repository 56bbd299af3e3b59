// Examples for the dashboard’s pages. Without a session, programs get 401 and browsers are redirected to sign-in.
import { newKey, type TestGateway } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import { openedCase, paidCharge } from './caseExamples.ts';
import { type Example, NO_ID, type Owned, PICTURE } from './exampleParts.ts';
import { OPERATIONS_PAGE_EXAMPLES } from './operationsPageExamples.ts';
import { waitingPayout } from './payoutExamples.ts';
import { PLATFORM_PAGE_EXAMPLES } from './platformPageExamples.ts';

const CHANGERS = ['OWNER', 'ADMIN', 'MEMBER'] as const;
const MANAGERS = ['OWNER', 'ADMIN'] as const;
const TEST = '/dashboard/test';
const page = (path: string): Example => ({ path: () => path, live: 401 });

const ofPayment = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ chargeId }) => `${TEST}/payments/${rawIdOf(chargeId)}${rest}`,
  absent: `${TEST}/payments/${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const paid = async (gateway: TestGateway): Promise<Partial<Owned>> => {
  const { id } = (await gateway.charge<{ id: string }>()).body;
  await gateway.post(`/v1/sandbox/charges/${id}/pay`);
  return { chargeId: id };
};
const open = async (gateway: TestGateway): Promise<Partial<Owned>> => ({
  chargeId: (await gateway.charge<{ id: string }>()).body.id,
});
const ofDelivery = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ deliveryId }) => `${TEST}/webhooks/deliveries/${deliveryId.slice('wd_'.length)}${rest}`,
  absent: `${TEST}/webhooks/deliveries/${NO_ID}${rest}`,
  live: 401,
  ...more,
});

const PAYOUT_FORM = { amount: '0,01', destination: 'ana@example.com', step: 'confirm' };
const withFunds = async (gateway: TestGateway): Promise<Partial<Owned>> => ({ chargeId: await paidCharge(gateway) });
const ofCase = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ caseId }) => `${TEST}/disputes/${caseId.slice('med_'.length)}${rest}`,
  absent: `${TEST}/disputes/${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const ofPayout = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ waitingPayoutId }) => `${TEST}/payouts/${waitingPayoutId.slice('po_'.length)}${rest}`,
  absent: `${TEST}/payouts/${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const HOOK = { url: 'https://example.com/hooks', events: 'charge.paid' };
const ofEndpoint = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ endpointId }) => `${TEST}/webhooks/endpoints/${endpointId}${rest}`,
  absent: `${TEST}/webhooks/endpoints/we_${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const ofKey = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ keyId }) => `${TEST}/developers/keys/${keyId}${rest}`,
  absent: `${TEST}/developers/keys/key_${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const ofUser = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ memberId }) => `${TEST}/settings/team/${memberId}${rest}`,
  absent: `${TEST}/settings/team/usr_${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const managed = { body: {}, roles: MANAGERS } as const;

export const DASHBOARD_EXAMPLES: { readonly [operationId: string]: Example } = {
  getDashboardAsset: {
    path: () => '/dashboard/assets/dashboard.css',
    absent: `/dashboard/assets/${NO_ID}`,
    live: 200,
  },
  showDashboard: page('/dashboard'),
  ...PLATFORM_PAGE_EXAMPLES,
  ...OPERATIONS_PAGE_EXAMPLES,
  leadToDashboard: { live: 303 },
  showSignIn: { live: 200 },
  signIn: { body: { email: 'nobody@example.com', password: 'a wrong password' }, live: 401 },
  signOut: { body: {}, live: 401 },
  askForPassword: { body: { email: 'nobody@example.com' }, live: 303 },
  showOverview: page(TEST),
  showPayments: page(`${TEST}/payments`),
  exportPayments: page(`${TEST}/payments/export`),
  // Without a `shown` version, the stream ends at once.
  streamOverview: page(`${TEST}/events`),
  streamPayment: ofPayment('/events'),
  showNewPayment: {
    ...page(`${TEST}/payments/new`),
    roles: CHANGERS,
  },
  createFromPage: {
    ...page(`${TEST}/payments/new`),
    body: { amount: '12,34', description: 'A book' },
    roles: CHANGERS,
  },
  showPayment: ofPayment(''),
  cancelFromPage: ofPayment('/cancel', { body: {}, roles: CHANGERS, fresh: open }),
  refundFromPage: ofPayment('/refund', { body: { amount: '1,00', step: 'confirm' }, roles: CHANGERS, fresh: paid }),
  resendFromPage: ofPayment('/resend', { body: {}, roles: CHANGERS, fresh: open }),
  actFromPage: {
    path: ({ cardIds }) => `${TEST}/payments/${cardIds.authorize}/act`,
    absent: `${TEST}/payments/${NO_ID}/act`,
    live: 401,
    body: { as: 'authorize' },
    roles: CHANGERS,
  },
  decideRefundFromPage: {
    path: ({ paidId, confirmId }) => `${TEST}/payments/${rawIdOf(paidId)}/refunds/${confirmId}/decide`,
    absent: `${TEST}/payments/${NO_ID}/refunds/rf_${NO_ID}/decide`,
    live: 401,
    body: { as: 'paid' },
    roles: CHANGERS,
  },
  payFromPage: ofPayment('/pay', { body: {}, roles: CHANGERS, fresh: open }),
  openDisputeFromPage: ofPayment('/dispute', { body: {}, roles: CHANGERS, fresh: paid }),
  showWallet: page(`${TEST}/wallet`),
  downloadStatementFromPage: page(`${TEST}/statements/2026-01`),
  showPayouts: page(`${TEST}/payouts`),
  showNewPayout: { ...page(`${TEST}/payouts/new`), roles: MANAGERS },
  requestPayoutFromPage: {
    ...page(`${TEST}/payouts/new`),
    body: PAYOUT_FORM,
    roles: MANAGERS,
    fresh: withFunds,
  },
  showPayoutPage: ofPayout(''),
  downloadPayoutReceipt: {
    path: ({ payoutId }) => `${TEST}/payouts/${rawIdOf(payoutId)}/receipt.pdf`,
    absent: `${TEST}/payouts/${NO_ID}/receipt.pdf`,
    live: 401,
  },
  decidePayoutFromPage: {
    path: ({ confirmPayoutId }) => `${TEST}/payouts/${rawIdOf(confirmPayoutId)}/decide`,
    absent: `${TEST}/payouts/${NO_ID}/decide`,
    live: 401,
    ...managed,
    body: { as: 'paid' },
  },
  cancelPayoutFromPage: ofPayout('/cancel', { body: {}, roles: MANAGERS, fresh: waitingPayout }),
  approvePayoutFromPage: ofPayout('/approve', { body: {}, roles: MANAGERS, fresh: waitingPayout }),
  rejectPayoutFromPage: ofPayout('/reject', { body: { reason: 'no' }, roles: MANAGERS, fresh: waitingPayout }),
  showDisputes: page(`${TEST}/disputes`),
  showDispute: ofCase(''),
  appealFromPage: ofCase('/appeal', { body: { reason: 'It was delivered.' }, roles: CHANGERS, fresh: openedCase }),
  acceptFromPage: ofCase('/accept', { body: { confirm: 'yes' }, roles: MANAGERS, fresh: openedCase }),
  sendEvidenceFromPage: ofCase('/evidence', { files: [PICTURE], roles: CHANGERS, fresh: openedCase }),
  decideFromPage: ofCase('/decide', { body: { as: 'agreed' }, roles: CHANGERS, fresh: openedCase }),
  showWebhooks: page(`${TEST}/webhooks`),
  showDelivery: ofDelivery(''),
  retryFromPage: ofDelivery('/retry', { body: {}, roles: MANAGERS }),
  showNewEndpoint: { ...page(`${TEST}/webhooks/endpoints/new`), roles: MANAGERS },
  createEndpointFromPage: { ...page(`${TEST}/webhooks/endpoints/new`), body: HOOK, roles: MANAGERS },
  showEndpoint: ofEndpoint(''),
  changeEndpointFromPage: ofEndpoint('', { ...managed, body: HOOK }),
  pauseEndpointFromPage: ofEndpoint('/status', managed),
  deleteEndpointFromPage: ofEndpoint('/delete', managed),
  pingEndpointFromPage: ofEndpoint('/ping', managed),
  rotateSecretFromPage: ofEndpoint('/rotate-secret', managed),
  showRedrive: { ...page(`${TEST}/webhooks/redrive`), roles: MANAGERS },
  redriveFromPage: { ...page(`${TEST}/webhooks/redrive`), ...managed },
  showDevelopers: page(`${TEST}/developers`),
  issueKeyFromPage: { ...page(`${TEST}/developers/keys`), ...managed },
  showKey: ofKey(''),
  rotateKeyFromPage: ofKey('/rotate', managed),
  revokeKeyFromPage: ofKey('/revoke', managed),
  showRequestPage: {
    path: ({ requestLogId }) => `${TEST}/developers/requests/${requestLogId}`,
    absent: `${TEST}/developers/requests/log_${NO_ID}`,
    live: 401,
  },
  showRequests: page(`${TEST}/developers/requests`),
  showSandbox: page(`${TEST}/sandbox`),
  moveClockFromPage: { ...page(`${TEST}/sandbox/clock`), ...managed, body: { count: '1', unit: 'minutes' } },
  showSettings: page(`${TEST}/settings`),
  changeSettingsFromPage: { ...page(`${TEST}/settings`), ...managed },
  showTeam: { ...page(`${TEST}/settings/team`), roles: MANAGERS },
  inviteFromPage: {
    ...page(`${TEST}/settings/team`),
    get body() {
      return { email: `convite-${newKey()}@example.com`, role: 'VIEWER' };
    },
    roles: MANAGERS,
  },
  changeRoleFromPage: ofUser('/role', { ...managed, body: { role: 'VIEWER' } }),
  disableUserFromPage: ofUser('/disable', managed),
  enableUserFromPage: ofUser('/enable', managed),
  sendLogoFromPage: { ...page(`${TEST}/settings/logo`), files: [PICTURE], roles: MANAGERS },
  removeLogoFromPage: { ...page(`${TEST}/settings/logo/remove`), ...managed },
  changePasswordFromPage: { ...page(`${TEST}/settings/password`), body: { current: 'a wrong one', wanted: 'short' } },
  enrolFromPage: { ...page(`${TEST}/settings/second-factor`), body: {} },
  confirmFromPage: { ...page(`${TEST}/settings/second-factor/confirm`), body: { code: '000000' } },
};
