// Users on a real event log. Credentials and sessions are in memory and record their calls; the hasher does no work.

import { changePassword } from '../../../application/accounts/changePassword.ts';
import { findSession, logIn, type Waits } from '../../../application/accounts/login.ts';
import { addUser, disableUser, enableUser } from '../../../application/accounts/users.ts';
import type { EventMetadata } from '../../../application/ports/loggedEvent.ts';
import type {
  LoginFailures,
  PasswordHasher,
  Passwords,
  Session,
  Sessions,
  SessionTokens,
  UserEmails,
} from '../../../application/ports/logins.ts';
import type { SecondFactors } from '../../../application/ports/secondFactors.ts';
import type { PasswordId, SessionId, UserId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { USER } from '../../../domain/user/user.ts';
import { systemRandomness } from '../../../infrastructure/system/system.ts';
import type { Core } from '../../support/core.ts';

export const BY = { actor: 'operator:test', requestId: null };
export const PASSWORD = 'uma senha de teste';

/** Scenes on the same core share no credentials or sessions. */
export const openAccess = (core: Core) => {
  /** The names of the methods called, in order. */
  const asked: string[] = [];
  const counted = <Port extends object>(name: string, port: Port): Port =>
    new Proxy(port, {
      get: (target, key) => {
        const method = Reflect.get(target, key) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          asked.push(`${name}.${String(key)}`);
          return method(...args);
        };
      },
    });

  const addresses = new Map<string, UserId>();
  const hashes = new Map<PasswordId, { readonly userId: UserId; readonly hash: string }>();
  const open = new Map<SessionId, Session>();
  const failed = new Map<string, number>();

  const emails: UserEmails = {
    find: async (email) => addresses.get(email.toLowerCase()) ?? null,
    claim: async (email, userId) => {
      const key = email.toLowerCase();
      if (!addresses.has(key)) addresses.set(key, userId);
      return addresses.get(key) as UserId;
    },
  };
  const passwords: Passwords = {
    keep: async (passwordId, userId, hash) => void hashes.set(passwordId, { userId, hash }),
    find: async (passwordId) => hashes.get(passwordId)?.hash ?? null,
    forgetOlder: async (userId, kept) => {
      const ids = [...hashes.keys()]; // in the order in which they were stored
      for (const id of ids.slice(0, Math.max(0, ids.indexOf(kept))))
        if (hashes.get(id)?.userId === userId) hashes.delete(id);
    },
    forget: async (passwordId) => void hashes.delete(passwordId),
  };
  const hasher: PasswordHasher = {
    hash: async (password) => `hash of ${password}`,
    isRight: async (password, hash) => hash === `hash of ${password}`,
  };
  const sessions: Sessions = {
    begin: async (session) => void open.set(session.sessionId, session),
    find: async (sessionId) => open.get(sessionId) ?? null,
    look: async (sessionId) => open.get(sessionId) ?? null,
    carryOver: async (changed) => {
      const session = open.get(changed.sessionId);
      if (session) open.set(changed.sessionId, { ...session, ...changed });
    },
    end: async (sessionId) => void open.delete(sessionId),
    endOfUser: async (userId) => {
      for (const [id, session] of open) if (session.userId === userId) open.delete(id);
    },
    endOfAccount: async (accountId) => {
      for (const [id, session] of open) if (session.accountId === accountId) open.delete(id);
    },
    forgetOld: async () => undefined,
  };
  const tokens: SessionTokens = {
    issue: async ({ sessionId }) => sessionId,
    read: async (token) => token as SessionId,
  };
  const failures: LoginFailures = {
    count: async (email) => failed.get(email.toLowerCase()) ?? 0,
    record: async (email) => void failed.set(email.toLowerCase(), (failed.get(email.toLowerCase()) ?? 0) + 1),
    removeOne: async (email) => void failed.set(email.toLowerCase(), (failed.get(email.toLowerCase()) ?? 0) - 1),
    forgetOld: async () => undefined,
  };

  const needs = {
    commands: core.commands,
    accounts: core.accounts,
    randomness: systemRandomness,
    emails: counted('emails', emails),
    passwords: counted('passwords', passwords),
    hasher: counted('hasher', hasher),
    sessions: counted('sessions', sessions),
    tokens,
    failures: counted('failures', failures),
    // No user in these scenes has a second factor, so none of its methods may be called.
    secondFactors: {} as SecondFactors,
  };
  const paused: number[] = [];
  const waits: Waits = {
    address: '192.0.2.1',
    pause: async (ms) => void paused.push(ms),
    apart: (turn) => turn,
  };
  const add = addUser(needs);
  return {
    core,
    needs,
    asked,
    paused,
    hashes,
    failed,
    add: (wish: Partial<Parameters<typeof add>[0]> = {}) =>
      add(
        {
          accountId: core.account.accountId,
          email: 'ana@example.com',
          name: 'Ana',
          role: 'OWNER',
          password: PASSWORD,
          ...wish,
        },
        BY,
      ),
    /** Returns the token, or the code of the rejection. */
    logIn: async (password = PASSWORD, email = 'ana@example.com'): Promise<string> => {
      const done = await logIn(needs)({ email, password }, true, waits);
      return isRejection(done) ? done.code : done.token;
    },
    /** Returns whether the token belongs to an open session. */
    isOpen: async (token: string): Promise<boolean> => (await findSession(needs)(token)) !== null,
    change: async (token: string, current: string, wanted: string): Promise<string | null> => {
      const session = await findSession(needs)(token);
      if (session === null) return 'no session';
      const { sessionId, user } = session;
      const refused = await changePassword(needs)({ sessionId, userId: user.userId }, { current, wanted }, BY, waits);
      return refused?.code ?? null;
    },
    disable: (userId: UserId) => disableUser(needs)(userId, BY),
    enable: (userId: UserId) => enableUser(needs)(userId, BY),
    /** Returns the account, mode and actor of each of the user’s events. */
    reasonsOf: async (userId: UserId) => {
      const reasons: object[] = [];
      for await (const { metadata } of core.store.readStream(USER.stream(userId))) {
        const { account, mode, actor } = JSON.parse(metadata) as EventMetadata;
        reasons.push({ account, mode, actor });
      }
      return reasons;
    },
    eventsOf: async (userId: UserId) => (await core.eventsOf(USER.stream(userId))).map(({ type }) => type),
  };
};
export type AccessScene = ReturnType<typeof openAccess>;
