// An example for every route, and the tenant’s resources that it names.

import { expect } from 'chai';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { isOfBrowser } from '../../../http/kernel/callers.ts';
import type { JsonSchema } from '../../../http/kernel/jsonSchema.ts';
import type { JsonBody, Route } from '../../../http/kernel/route.ts';
import { logos } from '../../../infrastructure/logos/logos.ts';
import { cookieOf, filesForm, formOf, ownFiles, ownForm } from '../../world/browser.ts';
import { type CallOptions, newKey, type TestGateway } from '../../world/gateway.ts';
import { Merchant } from '../../world/merchant.ts';
import { AUDIT_EXAMPLES, makeAuditToken } from './auditExamples.ts';
import { CALLBACK_EXAMPLES, makeCallbacks } from './callbackExamples.ts';
import { openedCase, paidCharge, reviewedCase } from './caseExamples.ts';
import { CONNECTION_EXAMPLES, makeConnection } from './connectionExamples.ts';
import { DASHBOARD_EXAMPLES } from './dashboardExamples.ts';
import { EVIDENCE_EXAMPLES, makeEvidence } from './evidenceExamples.ts';
import {
  ACTS,
  type Act,
  type Cards,
  type Example,
  type Instruments,
  LOGO,
  NO_ID,
  type Owned,
  type Refunds,
  USER,
} from './exampleParts.ts';
import { makeSpare, OPS_EXAMPLES } from './opsExamples.ts';
import { makePayouts, PAYOUT_EXAMPLES } from './payoutExamples.ts';
import { RECONCILIATION_EXAMPLES } from './reconciliationExamples.ts';

export { NO_ID } from './exampleParts.ts';

import { rawIdOf } from '../../world/http.ts';

const CHARGE = { amount: 500, payment_method: 'pix' };
const URL = 'https://example.com/hook';
/** URL of the tenant’s own endpoint. Nothing listens there, and nothing leaves the machine. */
export const OWN_URL = 'http://127.0.0.1:1024/hook';
const ofMember = (rest: string, body?: object): Example => ({
  path: ({ memberId }) => `/v1/users/${memberId}${rest}`,
  absent: `/v1/users/usr_${NO_ID}${rest}`,
  ...(body && { body }),
  roles: MANAGERS,
  live: 401,
});
const MANAGERS = ['OWNER', 'ADMIN'] as const;
const PAYMENT = { amount: 500, paymentMethods: ['CREDIT_CARD'] };

const acquirer = (act: Act): Example => ({
  path: ({ cardIds }) => `/v1/sandbox/payments/${cardIds[act]}/${act}`,
  body: {},
  absent: `/v1/sandbox/payments/${NO_ID}/${act}`,
  live: 403,
});

/** Pass `fresh` if the route uses the case up. */
const ofCase = (base: string, rest: string, body: unknown, live: number, fresh?: Example['fresh']): Example => ({
  path: ({ caseId }) => `${base}/${caseId}${rest}`,
  ...(body !== undefined && { body }),
  absent: `${base}/med_${NO_ID}${rest}`,
  live,
  ...(fresh && { fresh }),
});
const CASES = '/v1/med/cases';
const INFRACTIONS = '/v1/infractions';
const SANDBOX_CASES = '/v1/sandbox/med/cases';
const APPEAL = { reason: 'It was delivered.' };

/** A payer’s page or one of its parts, which need no key. */
const ofPage = (idOf: (owned: Owned) => string, rest = ''): Example => ({
  path: (owned) => `/pay/${rawIdOf(idOf(owned))}${rest}`,
  absent: `/pay/${NO_ID}${rest}`,
  live: 200,
});

export const EXAMPLES: { readonly [operationId: string]: Example } = {
  createCharge: { body: CHARGE, live: 422 },
  createPixCharge: { body: { amount: 500 }, live: 422 },
  getCharge: { path: (owned) => `/v1/charges/${owned.chargeId}`, absent: `/v1/charges/ch_${NO_ID}`, live: 404 },
  createPayment: { body: { ...PAYMENT, idempotencyKey: 'the-same-each-time' }, live: 422 },
  getPayment: {
    path: (owned) => `/v1/payments/${owned.chargeId.slice(3)}`,
    absent: `/v1/payments/${NO_ID}`,
    live: 404,
  },
  refundPayment: {
    path: (owned) => `/v1/payments/${owned.paidId.slice(3)}/refund`,
    body: { idempotencyKey: 'refund-of-a-route' },
    absent: `/v1/payments/${NO_ID}/refund`,
    live: 404,
  },
  listRefunds: {
    path: (owned) => `/v1/payments/${owned.paidId.slice(3)}/refunds`,
    absent: `/v1/payments/${NO_ID}/refunds`,
    live: 404,
  },
  cancelPayment: {
    path: (owned) => `/v1/payments/${owned.chargeId.slice(3)}/cancel`,
    absent: `/v1/payments/${NO_ID}/cancel`,
    live: 404,
  },
  resendWebhook: {
    path: (owned) => `/v1/payments/${owned.chargeId.slice(3)}/resend-webhook`,
    absent: `/v1/payments/${NO_ID}/resend-webhook`,
    live: 404,
  },
  getProviderStatus: {
    path: (owned) => `/v1/payments/${owned.chargeId.slice(3)}/provider-status`,
    absent: `/v1/payments/${NO_ID}/provider-status`,
    live: 404,
  },
  getReceipt: {
    path: (owned) => `/v1/payments/${owned.paidId.slice(3)}/receipt`,
    absent: `/v1/payments/${NO_ID}/receipt`,
    live: 404,
  },
  listMedCases: { live: 200 },
  getMedCase: ofCase(CASES, '', undefined, 404),
  appealMedCase: ofCase(CASES, '/appeal', APPEAL, 404, openedCase),
  acceptMedCase: ofCase(CASES, '/accept', undefined, 404, openedCase),
  listInfractions: { live: 200 },
  getInfraction: ofCase(INFRACTIONS, '', undefined, 404),
  appealInfraction: ofCase(INFRACTIONS, '/appeal', APPEAL, 404, openedCase),
  acceptInfraction: ofCase(INFRACTIONS, '/accept', undefined, 404, openedCase),
  sandboxOpenMedCase: {
    path: ({ disputableId }) => `/v1/sandbox/charges/${disputableId}/med`,
    body: { provider_case_id: 'the-same-each-time' },
    absent: `/v1/sandbox/charges/ch_${NO_ID}/med`,
    live: 403,
  },
  sandboxRequestEvidence: ofCase(SANDBOX_CASES, '/request-evidence', {}, 403),
  sandboxDecideMedCase: ofCase(SANDBOX_CASES, '/decide', { result: 'agreed' }, 403, openedCase),
  sandboxWithdrawMedCase: ofCase(SANDBOX_CASES, '/withdraw', {}, 403, openedCase),
  sandboxReviewMedCase: ofCase(SANDBOX_CASES, '/review', { approve: true }, 403, reviewedCase),
  rotateOverrideSecret: { live: 200 },
  listCharges: { live: 200 },
  listPayments: { live: 200 },
  getPaymentStats: { live: 200 },
  getPaymentMetrics: { live: 200 },
  getBalance: { live: 200 },
  listWallets: { live: 200 },
  getStatement: { path: () => '/v1/statements/2026-01', live: 200 },
  registerWebhookEndpoint: { body: { url: URL, events: ['*'] }, live: 201 },
  listWebhookEndpoints: { live: 200 },
  deleteWebhookEndpoint: {
    path: (owned) => `/v1/webhooks/endpoints/${owned.endpointId}`,
    absent: `/v1/webhooks/endpoints/we_${NO_ID}`,
    live: 404,
  },
  changeWebhookEndpoint: {
    path: (owned) => `/v1/webhooks/endpoints/${owned.endpointId}`,
    body: { url: URL, events: ['charge.paid'], status: 'INACTIVE' },
    absent: `/v1/webhooks/endpoints/we_${NO_ID}`,
    live: 404,
  },
  rotateWebhookSecret: {
    path: (owned) => `/v1/webhooks/endpoints/${owned.endpointId}/rotate-secret`,
    body: {},
    absent: `/v1/webhooks/endpoints/we_${NO_ID}/rotate-secret`,
    live: 404,
  },
  pingWebhookEndpoint: {
    path: (owned) => `/v1/webhooks/endpoints/${owned.endpointId}/ping`,
    absent: `/v1/webhooks/endpoints/we_${NO_ID}/ping`,
    live: 404,
  },
  listWebhookDeliveries: { live: 200 },
  getWebhookDelivery: {
    path: (owned) => `/v1/webhooks/deliveries/${owned.deliveryId}`,
    absent: `/v1/webhooks/deliveries/wd_${NO_ID}`,
    live: 404,
  },
  retryWebhookDelivery: {
    path: (owned) => `/v1/webhooks/deliveries/${owned.deliveryId}/retry`,
    absent: `/v1/webhooks/deliveries/wd_${NO_ID}/retry`,
    live: 404,
  },
  redriveWebhookDeliveries: { body: { status: 'FAILED', dryRun: true }, live: 202 },
  getWebhookStats: { live: 200 },
  listEventCatalogue: { live: 200 },
  sandboxPay: {
    path: (owned) => `/v1/sandbox/charges/${owned.chargeId}/pay`,
    body: {},
    absent: `/v1/sandbox/charges/ch_${NO_ID}/pay`,
    live: 403,
  },
  sandboxAuthorize: acquirer('authorize'),
  sandboxRefuse: acquirer('refuse'),
  sandboxProcessing: acquirer('processing'),
  sandboxChargeback: acquirer('chargeback'),
  sandboxDispute: acquirer('dispute'),
  sandboxConfirmRefund: {
    path: (owned) => `/v1/sandbox/refunds/${owned.confirmId}/confirm`,
    body: {},
    absent: `/v1/sandbox/refunds/rf_${NO_ID}/confirm`,
    live: 403,
  },
  sandboxFailRefund: {
    path: (owned) => `/v1/sandbox/refunds/${owned.failId}/fail`,
    body: {},
    absent: `/v1/sandbox/refunds/rf_${NO_ID}/fail`,
    live: 403,
  },
  changeSandboxSettings: { body: {}, live: 403 },
  getSandboxClock: { live: 403 },
  advanceSandboxClock: { body: { seconds: 1 }, live: 403 },
  flushSandboxDeliveries: { body: {}, live: 403 },
  listRequestLogs: { live: 401 },
  logIn: { body: { email: USER.email, password: USER.password }, live: 200 },
  logOut: { live: 401 },
  changePassword: { body: { current_password: USER.password, new_password: USER.password }, live: 401 },
  enrolTotp: { body: {}, live: 401 },
  confirmTotp: { body: { code: '000000x' }, refusal: 400, live: 401 },
  issueApiKey: { body: { label: 'till', test: true }, roles: MANAGERS, live: 401 },
  listApiKeys: { live: 401 },
  listMembers: { roles: MANAGERS, live: 401 },
  inviteMember: {
    get body() {
      return { email: `convite-${newKey()}@example.com`, role: 'VIEWER', name: 'Bia Lima' };
    },
    roles: MANAGERS,
    live: 401,
  },
  changeMemberRole: ofMember('/role', { role: 'VIEWER' }),
  disableMember: ofMember('/disable'),
  enableMember: ofMember('/enable'),
  rotateApiKey: {
    path: ({ keyId }) => `/v1/api-keys/${keyId}/rotate`,
    body: {},
    absent: `/v1/api-keys/key_${NO_ID}/rotate`,
    roles: MANAGERS,
    live: 401,
  },
  revokeApiKey: {
    path: ({ keyId }) => `/v1/api-keys/${keyId}`,
    absent: `/v1/api-keys/key_${NO_ID}`,
    roles: MANAGERS,
    live: 401,
  },
  requestPasswordReset: { body: { email: 'ninguem@example.com' }, live: 202 },
  ...DASHBOARD_EXAMPLES,
  getAccountAsset: {
    path: () => '/account/assets/password.js',
    absent: `/account/assets/${NO_ID}`,
    live: 200,
  },
  showPasswordPage: { live: 200 },
  setPassword: { body: { token: 'none', password: USER.password }, live: 400 },
  getAccount: { live: 401 },
  changeAccountSettings: { body: { color: '#1a7f5c' }, roles: MANAGERS, live: 401 },
  uploadLogo: { upload: LOGO, roles: MANAGERS, live: 401 },
  removeLogo: { roles: MANAGERS, live: 401 },
  ...EVIDENCE_EXAMPLES,
  ...PAYOUT_EXAMPLES,
  ...CALLBACK_EXAMPLES,
  ...AUDIT_EXAMPLES,
  ...CONNECTION_EXAMPLES,
  ...RECONCILIATION_EXAMPLES,
  ...OPS_EXAMPLES,
  getCheckoutColor: { path: () => '/pay/colors/1a7f5c.css', absent: `/pay/colors/${NO_ID}`, live: 200 },
  getLogo: { path: () => `/pay/logos/${LOGO.sha256}`, absent: `/pay/logos/${'0'.repeat(64)}`, live: 200 },
  getCheckoutAsset: { path: () => '/pay/assets/checkout.css', absent: `/pay/assets/${NO_ID}`, live: 200 },
  showCheckout: ofPage(({ chargeId }) => chargeId),
  showCardPage: ofPage(({ cardIds }) => cardIds.authorize, '/card'),
  getCheckoutQr: ofPage(({ chargeId }) => chargeId, '/qr.png'),
  getCheckoutCryptoQr: ofPage(({ cryptoId }) => cryptoId, '/crypto.png'),
  getCheckoutBoleto: { ...ofPage(({ boletoId }) => boletoId, '/boleto.pdf'), path: ({ boletoPath }) => boletoPath },
  getPublicBoleto: ofPage(({ boletoId }) => boletoId, '/public/boleto.pdf'),
  getCheckoutReceipt: ofPage(({ paidId }) => paidId, '/receipt.pdf'),
  getCheckoutStatus: ofPage(({ chargeId }) => chargeId, '/status'),
  // The stream of a payment that can still change stays open (statusStreams.test.ts).
  streamCheckoutStatus: { ...ofPage(({ paidId }) => paidId, '/events'), live: 204 },
  getLiveness: { live: 200 },
  getReadiness: { live: 200 },
  getMetrics: { live: 200 },
};

const makeInstruments = async (gateway: TestGateway): Promise<Instruments> => {
  const made = async (method: string, amount: number, currency: string): Promise<Record<string, unknown>> => {
    const body = { amount, currency, paymentMethods: [method], idempotencyKey: newKey() };
    const reply = await gateway.post<{ id: string }>('/v1/payments', body);
    expect(reply.status, reply.text).to.equal(201);
    for (;;) {
      const { body: payment } = await gateway.get<Record<string, unknown>>(`/v1/payments/${reply.body.id}`);
      if (payment['status'] !== 'PENDING') return payment;
    }
  };
  const [boleto, crypto] = await Promise.all([made('BOLETO', 10_000, 'BRL'), made('CRYPTO', 10_000, 'USDT')]);
  const { pathname, search } = new globalThis.URL(boleto['boletoPdfUrl'] as string);
  return { boletoPath: pathname + search, boletoId: boleto['id'] as string, cryptoId: crypto['id'] as string };
};

const makeRefunds = async (gateway: TestGateway): Promise<Refunds> => {
  expect((await gateway.post('/v1/sandbox/settings', { auto_confirm_refunds: false })).status).to.equal(200);
  const { id: paidId } = (await gateway.charge<{ id: string }>()).body;
  expect((await gateway.post(`/v1/sandbox/charges/${paidId}/pay`, {})).status).to.equal(200);
  const refund = async (idempotencyKey: string) => {
    const body = { idempotencyKey, amount: 1 };
    const reply = await gateway.post<{ id: string }>(`/v1/payments/${paidId}/refund`, body);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body.id;
  };
  return { paidId, confirmId: await refund('to-confirm'), failId: await refund('to-fail-later') };
};

const makeCards = async (gateway: TestGateway): Promise<Cards> => {
  const make = async (act: Act): Promise<readonly [Act, string]> => {
    const reply = await gateway.post<{ id: string }>('/v1/payments', { ...PAYMENT, idempotencyKey: newKey() });
    expect(reply.status, reply.text).to.equal(201);
    const { id } = reply.body;
    if (act === 'chargeback' || act === 'dispute')
      expect((await gateway.post(`/v1/sandbox/payments/${id}/authorize`)).status).to.equal(200);
    return [act, id];
  };
  return { cardIds: Object.fromEntries(await Promise.all(ACTS.map(make))) as Cards['cardIds'] };
};

/** Returns the route’s JSON body, or null if it takes none. */
export const bodyOf = ({ body }: Route): (JsonBody<never> & { readonly schema: JsonSchema }) | null =>
  body.kind === 'json' ? body : null;

/** Returns the schema of the route’s JSON answer with this status, or null if it isn’t JSON. */
export const answerSchemaOf = ({ responses }: Route, status: number): JsonSchema | null => {
  const response = responses[status];
  return response?.kind === 'json' ? response.schema : null;
};

/** Returns what a request to the route sends: JSON, a file, or a form with the session’s token. */
export const sentTo = (
  route: Route,
  headers: Readonly<Record<string, string>> & { readonly authorization?: string },
): Pick<CallOptions, 'body' | 'raw' | 'form' | 'headers'> => {
  const { body, upload, files } = exampleOf(route);
  const { authorization = '', ...others } = headers;
  const isOfMember = isOfBrowser(route.principal);
  const session = isOfMember && authorization.startsWith('Bearer ') ? { authorization } : null;
  const form = files && (session ? ownFiles(session, files) : filesForm({}, files));
  return {
    headers: {
      ...form?.headers,
      ...(upload && { 'content-type': upload.contentType }),
      ...(isOfMember ? others : headers),
      ...(session && cookieOf(session)),
    },
    ...(upload && { raw: upload.bytes }),
    ...(form && { raw: form.raw }),
    ...(body !== undefined && route.body.kind !== 'form' && { body }),
    ...(route.body.kind === 'form' && (session ? ownForm(session, body as Fields) : formOf(body as Fields))),
  };
};
type Fields = Readonly<Record<string, string>>;

export const exampleOf = ({ operationId }: Route): Example => EXAMPLES[operationId] as Example;

/** Creates a delivery to a payment’s own webhook URL, where nothing listens. */
const makeDelivery = async (gateway: TestGateway): Promise<{ readonly deliveryId: string }> => {
  const body = { ...PAYMENT, idempotencyKey: newKey(), webhookUrl: OWN_URL };
  expect((await gateway.post('/v1/payments', body)).status).to.equal(201);
  // The delivery is created once a job has added the card instrument.
  const [delivery] = await new Merchant(gateway, gateway.tenant.testKey).untilDeliveries((all) => all.length > 0);
  return { deliveryId: delivery?.id ?? '' };
};

/** Stores a logo to be served, in an account whose logo no route changes. */
const makeLogo = async (gateway: TestGateway): Promise<object> => {
  await logos(gateway.storage.operations).put((await gateway.newTenant()).accountId, LOGO);
  return {};
};

/** Issues a key that no test uses, by default to the first tenant. Returns its id. */
export const makeKey = async (
  { gateway, tenant: first }: TestGateway,
  label = 'spare',
  tenant = first,
): Promise<string> => {
  const wish = { mode: 'test', label } as const;
  const by = { actor: 'operator:test', requestId: null };
  const issued = await gateway.services.issueApiKey(tenant.accountId, wish, by);
  if (isRejection(issued)) throw new Error(issued.message);
  return PREFIX.key + issued.key.keyId;
};

/** Writes a request to the request log and returns its id. */
const makeRequest = async (gateway: TestGateway): Promise<string> => {
  await gateway.get('/v1/wallets', { headers: { 'x-request-id': 'of-examples' } });
  await gateway.writeRequests();
  const [made] = await gateway.gateway.services.requestsWithId(gateway.tenant.accountId, 'of-examples');
  return PREFIX.requestLog + made?.id;
};

/** Resources that all tests share. */
export type Made = Omit<Owned, 'chargeId' | 'endpointId' | 'keyId'>;
export const makeOnce = async (gateway: TestGateway): Promise<Made> => ({
  user: await gateway.addUser('OWNER', USER),
  requestLogId: await makeRequest(gateway),
  memberId: `usr_${(await gateway.addUser('MEMBER')).userId}`,
  ...(await makeRefunds(gateway)),
  ...(await makeCards(gateway)),
  ...(await openedCase(gateway)),
  disputableId: await paidCharge(gateway),
  ...(await makeInstruments(gateway)),
  ...(await makeDelivery(gateway)),
  ...(await makeLogo(gateway)),
  ...(await makeEvidence(gateway)),
  ...(await makePayouts(gateway)),
  ...(await makeCallbacks(gateway)),
  ...(await makeAuditToken(gateway)),
  ...(await makeConnection(gateway)),
  ...(await makeSpare(gateway)),
  accountId: ACCOUNT.idPrefix + gateway.tenant.accountId,
});
