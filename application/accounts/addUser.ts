// Adds a user. The address is claimed and the password's hash stored before the event that creates the user (architecture §1). After a
// crash, a repeat completes the work: an address that was claimed for a user who was never created can be claimed again.
import { ACCOUNT } from '../../domain/account/account.ts';
import { type AccountId, idIn, type PasswordId, PLATFORM_ACCOUNT, type UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addUser as decideAddition, type KnownUser, type Role, roleProblem, USER } from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCaseNeeds.ts';
import type { PasswordAsker, PasswordHasher, Passwords, UserEmails } from '../ports/credentials.ts';
import type { Randomness } from '../ports/randomness.ts';
import { newPassword } from './newPassword.ts';

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

const newId = <I extends UserId | PasswordId>(randomness: Randomness, accountId: AccountId | null): I =>
  idIn(accountId ?? PLATFORM_ACCOUNT, randomness.bytes(16));

/** Stores the hash of a password under a new id and returns the id. An event must then name it. */
export const keepPassword = async (
  { randomness, passwords, hasher }: Pick<AddUserNeeds, 'randomness' | 'passwords' | 'hasher'>,
  { userId, accountId }: Pick<KnownUser, 'userId' | 'accountId'>,
  password: string,
  asker: PasswordAsker,
): Promise<PasswordId> => {
  const passwordId = newId<PasswordId>(randomness, accountId);
  await passwords.keep(passwordId, userId, await hasher.hash(password, asker));
  return passwordId;
};

/** Returns whether a user has this address. An address claimed for a user who was never created counts as free. */
export const isUser =
  ({ commands, emails }: Pick<AddUserNeeds, 'commands' | 'emails'>) =>
  async (email: string): Promise<boolean> => {
    const userId = await emails.find(email);
    return userId !== null && (await commands.load(USER, USER.stream(userId))).state.status !== 'absent';
  };

export const TAKEN = reject('invalid_request', 'A user with this email address already exists.', { param: 'email' });

const NO_ACCOUNT = reject('not_found', 'There is no such account.');

/**
 * Returns the new user's id. Rejects with `invalid_request` if the address is in use (param `email`) or the role does not fit the account
 * (param `role`), and with `not_found` if the account does not exist.
 */
export const addUser =
  (needs: AddUserNeeds) =>
  async (addition: UserAddition, by: Changer): Promise<UserId | Rejection> => {
    const { commands, accounts, randomness, emails } = needs;
    const { password, ...added } = addition;
    const { accountId } = added;
    const problem = roleProblem(added.role, accountId);
    if (problem !== null) return problem;
    if (accountId !== null && (await commands.load(ACCOUNT, ACCOUNT.stream(accountId))).state.status === 'absent')
      return NO_ACCOUNT;
    if (await isUser(needs)(added.email)) return TAKEN;
    const userId = await emails.claim(added.email, newId(randomness, accountId));
    const passwordId =
      password === null
        ? null
        : await keepPassword(needs, { userId, accountId }, password, { email: added.email, address: null });
    const decide = decideAddition({ userId, ...added, passwordId, at: accounts.realNow() });
    const metadata = metadataForChange(by, added.accountId, userId);
    const done = await commands.execute(USER, USER.stream(userId), decide, metadata);
    if (isRejection(done)) return done;
    return done.reply === 'added' ? userId : TAKEN;
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
