// A user who logs in: a member of a merchant's account, or an operator of the platform (rule D2). Secrets are stored elsewhere: events
// refer to a password by id, so that they decide which of the stored hashes is valid.

import { aggregate } from '../kernel/aggregate.ts';
import { type Decider, type Decision, type Fact, ignore } from '../kernel/decider.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { AccountId, PasswordId, SecondFactorId, UserId } from '../kernel/ids.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import { nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { SECOND_FACTOR_ERRORS } from './errors.ts';

/** Maximum length of a name, in characters. */
export const USER_NAME_LENGTH_MAX = 200;
export const ACCOUNT_ROLES = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'] as const;
/** Roles of a user in its account. */
export type AccountRole = (typeof ACCOUNT_ROLES)[number];
/** Returns whether the role may issue, rotate and revoke API keys (contract.md Authentication, 6). */
export const mayManageKeys = (role: AccountRole): boolean => role === 'OWNER' || role === 'ADMIN';
/** Returns whether the role may create charges and payments, refund, cancel, appeal and upload evidence (rule D5). */
export const mayChangePayments = (role: AccountRole): boolean => role !== 'VIEWER';
const isAccountRole = (role: string): role is AccountRole => (ACCOUNT_ROLES as readonly string[]).includes(role);
export const ROLES = [...ACCOUNT_ROLES, 'OPERATOR'] as const;
/** An OPERATOR belongs to the platform, not to an account. */
export type Role = (typeof ROLES)[number];

export type UserAdded = Fact<
  'UserAdded',
  {
    readonly userId: UserId;
    /** null for an OPERATOR. */
    readonly accountId: AccountId | null;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
    /** null until the user sets a password, which is required to log in. */
    readonly passwordId: PasswordId | null;
    readonly at: Timestamp;
  }
>;
/** The user changed its password; earlier ones are invalid. */
export type UserPasswordChanged = Fact<
  'UserPasswordChanged',
  { readonly passwordId: PasswordId; readonly at: Timestamp }
>;
/** The user was disabled: it can't log in, and its sessions ended. */
export type UserDisabled = Fact<'UserDisabled', { readonly at: Timestamp }>;
export type UserEnabled = Fact<'UserEnabled', { readonly at: Timestamp }>;
/** The user's role changed, which applies to every request of its sessions. */
export type UserRoleChanged = Fact<'UserRoleChanged', { readonly role: AccountRole; readonly at: Timestamp }>;
/** The user enrolled a second factor, which logins now require. It replaces any earlier one. */
export type UserSecondFactorEnrolled = Fact<
  'UserSecondFactorEnrolled',
  { readonly secondFactorId: SecondFactorId; readonly at: Timestamp }
>;
/** The second factor was removed; logins require only the password. */
export type UserSecondFactorReset = Fact<'UserSecondFactorReset', { readonly at: Timestamp }>;
export type UserEvent =
  | UserAdded
  | UserPasswordChanged
  | UserDisabled
  | UserEnabled
  | UserRoleChanged
  | UserSecondFactorEnrolled
  | UserSecondFactorReset;

export type UserState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'active' | 'disabled';
      readonly userId: UserId;
      readonly accountId: AccountId | null;
      readonly email: string;
      readonly name: string;
      readonly role: Role;
      readonly passwordId: PasswordId | null;
      /** null if logins require only the password. */
      readonly secondFactorId: SecondFactorId | null;
      readonly addedAt: Timestamp;
    };
export type KnownUser = Exclude<UserState, { status: 'absent' }>;

const evolve = (state: UserState, event: UserEvent): UserState => {
  if (event.type === 'UserAdded') {
    const { at: addedAt, ...added } = event.data;
    return { status: 'active', ...added, secondFactorId: null, addedAt };
  }
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'UserPasswordChanged':
      return { ...state, passwordId: event.data.passwordId };
    case 'UserDisabled':
      return { ...state, status: 'disabled' };
    case 'UserEnabled':
      return { ...state, status: 'active' };
    case 'UserRoleChanged':
      return { ...state, role: event.data.role };
    case 'UserSecondFactorEnrolled':
      return { ...state, secondFactorId: event.data.secondFactorId };
    case 'UserSecondFactorReset':
      return { ...state, secondFactorId: null };
    default:
      return ignore(state, event);
  }
};

export const user: Decider<UserState, UserEvent> = { initial: { status: 'absent' }, evolve };

export const NO_USER: Rejection = reject('not_found', 'There is no such user.');

/** Returns why the role doesn't fit a user of this account (null: the platform), or null if it fits. */
export const roleProblem = (role: Role, accountId: AccountId | null): Rejection | null =>
  (role === 'OPERATOR') === (accountId === null)
    ? null
    : reject('invalid_request', 'Users with the role OPERATOR belong to no account; all others belong to one.', {
        param: 'role',
      });

/** Returns why the name is refused, or null. The default is the email address, which may be longer. */
export const nameProblem = ({ name, email }: { readonly name: string; readonly email: string }): Rejection | null =>
  name.length <= USER_NAME_LENGTH_MAX || name === email
    ? null
    : reject('invalid_request', `The name must have at most ${USER_NAME_LENGTH_MAX} characters.`, { param: 'name' });

/**
 * Adds a user. No-op if it exists. Rejects an OPERATOR with an account, another role without one, or a name that is too long with
 * `invalid_request`.
 */
export const addUser =
  (added: UserAdded['data']): Decision<UserState, UserEvent, 'added' | 'already_there'> =>
  (state) => {
    const problem = roleProblem(added.role, added.accountId) ?? nameProblem(added);
    if (problem !== null) return problem;
    return state.status === 'absent'
      ? { events: [{ type: 'UserAdded', data: added }], reply: 'added' }
      : { events: [], reply: 'already_there' };
  };

/**
 * Makes a stored password hash valid. `replaces` is the password that the user proved to know. Rejects with `unauthorized` if another
 * one is valid by now, or if the user is not active.
 */
export const changePassword =
  (
    { passwordId, replaces }: { readonly passwordId: PasswordId; readonly replaces: PasswordId | null },
    at: Timestamp,
  ): Decision<UserState, UserEvent, 'changed'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    if (state.passwordId === passwordId) return { events: [], reply: 'changed' };
    if (state.status === 'disabled' || state.passwordId !== replaces)
      return reject('unauthorized', 'The password changed in the meantime, or the user is disabled.');
    return { events: [{ type: 'UserPasswordChanged', data: { passwordId, at } }], reply: 'changed' };
  };

/**
 * Makes a stored second factor valid. `replaces` is the factor that the user proved to have, or null. Rejects with `unauthorized` if
 * another one is valid by now, or if the user is disabled. No-op if this factor is already valid.
 */
export const enrolSecondFactor =
  (
    { secondFactorId, replaces }: { readonly secondFactorId: SecondFactorId; readonly replaces: SecondFactorId | null },
    at: Timestamp,
  ): Decision<UserState, UserEvent, 'enrolled'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    if (state.secondFactorId === secondFactorId) return { events: [], reply: 'enrolled' };
    if (state.status === 'disabled' || state.secondFactorId !== replaces)
      return reject('unauthorized', 'The second factor changed in the meantime, or the user is disabled.');
    return { events: [{ type: 'UserSecondFactorEnrolled', data: { secondFactorId, at } }], reply: 'enrolled' };
  };

/** Removes the second factor. No-op if the user has none. */
export const resetSecondFactor =
  (at: Timestamp): Decision<UserState, UserEvent, 'reset' | 'already_so'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    return state.secondFactorId === null
      ? { events: [], reply: 'already_so' }
      : { events: [{ type: 'UserSecondFactorReset', data: { at } }], reply: 'reset' };
  };

/** Disables the user. No-op if it is disabled. */
export const disableUser =
  (at: Timestamp): Decision<UserState, UserEvent, 'disabled'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    return { events: state.status === 'disabled' ? [] : [{ type: 'UserDisabled', data: { at } }], reply: 'disabled' };
  };

/** Enables the user. No-op if it is enabled. */
export const enableUser =
  (at: Timestamp): Decision<UserState, UserEvent, 'enabled'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    return { events: state.status === 'active' ? [] : [{ type: 'UserEnabled', data: { at } }], reply: 'enabled' };
  };

/**
 * Changes a user's role. Rejects a change from or to OPERATOR, and a change of the last OWNER's role, with `invalid_request`.
 * `isLastOwner`: the account has no other active OWNER. No-op if the user has the role.
 */
export const changeRole =
  (role: Role, isLastOwner: boolean, at: Timestamp): Decision<UserState, UserEvent, 'changed' | 'already_so'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    const problem = roleProblem(role, state.accountId);
    if (problem !== null) return problem;
    if (role === state.role || !isAccountRole(role)) return { events: [], reply: 'already_so' };
    if (state.role === 'OWNER' && isLastOwner)
      return reject('invalid_request', 'The account has no other active OWNER. Make another user OWNER first.', {
        param: 'role',
      });
    return { events: [{ type: 'UserRoleChanged', data: { role, at } }], reply: 'changed' };
  };

const userSerde: Serde<UserEvent> = serdeOf<UserEvent>({
  UserAdded: {
    version: 1,
    shape: record<UserAdded['data']>({
      userId: text(),
      accountId: nullable(text()),
      email: text(),
      name: text(),
      role: oneOf(...ROLES),
      passwordId: nullable(text()),
      at: time,
    }),
    personal: ['email', 'name'],
  },
  UserPasswordChanged: {
    version: 1,
    shape: record<UserPasswordChanged['data']>({ passwordId: text(), at: time }),
    personal: [],
  },
  UserDisabled: { version: 1, shape: record({ at: time }), personal: [] },
  UserEnabled: { version: 1, shape: record({ at: time }), personal: [] },
  UserRoleChanged: {
    version: 1,
    shape: record<UserRoleChanged['data']>({ role: oneOf(...ACCOUNT_ROLES), at: time }),
    personal: [],
  },
  UserSecondFactorEnrolled: {
    version: 1,
    shape: record<UserSecondFactorEnrolled['data']>({ secondFactorId: text(), at: time }),
    personal: [],
  },
  UserSecondFactorReset: { version: 1, shape: record({ at: time }), personal: [] },
});

export const USER = aggregate<UserId>()({
  category: 'user',
  changesMax: 1_000,
  idPrefix: 'usr_',
  decider: user,
  serde: userSerde,
  errors: SECOND_FACTOR_ERRORS,
  groups: partition<UserEvent>()({
    access: ['UserAdded', 'UserDisabled', 'UserEnabled'],
    role: ['UserRoleChanged'],
    credentials: ['UserPasswordChanged', 'UserSecondFactorEnrolled', 'UserSecondFactorReset'],
  }),
});
