// Logs users in and finds their sessions (rule D1). An unknown address and a wrong password get the same response after the same work.
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
import type { UseCaseNeeds } from '../core/useCase.ts';
import type {
  LoginFailures,
  PasswordHasher,
  Passwords,
  Session,
  Sessions,
  SessionTokens,
  UserEmails,
} from '../ports/logins.ts';
import type { SecondFactors } from '../ports/secondFactors.ts';
import type { Randomness } from '../ports/system.ts';
import { useSecondFactor } from './secondFactor.ts';

/** Lifetime of a session (D1). */
const SESSION_SECONDS = 3_600;

/** After each 20 failures of a user within 15 minutes, responses take one second longer, up to 10 seconds. */
const FAILURES_BEFORE_DELAY = 20;
const DELAY_MS_MAX = 10_000;
const delayMsAfter = (failures: number): number =>
  Math.min(DELAY_MS_MAX, Math.floor(failures / FAILURES_BEFORE_DELAY) * 1_000);

/** How a request may wait in its process. */
export interface Waits {
  /** The request's address, by which limits count. */
  readonly address: string;
  /** Resolves after this time. */
  readonly pause: (ms: number) => Promise<void>;
  /** Waits without occupying a slot for requests in progress. */
  readonly apart: <T>(turn: Promise<T>) => Promise<T>;
}

/**
 * Does the work, and delays the response if there were many wrong passwords for this user. Work and delay run in parallel. The response
 * time reveals neither that a guess was right nor that it was dropped.
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

interface LogInNeeds extends UseCaseNeeds {
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
  /** null for an OPERATOR. */
  readonly account: OpenAccount | null;
}

const WRONG = reject('unauthorized', 'The email address or the password is wrong.');

/** Returns the user's account, null for an OPERATOR, or 'none' if the user does not exist or the account is suspended. */
const accountOf = async (accounts: Accounts, user: UserState): Promise<OpenAccount | null | 'none'> => {
  if (user.status === 'absent') return 'none';
  if (user.accountId === null) return null;
  const account = await accounts.refresh(user.accountId);
  return account.suspendedAt === null ? account : 'none';
};

const NOT_HERE = reject('role_required', 'Operators can’t log in at this address. Use the operators’ address.');
const NO_CODE = reject('second_factor_required', 'The user has a second factor: send its `code`, too.');
const WRONG_CODE = reject('unauthorized', 'The code is wrong, expired or already used.');

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** TOTP or recovery code of the second factor. */
  readonly code?: string | undefined;
}

/**
 * Starts a session and returns its token. Rejections:
 * - `unauthorized`: address and password don't match, the user is disabled, the account is suspended, or the code is wrong.
 * - `second_factor_required`: the password is right, but the code is missing.
 * - `role_required`: the user is an OPERATOR and `operatorsLogIn` is false.
 * Failures never lock a user out; they only delay responses. Throws PasswordHashingBusy.
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

/** Returns the user if the password is right and the user may log in; otherwise null, after the same work. */
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

type SessionNeeds = Pick<LogInNeeds, 'commands' | 'accounts' | 'sessions'>;

const userOfSession = async (
  { commands, accounts }: SessionNeeds,
  session: Session | null,
): Promise<SessionUser | null> => {
  if (session === null) return null;
  const { state: user } = await commands.load(USER, USER.stream(session.userId));
  if (user.status !== 'active' || user.passwordId !== session.passwordId) return null;
  if (user.secondFactorId !== session.secondFactorId) return null;
  const account = await accountOf(accounts, user);
  return account === 'none' ? null : { sessionId: session.sessionId, user, account };
};

/**
 * Returns the session's user, or null if the token belongs to no active session. Each request looks up the session and reads the user's
 * stream, so the end of a session takes effect in every process at once. Throws if either lookup fails.
 */
export const findSession =
  (needs: SessionNeeds & Pick<LogInNeeds, 'tokens'>) =>
  async (token: string): Promise<SessionUser | null> => {
    const named = await needs.tokens.read(token);
    return named === null ? null : userOfSession(needs, await needs.sessions.find(named));
  };

/** Returns whether the session is active, for a response that is still being sent. Does not count as a use. Throws like `findSession`. */
export const isSessionActive =
  (needs: SessionNeeds) =>
  async (sessionId: SessionId): Promise<boolean> =>
    (await userOfSession(needs, await needs.sessions.look(sessionId))) !== null;
