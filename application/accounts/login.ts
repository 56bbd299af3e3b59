// Logging in and out (rule D1). An address that is not known and a wrong password are answered alike: by the same words after the same
// work, one hash and the same reads.
import type { OpenAccount } from '../../domain/account/account.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { encodeRawId, type SessionId, type UserId } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { KnownUser, UserState } from '../../domain/user/user.ts';
import type { Accounts } from '../core/accounts.ts';
import { USER } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { PasswordHasher, Passwords, UserEmails } from '../ports/credentials.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { LoginFailures, Sessions, SessionTokens } from '../ports/sessions.ts';

/** A session ends so long after the login (D1). */
export const SESSION_SECONDS = 3_600;

/** From so many failures of one user within 15 minutes its answers are slower: a second for each 20, up to 10 seconds. */
const FAILURES_BEFORE_DELAY = 20;
const DELAY_MS_MAX = 10_000;
const delayMsAfter = (failures: number): number =>
  Math.min(DELAY_MS_MAX, Math.floor(failures / FAILURES_BEFORE_DELAY) * 1_000);

/** Waits before a password of this user is looked at, where many were wrong. */
export const slowDown = async (
  failures: LoginFailures,
  email: string,
  pause: (ms: number) => Promise<void>,
): Promise<void> => {
  const delayMs = delayMsAfter(await failures.count(email));
  if (delayMs > 0) await pause(delayMs);
};

export interface LogInNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly randomness: Randomness;
  readonly emails: UserEmails;
  readonly passwords: Passwords;
  readonly hasher: PasswordHasher;
  readonly sessions: Sessions;
  readonly tokens: SessionTokens;
  readonly failures: LoginFailures;
}

export interface LoggedIn {
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

/**
 * Returns a new session's token. `unauthorized`: nobody has this address and password, the user is disabled or its account suspended. The
 * owner is never locked out: after many failures the answer comes later, behind `pause`. Throws PasswordHashingBusy.
 */
export const logIn =
  ({ commands, accounts, randomness, emails, passwords, hasher, sessions, tokens, failures }: LogInNeeds) =>
  async (
    { email, password }: { readonly email: string; readonly password: string },
    pause: (ms: number) => Promise<void>,
  ): Promise<LoggedIn | Rejection> => {
    await slowDown(failures, email, pause);
    const nobody = encodeRawId(randomness.bytes(16)) as UserId;
    const userId = (await emails.find(email)) ?? nobody;
    const { state: user } = await commands.load(USER, streamName.user(userId));
    const passwordId = user.status === 'absent' ? null : user.passwordId;
    const hash = await passwords.find(passwordId ?? (nobody as string as NonNullable<typeof passwordId>));
    const isRight = await hasher.isRight(password, hash);
    const account = isRight ? await accountOf(accounts, user) : 'none';
    if (passwordId === null || user.status !== 'active' || account === 'none') {
      await failures.record(email);
      return WRONG;
    }
    const sessionId = encodeRawId(randomness.bytes(16)) as SessionId;
    const session = { sessionId, userId, accountId: user.accountId, passwordId };
    await sessions.begin(session, SESSION_SECONDS);
    const token = await tokens.issue({ ...session, role: user.role }, SESSION_SECONDS);
    return { token, expiresInSeconds: SESSION_SECONDS, user, account };
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
    const { state: user } = await commands.load(USER, streamName.user(session.userId));
    if (user.status !== 'active' || user.passwordId !== session.passwordId) return null;
    const account = await accountOf(accounts, user);
    return account === 'none' ? null : { sessionId: session.sessionId, user, account };
  };
