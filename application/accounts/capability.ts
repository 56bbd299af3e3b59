// Accounts: merchants with their API keys, users, logins and settings. Changes take effect at once, without a process; only password
// links are mailed by a job.
import { ACCOUNT, type OpenAccount } from '../../domain/account/account.ts';
import { cashoutDestinations } from '../../domain/account/cashoutDestinations.ts';
import { rateLimitPerMinute, sandboxRateLimit } from '../../domain/account/rateLimits.ts';
import { type AccountId, PREFIX, type UserId } from '../../domain/kernel/ids.ts';
import type { ApiKey } from '../../domain/keyring/keyring.ts';
import { type KnownUser, USER } from '../../domain/user/user.ts';
import { capability, each, job, owedBy } from '../core/capability.ts';
import type { Changer } from '../core/eventMetadata.ts';
import { type NeedsOf, settingChanged } from '../core/useCase.ts';
import type { KeyUseReads } from '../ports/keyUses.ts';
import type { AccountViews, KeyViews, UserViews } from '../ports/readModels/views.ts';
import type { ApiKeys } from './apiKeys.ts';
import { changeAccountSettings } from './changeAccountSettings.ts';
import { changeLogo } from './changeLogo.ts';
import { changePassword } from './changePassword.ts';
import { findSession, isSessionActive, logIn } from './login.ts';
import { issueApiKey, listApiKeys, revokeApiKey, rotateApiKey, whenKeyFound } from './manageKeys.ts';
import { members } from './members.ts';
import { createAccount, reopen, suspend } from './operateAccounts.ts';
import {
  inviteUser,
  jobOfRequest,
  openRequests,
  requestPasswordLink,
  sendLink,
  sendPasswordLink,
  setPassword,
} from './passwordLink.ts';
import { confirmTotp, enrolTotp, resetSecondFactor } from './secondFactor.ts';
import { addUserWithPassword, changeRole, disableUser, enableUser } from './users.ts';

/** Needs of operators' use cases, which also run on the command line, without secrets key and job queue. */
type OperatorsNeeds = NeedsOf<
  typeof createAccount | typeof suspend | typeof inviteUser | typeof disableUser | typeof resetSecondFactor
> & {
  readonly keyUses: KeyUseReads;
  readonly views: { readonly accounts: AccountViews; readonly users: UserViews };
};

export type AccountsNeeds = OperatorsNeeds &
  NeedsOf<
    | typeof logIn
    | typeof enrolTotp
    | typeof changePassword
    | typeof setPassword
    | typeof sendPasswordLink
    | typeof changeAccountSettings
    | typeof changeLogo
    | typeof whenKeyFound
    | typeof members
  > & {
    readonly apiKeys: Pick<ApiKeys, 'find'>;
    readonly views: { readonly keys: KeyViews };
  };

const partsOf = (needs: AccountsNeeds) => ({ ...needs, whenFound: whenKeyFound(needs) });
type Parts = ReturnType<typeof partsOf>;

const accountChanged = (accountId: AccountId, by: Changer, changed: readonly string[]) =>
  settingChanged('account', { accountId, mode: 'live' }, by, { changed });

const memberChanged = (setting: string, accountId: AccountId, by: Changer) =>
  settingChanged(setting, { accountId, mode: 'live' }, by);

const keyChanged = (setting: string, { accountId, keyId, mode }: ApiKey, by: Changer) =>
  settingChanged(setting, { accountId, mode }, by, { keyId: PREFIX.key + keyId });

export const accounts = capability({
  name: 'accounts',
  parts: partsOf,
  jobs: [
    job(sendLink, {
      handler: (parts: Parts) => each(sendPasswordLink(parts)),
      // A mail server may be slow, so mail has few workers of its own.
      places: { places: 4, perTarget: 4 },
      idle: 'apart',
      owed: owedBy(openRequests, jobOfRequest),
      // The command line records requests without a job, because it has no queue.
      routine: '*/5 * * * * *',
    }),
  ],
  settings: [rateLimitPerMinute, cashoutDestinations],
  sandboxSwitches: [sandboxRateLimit],
  upkeep: [
    {
      failure: 'expired sessions, failed logins and password links could not be removed',
      pattern: '0 7,22,37,52 * * * *',
      run: async ({ sessions, failures, links }) => {
        await sessions.forgetOld();
        await failures.forgetOld();
        await links.forgetOld();
      },
    },
  ],
  useCases: (parts: Parts) => ({
    /** Returns null if the key is unknown or its account is suspended. */
    findKey: parts.apiKeys.find,
    issueApiKey: issueApiKey(parts),
    rotateApiKey: rotateApiKey(parts),
    revokeApiKey: revokeApiKey(parts),
    listApiKeys: listApiKeys(parts),
    /** Returns null if the token belongs to no session. */
    findSession: findSession(parts),
    isSessionActive: isSessionActive(parts),
    logIn: logIn(parts),
    /** When this resolves, every process rejects the token. */
    logOut: parts.sessions.end,
    changePassword: changePassword(parts),
    enrolTotp: enrolTotp(parts),
    confirmTotp: confirmTotp(parts),
    requestPasswordLink: requestPasswordLink(parts),
    setPassword: setPassword(parts),
    ...members(parts),
    changeAccountSettings: changeAccountSettings(parts),
    changeLogo: changeLogo(parts),
    /** Returns null if the SHA-256 is null or no logo has it. */
    findLogo: async (sha256: string | null) => (sha256 === null ? null : parts.logos.find(sha256)),
  }),
  records: {
    issueApiKey: ({ key }, _account, _wish, by) => keyChanged('API key issued', key, by),
    rotateApiKey: ({ key }, _account, keyId, _label, by) => keyChanged('API key rotated', { ...key, keyId }, by),
    revokeApiKey: (key, _account, _keyId, by) => keyChanged('API key revoked', key, by),
    changeAccountSettings: (_, accountId, change, by) => accountChanged(accountId, by, Object.keys(change)),
    inviteMember: (_, { accountId }, _wish, by) => memberChanged('user invited', accountId, by),
    changeMemberRole: (_, { accountId }, _userId, _role, by) => memberChanged('role of a user changed', accountId, by),
    disableMember: (_, { accountId }, _userId, by) => memberChanged('user disabled', accountId, by),
    enableMember: (_, { accountId }, _userId, by) => memberChanged('user enabled', accountId, by),
    changeLogo: (_, accountId, _image, by) => accountChanged(accountId, by, ['logo']),
  },
  operators: (given: OperatorsNeeds) => {
    const { commands, views } = given;
    const needs = { ...given, users: views.users };
    return {
      createAccount: createAccount(needs),
      listAccounts: views.accounts.list,
      /** Returns the account from its stream, or null if it does not exist. */
      findAccount: async (id: AccountId): Promise<OpenAccount | null> => {
        const { state } = await commands.load(ACCOUNT, ACCOUNT.stream(id));
        return state.status === 'open' ? state : null;
      },
      suspendAccount: suspend(needs),
      reopenAccount: reopen(needs),
      addUser: addUserWithPassword(needs),
      inviteUser: inviteUser(needs),
      listUsers: views.users.list,
      listOperators: views.users.operators,
      /** Returns the user from its stream, or null if it does not exist. */
      findUser: async (id: UserId): Promise<KnownUser | null> => {
        const { state } = await commands.load(USER, USER.stream(id));
        return state.status === 'absent' ? null : state;
      },
      /** Returns the id of the user with this email address, or null. */
      findUserId: needs.emails.find,
      disableUser: disableUser(needs),
      enableUser: enableUser(needs),
      changeRole: changeRole(needs),
      resetSecondFactor: resetSecondFactor(needs),
      lastKeyUses: needs.keyUses.lastUsed,
    };
  },
});
