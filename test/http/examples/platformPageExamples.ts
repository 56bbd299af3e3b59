// Examples for the operators’ pages.
import { randomBytes } from 'node:crypto';
import { PLATFORM_PAGES } from '../../../http/kernel/callers.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { refusedReturn } from '../../world/refusedReturn.ts';
import { makeCallbacks } from './callbackExamples.ts';
import { contradictedCase, mismatchedCase, reviewedCase } from './caseExamples.ts';
import { makeConnection } from './connectionExamples.ts';
import { type Example, NO_ID, type Owned, PICTURE } from './exampleParts.ts';
import { waitingPayout } from './payoutExamples.ts';

const page = (rest: string, more: Partial<Example> = {}): Example => ({
  path: () => `${PLATFORM_PAGES}${rest}`,
  live: 401,
  ...more,
});
const of =
  (folder: string, absent: string, idOf: (owned: Owned) => string) =>
  (rest: string, more: Partial<Example> = {}): Example => ({
    path: (owned) => `${PLATFORM_PAGES}/${folder}/${idOf(owned)}${rest}`,
    absent: `${PLATFORM_PAGES}/${folder}/${absent}${rest}`,
    live: 401,
    ...more,
  });

const ofHeld = of('held', `tx_${NO_ID}`, ({ heldIds }) => heldIds[2]);
const ofCase = of('disputes', `med_${NO_ID}`, ({ caseId }) => caseId);
const ofPayout = of('payouts', `po_${NO_ID}`, ({ waitingPayoutId }) => waitingPayoutId);
const ofConnection = of('connections', `pc_${NO_ID}`, ({ providerId }) => providerId);
const ofAccount = of('accounts', `acct_${NO_ID}`, ({ spareAccountId }) => spareAccountId);
const ofKey = (rest: string): Example => ({
  path: ({ accountId, keyId }) => `${PLATFORM_PAGES}/accounts/${accountId}/keys/${keyId}${rest}`,
  absent: `${PLATFORM_PAGES}/accounts/acct_${NO_ID}/keys/key_${NO_ID}${rest}`,
  body: {},
  live: 401,
});
const ofUser = of('users', `usr_${NO_ID}`, ({ spareUserId }) => spareUserId);

const refused = async (gateway: TestGateway): Promise<Partial<Owned>> => ({
  heldIds: ['', '', (await refusedReturn(gateway)).id],
});
const REASON = 'Seen and understood.';
/** Returns a new address each time. */
const freshEmail = (): string => `page-${randomBytes(6).toString('hex')}@example.com`;
const FINDING = `/connections/findings/rf_${NO_ID}/resolve`;

export const PLATFORM_PAGE_EXAMPLES: { readonly [operationId: string]: Example } = {
  showPlatform: page(''),
  showHeldPayments: page('/held'),
  showHeldPayment: ofHeld(''),
  releaseHeldFromPage: ofHeld('/release', { body: {}, fresh: refused }),
  returnHeldFromPage: ofHeld('/return', { body: {}, fresh: refused }),
  settleHeldFromPage: ofHeld('/settle', { body: { how: 'writtenOff', reason: REASON }, fresh: refused }),
  showCaseReviews: page('/disputes'),
  openCaseFromPage: page('/disputes', { body: { chargeId: 'none' } }),
  showCaseReview: ofCase(''),
  approveCaseFromPage: ofCase('/approve', { body: {}, fresh: reviewedCase }),
  rejectCaseFromPage: ofCase('/reject', { body: {}, fresh: reviewedCase }),
  settleCaseFromPage: ofCase('/settle', { body: { verdict: 'nothing', reason: REASON }, fresh: mismatchedCase }),
  dismissCaseReportFromPage: ofCase('/dismiss', { body: { reason: REASON }, fresh: contradictedCase }),
  ruleCaseFromPage: ofCase('/rule', { body: { verdict: 'agreed' } }),
  showPayoutReviews: page('/payouts'),
  showPayoutReview: ofPayout(''),
  approvePayoutReviewFromPage: ofPayout('/approve', { body: {}, fresh: waitingPayout }),
  rejectPayoutReviewFromPage: ofPayout('/reject', { body: { reason: REASON }, fresh: waitingPayout }),
  showConnections: page('/connections'),
  showNewConnection: page('/connections/new'),
  addConnectionFromPage: page('/connections/new', { body: { preset: 'none' } }),
  showFindings: page('/connections/findings'),
  resolveFindingFromPage: page(FINDING, { body: { reason: REASON }, absent: PLATFORM_PAGES + FINDING, refusal: 404 }),
  showConnection: ofConnection(''),
  changeConnectionFromPage: ofConnection('', { body: { name: 'Banco' } }),
  enableConnectionFromPage: ofConnection('/enable', { body: {} }),
  drainConnectionFromPage: ofConnection('/drain', { body: {} }),
  disableConnectionFromPage: ofConnection('/disable', { body: {} }),
  removeConnectionFromPage: ofConnection('/remove', { body: {}, fresh: makeConnection }),
  rotateClientSecretFromPage: ofConnection('/client-secret', { body: { clientSecret: 'another secret' } }),
  rotateCallbackUrlFromPage: ofConnection('/callback-url', { body: {} }),
  checkConnectionFromPage: ofConnection('/check', { body: {} }),
  askConnectionWebhookFromPage: ofConnection('/webhook', { body: {} }),
  compareConnectionFromPage: ofConnection('/compare', { body: {} }),
  showConnectionReport: ofConnection('/report?day=2026-01-02'),
  resolveCallbackFromPage: {
    path: ({ callbackConnectionId, callbackId }) =>
      `${PLATFORM_PAGES}/connections/${callbackConnectionId}/callbacks/${callbackId}/resolve`,
    absent: `${PLATFORM_PAGES}/connections/pc_${NO_ID}/callbacks/1/resolve`,
    body: { reason: REASON },
    live: 401,
    fresh: makeCallbacks,
  },
  showAccounts: page('/accounts'),
  showNewAccount: page('/accounts/new'),
  createAccountFromPage: page('/accounts/new', {
    get body() {
      return { name: 'Loja nova', email: freshEmail() };
    },
  }),
  showAccountPage: ofAccount(''),
  suspendAccountFromPage: ofAccount('/suspend', { body: {} }),
  reopenAccountFromPage: ofAccount('/reopen', { body: {} }),
  changeSettingsOfAccountFromPage: ofAccount('/settings', { body: { option: 'color', value: '#1a7f5c' } }),
  addUserFromPage: ofAccount('/users', {
    get body() {
      return { email: freshEmail(), role: 'VIEWER', how: 'password' };
    },
  }),
  sendLogoOfAccountFromPage: ofAccount('/logo', { files: [PICTURE] }),
  removeLogoOfAccountFromPage: ofAccount('/logo/remove', { body: {} }),
  issueKeyOfAccountFromPage: ofAccount('/keys', { body: { mode: 'live', label: 'till' } }),
  rotateKeyOfAccountFromPage: ofKey('/rotate'),
  revokeKeyOfAccountFromPage: ofKey('/revoke'),
  showOperators: page('/operators'),
  addOperatorFromPage: page('/operators', {
    get body() {
      return { email: freshEmail(), how: 'password' };
    },
  }),
  showUserPage: ofUser(''),
  disableAnyUserFromPage: ofUser('/disable', { body: {} }),
  enableAnyUserFromPage: ofUser('/enable', { body: {} }),
  changeAnyRoleFromPage: ofUser('/role', { body: { role: 'ADMIN' } }),
  sendPasswordLinkFromPage: ofUser('/password-link', { body: {} }),
  resetSecondFactorFromPage: ofUser('/reset-second-factor', { body: {} }),
  showSecurityLog: page('/security'),
  showOperatorSettings: page('/settings'),
  changeOperatorPassword: page('/settings/password', { body: { current: 'a wrong one', wanted: 'short' } }),
  enrolOperator: page('/settings/second-factor', { body: {} }),
  confirmOperator: page('/settings/second-factor/confirm', { body: { code: '000000' } }),
};
