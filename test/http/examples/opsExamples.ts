// Examples for the routes for operators of the platform.

import { randomBytes } from 'node:crypto';
import { ACCOUNT } from '../../../domain/account/account.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { paymentStream, poison } from '../../world/poison.ts';
import { pollUntil } from '../../world/pollUntil.ts';
import { refusedReturn } from '../../world/refusedReturn.ts';
import { contradictedCase, mismatchedCase, reviewedCase } from './caseExamples.ts';
import { type Example, LOGO, NO_ID, type Owned, USER } from './exampleParts.ts';
import { waitingPayout } from './payoutExamples.ts';

/** Returns a new address each time. */
const freshEmail = (): string => `ops-${randomBytes(6).toString('hex')}@example.com`;

/** Example for an account, by default the spare one. */
const ofAccount = (
  rest: string,
  more: Partial<Example> = {},
  idOf: (owned: Owned) => string = ({ spareAccountId }) => spareAccountId,
): Example => ({
  path: (owned) => `/ops/v1/accounts/${idOf(owned)}${rest}`,
  absent: `/ops/v1/accounts/acct_${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const ofUser = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ spareUserId }) => `/ops/v1/users/${spareUserId}${rest}`,
  absent: `/ops/v1/users/usr_${NO_ID}${rest}`,
  live: 401,
  ...more,
});
const ofKey = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ accountId, keyId }) => `/ops/v1/accounts/${accountId}/api-keys/${keyId}${rest}`,
  absent: `/ops/v1/accounts/acct_${NO_ID}/api-keys/key_${NO_ID}${rest}`,
  live: 401,
  ...more,
});

const ofHeld = (verb: string, idOf: (owned: Owned) => string): Example => ({
  path: (owned) => `/ops/v1/held/${idOf(owned)}/${verb}`,
  absent: `/ops/v1/held/tx_${NO_ID}/${verb}`,
  live: 401,
});

const ofReview = (verb: string): Example => ({
  path: ({ caseId }) => `/ops/v1/med/review/${caseId}/${verb}`,
  absent: `/ops/v1/med/review/med_${NO_ID}/${verb}`,
  live: 401,
  fresh: reviewedCase,
});

const ofPayoutReview = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ waitingPayoutId }) => `/ops/v1/payouts/${waitingPayoutId}${rest}`,
  absent: `/ops/v1/payouts/po_${NO_ID}${rest}`,
  live: 401,
  ...more,
});

const ofCase = (verb: string, body: object, fresh: NonNullable<Example['fresh']>): Example => ({
  path: ({ caseId }) => `/ops/v1/med/cases/${caseId}/${verb}`,
  absent: `/ops/v1/med/cases/med_${NO_ID}/${verb}`,
  live: 401,
  body,
  fresh,
});

/** Pays a charge that is locked to a payer with a Pix without a payer document. */
const makeHeld = async (gateway: TestGateway): Promise<string> => {
  const { body } = await gateway.charge<{ id: string }>({
    expected_payer_tax_id: '12345678909',
    customer: { name: 'Ana Souza' },
  });
  const paid = await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, { payer: { document: null } });
  if (paid.body['outcome'] !== 'held') throw new Error(paid.text);
  return body.id;
};

/** Creates a payment with an unreadable event, in its own tenant, and waits until consumers have parked it. */
export const makeParked = async (gateway: TestGateway): Promise<{ readonly parkedId: string }> => {
  const tenant = await gateway.newTenant();
  const { id } = (await gateway.charge<{ id: string }>({}, { key: tenant.testKey })).body;
  await poison(gateway, tenant, paymentStream(id));
  for (const following of [gateway.gateway.projected, gateway.gateway.reacted])
    if (!(await following.caughtUp(10_000))) throw new Error('nobody follows the log');
  return { parkedId: id };
};

/** Waits until no read model is rebuilt or verified, because only one run is allowed at a time. */
export const untilNoRun = async ({ gateway }: TestGateway): Promise<Partial<Owned>> => {
  const isRunning = () => gateway.services.readModelRuns().some(({ state }) => state === 'running');
  if ((await pollUntil(gateway.projected, 30_000, async () => (isRunning() ? null : true))) === null)
    throw new Error('a run of read models does not end');
  return {};
};

const ofParked = (rest: string): Example => ({
  path: ({ parkedId }) => `/ops/v1/parked/${parkedId}${rest}`,
  absent: `/ops/v1/parked/payment-${NO_ID}${rest}`,
  live: 401,
  fresh: makeParked,
});

/** Id of a request in the request log. */
const LOGGED = 'asked-once';

/** Creates an account with a member, held charges and a parked payment that no other test uses. */
export const makeSpare = async (
  gateway: TestGateway,
): Promise<Pick<Owned, 'spareAccountId' | 'spareUserId' | 'heldIds' | 'parkedId'>> => {
  const tenant = await gateway.newTenant();
  const { userId } = await gateway.addUser('MEMBER', { tenant });
  const { id: refusedId } = await refusedReturn(gateway);
  const heldIds = [await makeHeld(gateway), await makeHeld(gateway), refusedId] as const;
  await gateway.get('/v1/wallets', { headers: { 'x-request-id': LOGGED } });
  await gateway.writeRequests();
  const parked = await makeParked(gateway);
  return {
    ...parked,
    heldIds,
    spareAccountId: ACCOUNT.idPrefix + tenant.accountId,
    spareUserId: `usr_${userId}`,
  };
};

export const OPS_EXAMPLES: { readonly [operationId: string]: Example } = {
  createAccount: {
    get body() {
      return { name: 'Loja nova', email: freshEmail() };
    },
    live: 401,
  },
  listAccounts: { live: 401 },
  showAccount: ofAccount(''),
  suspendAccount: ofAccount('/suspend'),
  reopenAccount: ofAccount('/reopen'),
  changeSettingsOfAccount: ofAccount('/settings', { body: { color: '#1a7f5c', holdDays: { PIX: 1 } } }),
  uploadLogoOfAccount: ofAccount('/logo', { upload: LOGO }),
  removeLogoOfAccount: ofAccount('/logo'),
  listKeysOfAccount: ofAccount('/api-keys'),
  issueKeyOfAccount: ofAccount('/api-keys', { body: { label: 'till', test: true } }),
  rotateKeyOfAccount: ofKey('/rotate', { body: {} }),
  revokeKeyOfAccount: ofKey(''),
  addUser: {
    get body() {
      return { email: freshEmail(), role: 'OPERATOR', password: USER.password };
    },
    live: 401,
  },
  inviteUser: {
    get body() {
      return { email: freshEmail(), role: 'OPERATOR' };
    },
    live: 401,
  },
  listUsers: { live: 401 },
  showUser: ofUser(''),
  disableUser: ofUser('/disable'),
  enableUser: ofUser('/enable'),
  listCaseReviews: { live: 401 },
  approveCaseReview: ofReview('approve'),
  rejectCaseReview: ofReview('reject'),
  settleCase: ofCase('settle', { nothing: true, reason: 'The bank corrected its report.' }, mismatchedCase),
  dismissCaseReport: ofCase('dismiss', { reason: 'Seen and understood.' }, contradictedCase),
  listPayoutReviews: { live: 401 },
  showPayout: ofPayoutReview(''),
  approvePayoutReview: ofPayoutReview('/approve', { fresh: waitingPayout }),
  rejectPayoutReview: ofPayoutReview('/reject', { body: {}, fresh: waitingPayout }),
  findPersonalData: { body: { document: '12345678909' }, live: 401 },
  reportPersonalData: { body: { email: 'ninguem@example.com' }, live: 401 },
  erasePersonalData: {
    body: { email: 'ninguem@example.com', reason: 'request 17' },
    refusal: 404,
    live: 401,
  },
  listHeld: { live: 401 },
  releaseHeld: ofHeld('release', ({ heldIds }) => heldIds[0]),
  settleHeld: {
    ...ofHeld('settle', ({ heldIds }) => heldIds[2]),
    body: { writtenOff: true, reason: 'The payer’s account is closed.' },
    fresh: async (gateway) => ({ heldIds: ['', '', (await refusedReturn(gateway)).id] }),
  },
  returnHeld: { ...ofHeld('return', ({ heldIds }) => heldIds[1]), body: {} },
  listDeadLetters: { live: 401 },
  redriveDeadLetters: { body: { dryRun: true }, live: 401 },
  listRedrives: { live: 401 },
  listFailedJobs: { live: 401 },
  listQueues: { live: 401 },
  redriveJobs: { body: { all: true }, live: 401 },
  listProjections: { live: 401 },
  verifyProjections: { live: 401 },
  checkSystem: { live: 401 },
  listProjectionRuns: { live: 401 },
  startProjectionRun: { body: { work: 'rebuild', readModel: 'users' }, live: 401, fresh: untilNoRun },
  rebuildProjection: {
    path: () => '/ops/v1/projections/users/rebuild',
    absent: `/ops/v1/projections/${NO_ID}/rebuild`,
    live: 401,
  },
  checkLedger: { live: 401 },
  showLedger: {
    path: ({ paidId }) => `/ops/v1/ledger/payments/${paidId}`,
    absent: `/ops/v1/ledger/payments/tx_${NO_ID}`,
    live: 401,
  },
  showPayoutLedger: {
    path: ({ payoutId }) => `/ops/v1/ledger/payouts/${payoutId}`,
    absent: `/ops/v1/ledger/payouts/po_${NO_ID}`,
    live: 401,
  },
  readLog: { live: 401 },
  showRequest: {
    path: () => `/ops/v1/requests/${LOGGED}`,
    absent: `/ops/v1/requests/req_${NO_ID}`,
    live: 401,
  },
  showStream: {
    path: ({ paidId }) => `/ops/v1/events/${paidId}`,
    absent: `/ops/v1/events/payment-${NO_ID}`,
    live: 401,
  },
  listParked: { live: 401 },
  showParked: ofParked(''),
  retryParked: { ...ofParked('/retry'), body: {} },
  retryAllParked: { body: {}, live: 401 },
  skipParked: {
    ...ofParked('/skip'),
    body: { reason: 'The merchant was called.', consumer: 'process/webhookFanOut' },
  },
  changeUserRole: ofUser('/role', { body: { role: 'ADMIN' } }),
  resetSecondFactor: ofUser('/reset-second-factor'),
};
