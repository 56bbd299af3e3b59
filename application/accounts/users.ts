// Adds users, changes their roles, and disables and enables them, on behalf of operators (rule D2). Every request reads the user's stream,
// so changes take effect in every process at once.
import { ACCOUNT, NO_ACCOUNT } from '../../domain/account/account.ts';
import { type AccountId, idIn, type PasswordId, PLATFORM_ACCOUNT, type UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import {
  addUser as decideAddition,
  disableUser as decideDisabling,
  enableUser as decideEnabling,
  changeRole as decideRole,
  type KnownUser,
  nameProblem,
  type Role,
  roleProblem,
  USER,
  type UserEvent,
  type UserState,
} from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { limitsOf, type UseCaseNeeds } from '../core/useCase.ts';
import type { PasswordAsker, PasswordHasher, Passwords, Sessions, UserEmails } from '../ports/logins.ts';
import type { UserViews } from '../ports/readModels/views.ts';
import type { Randomness } from '../ports/system.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';

interface StatusNeeds extends UseCaseNeeds {
  readonly sessions: Sessions;
}

type Decide = typeof decideDisabling | typeof decideEnabling;

const record = async (
  { commands, accounts }: StatusNeeds,
  userId: UserId,
  decide: Decide,
  by: Changer,
  limits = {},
): Promise<KnownUser | Rejection> => {
  const stream = USER.stream(userId);
  const { state } = await commands.load(USER, stream);
  const metadata = metadataForChange(by, state.status === 'absent' ? null : state.accountId, userId);
  const done = await commands.execute<UserState, UserEvent, unknown>(
    USER,
    stream,
    decide(accounts.realNow()),
    metadata,
    limits,
  );
  return isRejection(done) ? done : (done.state as KnownUser);
};

/** Disables a user and removes the user's sessions. Rejects with `not_found`. If already disabled, only removes sessions. */
export const disableUser =
  (needs: StatusNeeds) =>
  async (userId: UserId, by: Changer): Promise<KnownUser | Rejection> => {
    const disabled = await record(needs, userId, decideDisabling, by);
    if (!isRejection(disabled)) await needs.sessions.endOfUser(userId);
    return disabled;
  };

/**
 * Enables a user. Old sessions are removed first, so that none of them works again. Rejects with `not_found` and `change_limit_reached`.
 */
export const enableUser =
  (needs: StatusNeeds) =>
  async (userId: UserId, by: Changer): Promise<KnownUser | Rejection> => {
    const { state } = await needs.commands.load(USER, USER.stream(userId));
    if (state.status === 'disabled') await needs.sessions.endOfUser(userId);
    return record(needs, userId, decideEnabling, by, limitsOf(by));
  };

interface RoleNeeds extends UseCaseNeeds {
  readonly users: Pick<UserViews, 'list'>;
  readonly withTenantLock: WithTenantLock;
}

/** Finds candidates in the read model and checks their streams. A user who is not in the read model yet doesn't count. */
const hasOtherOwner = async (
  { commands, users }: RoleNeeds,
  accountId: AccountId,
  userId: UserId,
): Promise<boolean> => {
  for (const other of await users.list(accountId)) {
    if (other.userId === userId) continue;
    const { state } = await commands.load(USER, USER.stream(other.userId));
    if (state.status === 'active' && state.role === 'OWNER') return true;
  }
  return false;
};

/**
 * Changes the role and returns the user. Rejects with `not_found`, with `invalid_request` (param `role`) if OPERATOR and an account's role
 * are mixed, or if an account would lose its last OWNER, or with `change_limit_reached`. No-op if the user has the role already.
 */
export const changeRole =
  (needs: RoleNeeds) =>
  async (userId: UserId, role: Role, by: Changer): Promise<KnownUser | Rejection> => {
    const { commands, accounts, withTenantLock } = needs;
    const stream = USER.stream(userId);
    const { state } = await commands.load(USER, stream);
    const accountId = state.status === 'absent' ? null : state.accountId;
    const change = async (isLastOwner: boolean): Promise<KnownUser | Rejection> => {
      const decide = decideRole(role, isLastOwner, accounts.realNow());
      const done = await commands.execute(USER, stream, decide, metadataForChange(by, accountId, userId), limitsOf(by));
      return isRejection(done) ? done : (done.state as KnownUser);
    };
    if (accountId === null || role === 'OWNER') return change(false);
    // Without a lock, two owners could be demoted at once, each because the other exists.
    return withTenantLock({ accountId, mode: 'live' }, 'owners', async () =>
      change(!(await hasOtherOwner(needs, accountId, userId))),
    );
  };

const RANDOM_BYTES = 18;

/** Returns 18 random bytes as 24 characters of base64url. */
export const newPassword = ({ bytes }: Pick<Randomness, 'bytes'>): string =>
  Buffer.from(bytes(RANDOM_BYTES)).toString('base64url');

// --- Adding a user. The address is claimed and the password's hash stored before the event that creates the user (architecture §1). After
// a crash, a repeat completes the work: an address that was claimed for a user who was never created can be claimed again. ---

export interface UserAddition {
  /** null for an OPERATOR. */
  readonly accountId: AccountId | null;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** null if the user sets a password later, by a mailed link. */
  readonly password: string | null;
}

export interface AddUserNeeds extends UseCaseNeeds {
  readonly randomness: Randomness;
  readonly emails: UserEmails;
  readonly passwords: Passwords;
  readonly hasher: PasswordHasher;
}

type AddedUser = Omit<UserAddition, 'password'>;

const newId = <I extends UserId | PasswordId>(randomness: Randomness, accountId: AccountId | null): I =>
  idIn(accountId ?? PLATFORM_ACCOUNT, randomness.bytes(16));

const keepHash = async (
  { randomness, passwords }: Pick<AddUserNeeds, 'randomness' | 'passwords'>,
  { userId, accountId }: Pick<KnownUser, 'userId' | 'accountId'>,
  hash: string,
): Promise<PasswordId> => {
  const passwordId = newId<PasswordId>(randomness, accountId);
  await passwords.keep(passwordId, userId, hash);
  return passwordId;
};

/** Stores the hash of a password under a new id and returns the id. An event must then name it. */
export const keepPassword = async (
  needs: Pick<AddUserNeeds, 'randomness' | 'passwords' | 'hasher'>,
  user: Pick<KnownUser, 'userId' | 'accountId'>,
  password: string,
  asker: PasswordAsker,
): Promise<PasswordId> => keepHash(needs, user, await needs.hasher.hash(password, asker));

/** Returns whether a user has this address. An address claimed for a user who was never created counts as free. */
export const isUser =
  ({ commands, emails }: Pick<AddUserNeeds, 'commands' | 'emails'>) =>
  async (email: string): Promise<boolean> => {
    const userId = await emails.find(email);
    return userId !== null && (await commands.load(USER, USER.stream(userId))).state.status !== 'absent';
  };

export const TAKEN = reject('invalid_request', 'A user with this email address already exists.', { param: 'email' });

/** Claims the address and stores the password's hash (null: none). `recordUser` must follow. */
export const prepareUser =
  (needs: Pick<AddUserNeeds, 'randomness' | 'emails' | 'passwords'>) =>
  async (added: AddedUser, hash: string | null) => {
    const { accountId } = added;
    const userId = await needs.emails.claim(added.email, newId(needs.randomness, accountId));
    const passwordId = hash === null ? null : await keepHash(needs, { userId, accountId }, hash);
    return { userId, ...added, passwordId };
  };

/** Returns the new user's id. Rejects with `invalid_request` (param `email`) if it was added in the meantime. */
export const recordUser =
  ({ commands, accounts }: UseCaseNeeds) =>
  async (
    prepared: AddedUser & { readonly userId: UserId; readonly passwordId: PasswordId | null },
    by: Changer,
  ): Promise<UserId | Rejection> => {
    const { userId, accountId } = prepared;
    const decide = decideAddition({ ...prepared, at: accounts.realNow() });
    const metadata = metadataForChange(by, accountId, userId);
    const done = await commands.execute(USER, USER.stream(userId), decide, metadata);
    if (isRejection(done)) return done;
    return done.reply === 'added' ? userId : TAKEN;
  };

/**
 * Returns the new user's id. Rejects with `invalid_request` if the address is in use (param `email`), the role does not fit the account
 * (param `role`) or the name is too long (param `name`), and with `not_found` if the account does not exist.
 */
export const addUser =
  (needs: AddUserNeeds) =>
  async (addition: UserAddition, by: Changer): Promise<UserId | Rejection> => {
    const { commands, hasher } = needs;
    const { password, ...added } = addition;
    const { accountId } = added;
    const problem = roleProblem(added.role, accountId) ?? nameProblem(added);
    if (problem !== null) return problem;
    if (accountId !== null && (await commands.load(ACCOUNT, ACCOUNT.stream(accountId))).state.status === 'absent')
      return NO_ACCOUNT;
    if (await isUser(needs)(added.email)) return TAKEN;
    const hash = password === null ? null : await hasher.hash(password, { email: added.email, address: null });
    return recordUser(needs)(await prepareUser(needs)(added, hash), by);
  };

/** Adds a user who can log in at once. If the password is null, one is generated. Rejects like `addUser`. */
export const addUserWithPassword =
  (needs: AddUserNeeds) =>
  async (
    addition: UserAddition,
    by: Changer,
  ): Promise<{ readonly userId: UserId; readonly password: string } | Rejection> => {
    const password = addition.password ?? newPassword(needs.randomness);
    const userId = await addUser(needs)({ ...addition, password }, by);
    return isRejection(userId) ? userId : { userId, password };
  };
