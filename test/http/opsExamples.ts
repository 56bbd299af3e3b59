// Examples of the routes for operators of the platform.
import { randomBytes } from 'node:crypto';
import { PREFIX } from '../../domain/kernel/ids.ts';
import type { TestGateway } from '../support/gateway.ts';
import { LOGO, NO_ID, USER } from './exampleParts.ts';
import type { Example, Owned } from './routeExamples.ts';

/** Of somebody new, each time. */
const freshEmail = (): string => `ops-${randomBytes(6).toString('hex')}@example.com`;

/** What operators do with an account, by default the one to spare. */
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

/** An account and a member of it, whom no other test needs. */
export const makeSpare = async (gateway: TestGateway): Promise<Pick<Owned, 'spareAccountId' | 'spareUserId'>> => {
  const tenant = await gateway.newTenant();
  const { userId } = await gateway.addUser('MEMBER', { tenant });
  return { spareAccountId: PREFIX.account + tenant.accountId, spareUserId: PREFIX.user + userId };
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
  changeUserRole: ofUser('/role', { body: { role: 'ADMIN' } }),
};
