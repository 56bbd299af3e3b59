// What the routes can call. Composed in infrastructure/boot.
import type { Accounts } from '../../application/core/accounts.ts';
import type { cancelPayment } from '../../application/payments/cancellation.ts';
import type { CreateChargeHandler } from '../../application/payments/createCharge.ts';
import type { CreatePaymentHandler } from '../../application/payments/createPayment.ts';
import type { providerStatus } from '../../application/payments/providerStatus.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { ParkedStreams, Progress } from '../../application/ports/readModels/progress.ts';
import type { KnownKey, Views } from '../../application/ports/readModels/views.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import type { requestRefund } from '../../application/refunds/requestRefund.ts';
import type { actInSandbox } from '../../application/sandbox/actInSandbox.ts';
import type { changeSandboxSettings } from '../../application/sandbox/changeSandboxSettings.ts';
import type { decideSandboxRefund } from '../../application/sandbox/decideSandboxRefund.ts';
import type { payInSandbox } from '../../application/sandbox/payInSandbox.ts';
import type { advanceClock } from '../../application/sandbox/testClock.ts';
import type { rotateOverrideSecret } from '../../application/webhooks/overrideSecret.ts';
import type { resendWebhook } from '../../application/webhooks/resendWebhook.ts';
import type { deleteWebhookEndpoint, registerWebhookEndpoint } from '../../application/webhooks/webhookEndpoints.ts';
import type { StatusStreams } from '../site/statusStreams.ts';
import type { Operations } from './health.ts';

export interface Services {
  readonly baseUrl: string;
  readonly views: Views;
  readonly accounts: Accounts;
  readonly progress: Progress;
  readonly parked: ParkedStreams;
  /** null: nobody's. */
  readonly findKey: (cleartext: string) => Promise<KnownKey | null>;
  readonly createCharge: CreateChargeHandler;
  readonly createPayment: CreatePaymentHandler;
  readonly payInSandbox: ReturnType<typeof payInSandbox>;
  readonly actInSandbox: ReturnType<typeof actInSandbox>;
  readonly cancelPayment: ReturnType<typeof cancelPayment>;
  readonly requestRefund: ReturnType<typeof requestRefund>;
  readonly decideSandboxRefund: ReturnType<typeof decideSandboxRefund>;
  readonly changeSandboxSettings: ReturnType<typeof changeSandboxSettings>;
  readonly advanceClock: ReturnType<typeof advanceClock>;
  /** Where webhooks may go (W5). */
  readonly judgeWebhookUrl: WebhookSender['judgeUrl'];
  readonly resendWebhook: ReturnType<typeof resendWebhook>;
  readonly rotateOverrideSecret: ReturnType<typeof rotateOverrideSecret>;
  readonly providerStatus: ReturnType<typeof providerStatus>;
  /** Whether the mode's provider lets the receipt of a settled payment be shown. */
  readonly exposesReceipts: (mode: Tenant['mode']) => boolean;
  readonly registerWebhookEndpoint: ReturnType<typeof registerWebhookEndpoint>;
  readonly deleteWebhookEndpoint: ReturnType<typeof deleteWebhookEndpoint>;
  /** Ids of deliveries in the jobs that run now, of any tenant. */
  readonly deliveriesRunning: () => Promise<readonly string[]>;
  /** Resolves when no message of the tenant is due or on its way, or after `timeoutMs`; how many still are, and how many are held back. */
  readonly whenDelivered: (tenant: Tenant, timeoutMs: number) => Promise<{ due: number; held: number }>;
  /** Resolves when nothing that was begun for the account's payments runs any more; false after `timeoutMs`. */
  readonly whenIdle: (accountId: Tenant['accountId'], timeoutMs: number) => Promise<boolean>;
  /** Resolves when the account's test clock has been worked off and read models show it; false after `timeoutMs`. */
  readonly whenClockDrained: (accountId: Tenant['accountId'], timeoutMs: number) => Promise<boolean>;
}

/** All that handlers can call: the use cases and what belongs to the process that serves. */
export interface AppServices extends Services {
  readonly operations: Operations;
  /** Open pages of payers, which hear of changes. */
  readonly statusStreams: StatusStreams;
}
