// The callers of routes, by the principal that a route requires.
import type { OpenAccount } from '../../domain/account/account.ts';
import type { ConnectionId, Mode, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { AccountRole } from '../../domain/user/user.ts';

/** A caller with an API key. */
export interface Caller {
  readonly account: OpenAccount;
  readonly tenant: { readonly accountId: OpenAccount['accountId']; readonly mode: Mode };
  /** `key:<first 16 hex characters of its fingerprint>`. */
  readonly actor: string;
}

/** A caller with a dashboard token. */
interface LoggedInCaller {
  readonly sessionId: SessionId;
  readonly userId: UserId;
  readonly email: string;
  readonly name: string;
  /** `user:usr_…`. */
  readonly actor: string;
}
/** A member of a merchant's account. Its permissions depend on its role. It acts in both modes; requests are validated as in live. */
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

/** A member of an account in its browser, by the cookie of the dashboard. */
export interface MemberCaller extends SessionCaller {
  /** The token that every form of the session's pages sends (http/kernel/forms.ts). */
  readonly csrf: string;
}
/** An operator of the platform in its browser, by the same cookie. */
export interface PlatformCaller extends OperatorCaller {
  readonly csrf: string;
}

/** An institution that calls back, by its connection. */
export interface ProviderCaller {
  readonly connectionId: ConnectionId;
}

/** An auditor, by a token. null for anyone, if the deployment's settings make the route public. */
export interface AuditorCaller {
  readonly tokenId: string | null;
}

/** The caller's data by the principal that a route requires. With `testKey`, a live key gets 403 `mode_not_allowed` (decisions X). */
export interface Callers {
  public: null;
  apiKey: Caller;
  testKey: Caller;
  /** `session` and `operator` answer each other's tokens with 403 (`role_required`, or the route's own code). `anySession` accepts both. */
  anySession: SessionCaller | OperatorCaller;
  session: SessionCaller;
  operator: OperatorCaller;
  /** A page of the dashboard. Browsers without a session are redirected to SIGN_IN. */
  member: MemberCaller;
  /** A page for operators. `member` and `platformMember` answer each other's users with 403 `role_required`; `anyMember` accepts both. */
  platformMember: PlatformCaller;
  anyMember: MemberCaller | PlatformCaller;
  /** A reader of the metrics (http/kernel/health.ts). */
  monitor: null;
  provider: ProviderCaller;
  auditor: AuditorCaller;
}
export type Principal = keyof Callers;
/** A caller with a valid key or token. */
export type KnownCaller = Caller | Callers['anySession'];

export const isKeyed = (principal: Principal): boolean => principal === 'apiKey' || principal === 'testKey';

type OfBrowser = 'member' | 'platformMember' | 'anyMember';
/** Returns whether the principal requires the cookie that holds a session. */
export const isOfBrowser = (principal: Principal): principal is OfBrowser =>
  principal === 'member' || principal === 'platformMember' || principal === 'anyMember';

/** Returns whether the principal requires a session: a dashboard token, or the cookie that holds one. */
export const isOfSession = (principal: Principal): principal is 'anySession' | 'session' | 'operator' | OfBrowser =>
  principal === 'anySession' || principal === 'session' || principal === 'operator' || isOfBrowser(principal);

/** Returns whether only operators of the platform are admitted. */
export const isOfOperators = (principal: Principal): boolean =>
  principal === 'operator' || principal === 'platformMember';

/** The page where browsers sign in. */
export const SIGN_IN = '/dashboard/sign-in';
/** The common path of operators' pages. */
export const PLATFORM_PAGES = '/dashboard/platform';
/** The page where an operator enrolls a second factor. */
export const ENROLMENT = `${PLATFORM_PAGES}/settings`;
