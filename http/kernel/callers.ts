// Who calls a route, and what is known of them.
import type { OpenAccount } from '../../domain/account/account.ts';
import type { Mode, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { AccountRole } from '../../domain/user/user.ts';

/** Whoever calls with an API key. */
export interface Caller {
  readonly account: OpenAccount;
  readonly tenant: { readonly accountId: OpenAccount['accountId']; readonly mode: Mode };
  /** `key:<first 16 hex characters of its fingerprint>`. */
  readonly actor: string;
}

/** Whoever calls with a token of the dashboard. */
interface LoggedInCaller {
  readonly sessionId: SessionId;
  readonly userId: UserId;
  readonly email: string;
  readonly name: string;
  /** `user:usr_…`. */
  readonly actor: string;
}
/** A member of a merchant's account. What it may do depends on its role; it acts in both modes, and is judged as in live. */
export interface SessionCaller extends LoggedInCaller {
  readonly role: AccountRole;
  readonly account: OpenAccount;
  readonly tenant: Caller['tenant'];
}
/** An operator of the platform. */
export interface OperatorCaller extends LoggedInCaller {
  readonly role: 'OPERATOR';
  readonly hasSecondFactor: boolean;
}

/** What is known of who calls, by the principal that a route asks for. `testKey`: a live key gets 403 `mode_not_allowed` (decisions X). */
export interface Callers {
  public: null;
  apiKey: Caller;
  testKey: Caller;
  /** `anySession`: of an account or of the platform. `session`, `operator`: with the other one it is 403 `role_required`. */
  anySession: SessionCaller | OperatorCaller;
  session: SessionCaller;
  operator: OperatorCaller;
  /** Whoever reads the metrics (http/kernel/health.ts). */
  monitor: null;
  provider: unknown;
}
export type Principal = keyof Callers;
/** Whoever sent a right key or token. */
export type KnownCaller = Caller | Callers['anySession'];

export const isKeyed = (principal: Principal): boolean => principal === 'apiKey' || principal === 'testKey';

/** Whether a token of the dashboard is asked for. */
export const isOfSession = (principal: Principal): principal is 'anySession' | 'session' | 'operator' =>
  principal === 'anySession' || principal === 'session' || principal === 'operator';
