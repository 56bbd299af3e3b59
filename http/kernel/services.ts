// What the routes can call. Composed in infrastructure/boot.

import type { addUserWithPassword } from '../../application/accounts/addUser.ts';
import type { changeAccountSettings } from '../../application/accounts/changeAccountSettings.ts';
import type { changePassword } from '../../application/accounts/changePassword.ts';
import type { changeRole } from '../../application/accounts/changeRole.ts';
import type { createAccount } from '../../application/accounts/createAccount.ts';
import type { inviteUser } from '../../application/accounts/inviteUser.ts';
import type { findSession, logIn } from '../../application/accounts/login.ts';
import type { issueApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../../application/accounts/manageKeys.ts';
import type { requestPasswordLink, setPassword } from '../../application/accounts/passwordLink.ts';
import type { confirmTotp, enrolTotp, resetSecondFactor } from '../../application/accounts/secondFactor.ts';
import type { reopen, suspend } from '../../application/accounts/suspension.ts';
import type { disableUser, enableUser } from '../../application/accounts/userStatus.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { Changer } from '../../application/core/eventMetadata.ts';
import type { answerCase } from '../../application/disputes/answerCase.ts';
import type { completeUpload, evidenceUrl, grantUpload, receiveEvidence } from '../../application/disputes/evidence.ts';
import type { showEvidence } from '../../application/disputes/viewEvidence.ts';
import type { cancelPayment } from '../../application/payments/cancellation.ts';
import type { CreateChargeHandler } from '../../application/payments/createCharge.ts';
import type { CreatePaymentHandler } from '../../application/payments/createPayment.ts';
import type { providerStatus } from '../../application/payments/providerStatus.ts';
import type { UserEmails } from '../../application/ports/credentials.ts';
import type { FailingTargets } from '../../application/ports/failingTargets.ts';
import type { KeyUseReads } from '../../application/ports/keyUses.ts';
import type { Logo } from '../../application/ports/logos.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { PlatformWork } from '../../application/ports/platformWork.ts';
import type { ParkedStreams, Progress } from '../../application/ports/readModels/progress.ts';
import type { AccountViews, KnownKey, UserViews, Views } from '../../application/ports/readModels/views.ts';
import type { RequestLogReads } from '../../application/ports/requestLog.ts';
import type { ReportSecurityEvent } from '../../application/ports/securityEvents.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import type { requestRefund } from '../../application/refunds/requestRefund.ts';
import type { actInSandbox } from '../../application/sandbox/actInSandbox.ts';
import type { changeSandboxSettings } from '../../application/sandbox/changeSandboxSettings.ts';
import type { decideSandboxRefund } from '../../application/sandbox/decideSandboxRefund.ts';
import type { sandboxDisputes } from '../../application/sandbox/disputeInSandbox.ts';
import type { payInSandbox } from '../../application/sandbox/payInSandbox.ts';
import type { advanceClock } from '../../application/sandbox/testClock.ts';
import type { attemptsOf } from '../../application/webhooks/attempts.ts';
import type { rotateOverrideSecret } from '../../application/webhooks/overrideSecret.ts';
import type { pingEndpoint } from '../../application/webhooks/pingEndpoint.ts';
import type { askRedrive } from '../../application/webhooks/redrive.ts';
import type { resendWebhook } from '../../application/webhooks/resendWebhook.ts';
import type { retryDelivery } from '../../application/webhooks/retryDelivery.ts';
import type {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  registerWebhookEndpoint,
  rotateWebhookSecret,
} from '../../application/webhooks/webhookEndpoints.ts';
import type { OpenAccount } from '../../domain/account/account.ts';
import type { PaymentId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { KnownUser } from '../../domain/user/user.ts';
import type { Delivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { EventSink } from './eventSink.ts';
import type { Operations } from './health.ts';
import type { Refusal } from './route.ts';

/** What operators of the platform do, by a request or at a terminal. */
export interface PlatformServices extends PlatformWork {
  readonly createAccount: ReturnType<typeof createAccount>;
  readonly listAccounts: AccountViews['list'];
  /** As its stream is now; null: there is no such account. */
  readonly findAccount: (id: Tenant['accountId']) => Promise<OpenAccount | null>;
  readonly suspendAccount: ReturnType<typeof suspend>;
  readonly reopenAccount: ReturnType<typeof reopen>;
  readonly addUser: ReturnType<typeof addUserWithPassword>;
  readonly inviteUser: ReturnType<typeof inviteUser>;
  readonly listUsers: UserViews['list'];
  /** As its stream is now; null: there is no such user. */
  readonly findUser: (id: UserId) => Promise<KnownUser | null>;
  /** Who has the e-mail address; null: nobody. */
  readonly findUserId: UserEmails['find'];
  readonly disableUser: ReturnType<typeof disableUser>;
  readonly enableUser: ReturnType<typeof enableUser>;
  readonly changeRole: ReturnType<typeof changeRole>;
  readonly resetSecondFactor: ReturnType<typeof resetSecondFactor>;
  readonly lastKeyUses: KeyUseReads['lastUsed'];
}

export interface Services extends ReturnType<typeof sandboxDisputes> {
  readonly baseUrl: string;
  readonly views: Views;
  readonly accounts: Accounts;
  readonly progress: Progress;
  readonly parked: ParkedStreams;
  /** null: nobody's, or of a suspended account. */
  readonly findKey: (cleartext: string) => Promise<KnownKey | null>;
  readonly issueApiKey: ReturnType<typeof issueApiKey>;
  readonly rotateApiKey: ReturnType<typeof rotateApiKey>;
  readonly revokeApiKey: ReturnType<typeof revokeApiKey>;
  readonly listApiKeys: ReturnType<typeof listApiKeys>;
  /** null: the token is not that of a session. */
  readonly findSession: ReturnType<typeof findSession>;
  readonly logIn: ReturnType<typeof logIn>;
  /** Its token is dead in every process when this resolves. */
  readonly logOut: (sessionId: SessionId) => Promise<void>;
  readonly changePassword: ReturnType<typeof changePassword>;
  readonly enrolTotp: ReturnType<typeof enrolTotp>;
  readonly confirmTotp: ReturnType<typeof confirmTotp>;
  readonly requestPasswordLink: ReturnType<typeof requestPasswordLink>;
  readonly setPassword: ReturnType<typeof setPassword>;
  /** For operators alone. */
  readonly platform: PlatformServices;
  readonly createCharge: CreateChargeHandler;
  readonly createPayment: CreatePaymentHandler;
  readonly payInSandbox: ReturnType<typeof payInSandbox>;
  readonly actInSandbox: ReturnType<typeof actInSandbox>;
  readonly cancelPayment: ReturnType<typeof cancelPayment>;
  readonly changeAccountSettings: ReturnType<typeof changeAccountSettings>;
  /** Checks the image first: `invalid_request` with param `logo`. null takes the logo away. */
  readonly changeLogo: (
    accountId: Tenant['accountId'],
    image: Uint8Array | null,
    by: Changer,
  ) => ReturnType<ReturnType<typeof changeAccountSettings>>;
  /** null: there is none under this SHA-256, or no name was asked for. */
  readonly findLogo: (sha256: string | null) => Promise<Logo | null>;
  readonly requestRefund: ReturnType<typeof requestRefund>;
  readonly decideSandboxRefund: ReturnType<typeof decideSandboxRefund>;
  readonly answerCase: ReturnType<typeof answerCase>;
  readonly grantUpload: ReturnType<typeof grantUpload>;
  readonly receiveEvidence: ReturnType<typeof receiveEvidence>;
  readonly completeUpload: ReturnType<typeof completeUpload>;
  readonly evidenceUrl: ReturnType<typeof evidenceUrl>;
  readonly showEvidence: ReturnType<typeof showEvidence>;
  readonly changeSandboxSettings: ReturnType<typeof changeSandboxSettings>;
  readonly advanceClock: ReturnType<typeof advanceClock>;
  /** Where webhooks may go (W5). */
  readonly judgeWebhookUrl: WebhookSender['judgeUrl'];
  readonly resendWebhook: ReturnType<typeof resendWebhook>;
  readonly retryDelivery: ReturnType<typeof retryDelivery>;
  readonly askRedrive: ReturnType<typeof askRedrive>;
  readonly rotateOverrideSecret: ReturnType<typeof rotateOverrideSecret>;
  readonly providerStatus: ReturnType<typeof providerStatus>;
  /** Whether the mode's provider lets the receipt of a settled payment be shown. */
  readonly exposesReceipts: (mode: Tenant['mode']) => boolean;
  readonly registerWebhookEndpoint: ReturnType<typeof registerWebhookEndpoint>;
  readonly changeWebhookEndpoint: ReturnType<typeof changeWebhookEndpoint>;
  readonly rotateWebhookSecret: ReturnType<typeof rotateWebhookSecret>;
  readonly pingEndpoint: ReturnType<typeof pingEndpoint>;
  /** Those of these targets of deliveries that keep failing. */
  readonly failingTargets: FailingTargets['failing'];
  readonly deleteWebhookEndpoint: ReturnType<typeof deleteWebhookEndpoint>;
  /** Waits for an effect to show in the read models: returns what `look` finds; null after `timeoutMs`. It looks whenever one moved. */
  readonly untilSeen: <T>(timeoutMs: number, look: () => Promise<T | null>) => Promise<T | null>;
  /** Ids of deliveries in the jobs that run now, of any tenant. */
  readonly deliveriesRunning: () => Promise<readonly string[]>;
  /** Returns the attempts of a delivery that its stream tells of, in order. */
  readonly attemptsOf: ReturnType<typeof attemptsOf>;
  /** Returns what the attempts of deliveries send, in order: JSON texts. */
  readonly bodiesOf: (deliveries: readonly Delivery[]) => Promise<readonly string[]>;
  /** Resolves when no message of the tenant is due or on its way, or after `timeoutMs`; how many still are, and how many are held back. */
  readonly whenDelivered: (tenant: Tenant, timeoutMs: number) => Promise<{ due: number; held: number }>;
  /** Resolves when nothing that was begun for the account's payments runs any more; false after `timeoutMs`. */
  readonly whenIdle: (accountId: Tenant['accountId'], timeoutMs: number) => Promise<boolean>;
  /** Resolves when the account's test clock has been worked off and read models show it; false after `timeoutMs`. */
  readonly whenClockDrained: (accountId: Tenant['accountId'], timeoutMs: number) => Promise<boolean>;
}

/** What a payer's page shows of a payment while it waits. */
export interface LiveStatus {
  readonly status: string;
  readonly expires_at: string | null;
  readonly now: string;
}

/** All that handlers can call: the use cases and what belongs to the process that serves. */
export interface AppServices extends Services {
  /** Whether operators log in on this listener. */
  readonly operatorsLogIn: boolean;
  /** Whether operators' routes refuse an operator without a second factor. */
  readonly operatorsNeedSecondFactor: boolean;
  readonly operations: Operations;
  /** Ends when the process stops: streams that have no end of their own end with it. */
  readonly closing: AbortSignal;
  readonly requestLog: RequestLogReads;
  readonly reportSecurityEvent: ReportSecurityEvent;
  /** Open pages of payers, which hear of changes. */
  readonly statusStreams: {
    /** Returns the stream of a payment's status; 204 once nothing can follow, and a refusal beyond a bound of open pages. */
    answer(
      id: PaymentId,
      address: string,
      status: LiveStatus,
    ): { readonly status: 204 } | { readonly status: 200; readonly open: (sink: EventSink) => void } | Refusal;
  };
}
