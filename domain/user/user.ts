// Somebody who logs in: a member of a merchant's account, or an operator of the platform (rule D2). What is secret is kept elsewhere: an
// event names a password by its id, so that the event decides which of the stored hashes is in force.

import { aggregate } from '../kernel/aggregate.ts';
import { type Decider, type Decision, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { AccountId, PasswordId, SecondFactorId, UserId } from '../kernel/ids.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import { nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { SECOND_FACTOR_ERRORS } from './errors.ts';

/** Of a name, in characters. */
export const USER_NAME_LENGTH_MAX = 200;
export const ACCOUNT_ROLES = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'] as const;
/** What a user may do in the account it belongs to. */
export type AccountRole = (typeof ACCOUNT_ROLES)[number];
/** Issuing, rotating and revoking API keys (contract.md Authentication, 6). */
export const mayManageKeys = (role: AccountRole): boolean => role === 'OWNER' || role === 'ADMIN';
const isAccountRole = (role: string): role is AccountRole => (ACCOUNT_ROLES as readonly string[]).includes(role);
export const ROLES = [...ACCOUNT_ROLES, 'OPERATOR'] as const;
/** An OPERATOR belongs to the platform and to no account. */
export type Role = (typeof ROLES)[number];

export type UserAdded = Fact<
  'UserAdded',
  {
    readonly userId: UserId;
    /** null: an OPERATOR. */
    readonly accountId: AccountId | null;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
    /** null: it can't log in until it has set one. */
    readonly passwordId: PasswordId | null;
    readonly at: Timestamp;
  }
>;
/** From here on this password is the only one. */
export type UserPasswordChanged = Fact<
  'UserPasswordChanged',
  { readonly passwordId: PasswordId; readonly at: Timestamp }
>;
/** The user can't log in, and is logged out everywhere. */
export type UserDisabled = Fact<'UserDisabled', { readonly at: Timestamp }>;
export type UserEnabled = Fact<'UserEnabled', { readonly at: Timestamp }>;
/** What the user may do from here on; every request of its sessions is judged by it. */
export type UserRoleChanged = Fact<'UserRoleChanged', { readonly role: AccountRole; readonly at: Timestamp }>;
/** From here on the user logs in with this second factor, too. It takes the place of any other. */
export type UserSecondFactorEnrolled = Fact<
  'UserSecondFactorEnrolled',
  { readonly secondFactorId: SecondFactorId; readonly at: Timestamp }
>;
/** From here on the password alone is enough. */
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
      /** null: the password alone is enough. */
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

const NO_USER: Rejection = reject('not_found', 'There is no such user.');

/** null: the role fits who the user belongs to; null: the platform. */
export const roleProblem = (role: Role, accountId: AccountId | null): Rejection | null =>
  (role === 'OPERATOR') === (accountId === null)
    ? null
    : reject('invalid_request', 'An OPERATOR belongs to no account, and everybody else to one.', { param: 'role' });

/** An OPERATOR with an account, or anybody else without one: `invalid_request`. A user that is there stays as it is. */
export const addUser =
  (added: UserAdded['data']): Decision<UserState, UserEvent, 'added' | 'already_there'> =>
  (state) => {
    const problem = roleProblem(added.role, added.accountId);
    if (problem !== null) return problem;
    return state.status === 'absent'
      ? { events: [{ type: 'UserAdded', data: added }], reply: 'added' }
      : { events: [], reply: 'already_there' };
  };

/**
 * The hash of the password was stored before. `replaces`: the password that the user proved to know; when another one is in force by now,
 * or the user is not active, `unauthorized`.
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
      return reject('unauthorized', 'The password was changed meanwhile, or the user is disabled.');
    return { events: [{ type: 'UserPasswordChanged', data: { passwordId, at } }], reply: 'changed' };
  };

/**
 * The secret and the recovery codes were stored before. `replaces`: the factor that the user proved to have, or null; `unauthorized` if
 * another one is in force by now, or the user is disabled. No-op if this factor is in force.
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

/** No-op if the user has no second factor. */
export const resetSecondFactor =
  (at: Timestamp): Decision<UserState, UserEvent, 'reset' | 'already_so'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    return state.secondFactorId === null
      ? { events: [], reply: 'already_so' }
      : { events: [{ type: 'UserSecondFactorReset', data: { at } }], reply: 'reset' };
  };

/** Already so: nothing. */
export const disableUser =
  (at: Timestamp): Decision<UserState, UserEvent, 'disabled'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    return { events: state.status === 'disabled' ? [] : [{ type: 'UserDisabled', data: { at } }], reply: 'disabled' };
  };

/** Already so: nothing. */
export const enableUser =
  (at: Timestamp): Decision<UserState, UserEvent, 'enabled'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    return { events: state.status === 'active' ? [] : [{ type: 'UserEnabled', data: { at } }], reply: 'enabled' };
  };

/**
 * OPERATOR to somebody else, or another role to an OPERATOR: `invalid_request`, as is taking its role from the last OWNER of an account.
 * `isLastOwner`: no other active user of the account is one. Already so: nothing.
 */
export const changeRole =
  (role: Role, isLastOwner: boolean, at: Timestamp): Decision<UserState, UserEvent, 'changed' | 'already_so'> =>
  (state) => {
    if (state.status === 'absent') return NO_USER;
    const problem = roleProblem(role, state.accountId);
    if (problem !== null) return problem;
    if (role === state.role || !isAccountRole(role)) return { events: [], reply: 'already_so' };
    if (state.role === 'OWNER' && isLastOwner)
      return reject('invalid_request', 'The account has no other active OWNER: make another user one first.', {
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
