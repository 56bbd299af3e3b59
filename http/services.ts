// What the routes can call. Composed in infrastructure/boot.
import type { Accounts } from '../application/accounts.ts';
import type { advanceClock } from '../application/commands/advanceTestClock.ts';
import type { CreateChargeHandler } from '../application/commands/createCharge.ts';
import type { payInSandbox } from '../application/commands/payInSandbox.ts';
import type { deleteWebhookEndpoint, registerWebhookEndpoint } from '../application/commands/webhookEndpoints.ts';
import type { Tenant } from '../application/ports/paymentProvider.ts';
import type { Progress } from '../application/ports/readModels.ts';
import type { Sql } from '../application/ports/sql.ts';
import type { KnownKey } from '../projections/keyring/queries.ts';

export interface Services {
  readonly baseUrl: string;
  /** Read models. */
  readonly db: Sql;
  readonly accounts: Accounts;
  readonly progress: Progress;
  /** null: nobody's. */
  readonly findKey: (cleartext: string) => Promise<KnownKey | null>;
  readonly createCharge: CreateChargeHandler;
  readonly payInSandbox: ReturnType<typeof payInSandbox>;
  readonly advanceClock: ReturnType<typeof advanceClock>;
  readonly registerWebhookEndpoint: ReturnType<typeof registerWebhookEndpoint>;
  readonly deleteWebhookEndpoint: ReturnType<typeof deleteWebhookEndpoint>;
  /** Resolves when no message of the tenant is due or on its way, or after `timeoutMs`; how many still are. */
  readonly deliveriesAtRest: (tenant: Tenant, timeoutMs: number) => Promise<number>;
  /** Resolves when the account's test clock has been worked off and read models show it; false after `timeoutMs`. */
  readonly clockDrained: (accountId: Tenant['accountId'], timeoutMs: number) => Promise<boolean>;
}
