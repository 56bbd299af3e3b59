// Logging in and out (rule D1). An address that is not known and a wrong password are answered alike: by the same words after the same
// work, one hash and the same reads.
import type { OpenAccount } from '../../domain/account/account.ts';
import {
  encodeRawId,
  idIn,
  type PasswordId,
  PLATFORM_ACCOUNT,
  type SessionId,
  type UserId,
} from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { type KnownUser, USER, type UserState } from '../../domain/user/user.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { PasswordHasher, Passwords, UserEmails } from '../ports/credentials.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { SecondFactors } from '../ports/secondFactors.ts';
import type { LoginFailures, Sessions, SessionTokens } from '../ports/sessions.ts';
import { useSecondFactor } from './secondFactor.ts';

/** A session ends so long after the login (D1). */
const SESSION_SECONDS = 3_600;

/** From so many failures of one user within 15 minutes its answers are slower: a second for each 20, up to 10 seconds. */
const FAILURES_BEFORE_DELAY = 20;
const DELAY_MS_MAX = 10_000;
const delayMsAfter = (failures: number): number =>
  Math.min(DELAY_MS_MAX, Math.floor(failures / FAILURES_BEFORE_DELAY) * 1_000);

/** What a request that waits is to its process. */
export interface Waits {
  /** Where the request comes from, as limits count it. */
  readonly address: string;
  /** Resolves after so long. */
  readonly pause: (ms: number) => Promise<void>;
  /** Waits for a turn, in which the request takes no place of those in progress. */
  readonly apart: <T>(turn: Promise<T>) => Promise<T>;
}

/**
 * Answers later where many passwords of this user were wrong. The work is done meanwhile: a right password waits for the guesses before it
 * or for the delay, not for both, and no guess is answered sooner for being dropped or right.
 */
export const slowedDown = async <T>(
  failures: LoginFailures,
  email: string,
  { pause }: Waits,
  work: () => Promise<T>,
): Promise<T> => {
  const delayMs = delayMsAfter(await failures.count(email));
  const [done] = await Promise.allSettled([work(), delayMs > 0 ? pause(delayMs) : null]);
  if (done.status === 'rejected') throw done.reason;
  return done.value;
};

interface LogInNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly randomness: Randomness;
  readonly emails: UserEmails;
  readonly passwords: Passwords;
  readonly hasher: PasswordHasher;
  readonly sessions: Sessions;
  readonly tokens: SessionTokens;
  readonly failures: LoginFailures;
  readonly secondFactors: SecondFactors;
}

interface LoggedIn {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly user: KnownUser;
  /** null: of an OPERATOR. */
  readonly account: OpenAccount | null;
}

const WRONG = reject('unauthorized', 'The e-mail address or the password is wrong.');

/** Returns the account as its stream is now; null: an OPERATOR's; 'none' when there is no user, or its account is suspended. */
const accountOf = async (accounts: Accounts, user: UserState): Promise<OpenAccount | null | 'none'> => {
  if (user.status === 'absent') return 'none';
  if (user.accountId === null) return null;
  const account = await accounts.refresh(user.accountId);
  return account.suspendedAt === null ? account : 'none';
};

const NOT_HERE = reject('role_required', 'Operators of the platform log in at its own address, not here.');
const NO_CODE = reject('second_factor_required', 'The user has a second factor: send `code`, too.');
const WRONG_CODE = reject('unauthorized', 'The code is wrong, expired or already used.');

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Of the second factor: a TOTP or recovery code. */
  readonly code?: string | undefined;
}

/**
 * Returns a new session's token. `unauthorized`: the address and password don't match, the user is disabled or its account suspended, or
 * the code of its second factor is wrong. With the right password alone: `second_factor_required`, and `role_required` for an OPERATOR
 * where `operatorsLogIn` is false. The owner is never locked out: after many failures the answer comes later. Throws PasswordHashingBusy.
 */
export const logIn =
  (needs: LogInNeeds) =>
  async (credentials: Credentials, operatorsLogIn: boolean, waits: Waits): Promise<LoggedIn | Rejection> => {
    const { failures, sessions, tokens, randomness } = needs;
    const { email, code } = credentials;
    return slowedDown(failures, email, waits, async () => {
      const known = await userOf(needs, credentials, waits);
      if (known === null) {
        await failures.record(email);
        return WRONG;
      }
      const { user, account, passwordId } = known;
      const { userId, accountId, secondFactorId } = user;
      if (user.role === 'OPERATOR' && !operatorsLogIn) return NOT_HERE;
      if (secondFactorId !== null) {
        if (code === undefined) return NO_CODE;
        if (!(await useSecondFactor(needs, secondFactorId, code))) {
          await failures.record(email);
          return WRONG_CODE;
        }
      }
      const sessionId = idIn<SessionId>(accountId ?? PLATFORM_ACCOUNT, randomness.bytes(16));
      const session = { sessionId, userId, accountId, passwordId, secondFactorId };
      await sessions.begin(session, SESSION_SECONDS);
      const token = await tokens.issue({ ...session, role: user.role }, SESSION_SECONDS);
      return { token, expiresInSeconds: SESSION_SECONDS, user, account };
    });
  };

/** Returns the user whose password this is, or null after the same work. */
const userOf = async (
  { commands, accounts, randomness, emails, passwords, hasher }: LogInNeeds,
  { email, password }: Credentials,
  { address, apart }: Waits,
): Promise<(Pick<LoggedIn, 'user' | 'account'> & { readonly passwordId: PasswordId }) | null> => {
  const unknownId = encodeRawId(randomness.bytes(16));
  const userId = (await emails.find(email)) ?? (unknownId as UserId);
  const { state: user } = await commands.load(USER, USER.stream(userId));
  const passwordId = user.status === 'absent' ? null : user.passwordId;
  const hash = await passwords.find(passwordId ?? (unknownId as PasswordId));
  const isRight = await apart(hasher.isRight(password, hash, { email, address }));
  const account = isRight ? await accountOf(accounts, user) : 'none';
  return passwordId === null || user.status !== 'active' || account === 'none' ? null : { user, account, passwordId };
};

export interface SessionUser extends Pick<LoggedIn, 'user' | 'account'> {
  readonly sessionId: SessionId;
}

/**
 * Returns who bears the token; null when it names no session that goes on. What ends a session ends it in every process at once: the
 * session is looked up, and the user read from its stream, for every request. Throws when they can't be.
 */
export const findSession =
  ({ commands, accounts, sessions, tokens }: Pick<LogInNeeds, 'commands' | 'accounts' | 'sessions' | 'tokens'>) =>
  async (token: string): Promise<SessionUser | null> => {
    const named = await tokens.read(token);
    const session = named === null ? null : await sessions.find(named);
    if (session === null) return null;
    const { state: user } = await commands.load(USER, USER.stream(session.userId));
    if (user.status !== 'active' || user.passwordId !== session.passwordId) return null;
    if (user.secondFactorId !== session.secondFactorId) return null;
    const account = await accountOf(accounts, user);
    return account === 'none' ? null : { sessionId: session.sessionId, user, account };
  };
