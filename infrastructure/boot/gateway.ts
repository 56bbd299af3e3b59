// What a composed gateway is, and what is needed to compose one.

import type { Accounts } from '../../application/accounts/accounts.ts';
import type { Needs } from '../../application/capabilities.ts';
import type { Capability } from '../../application/core/capability.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { PaymentProvider } from '../../application/ports/paymentProvider.ts';
import type { ReadModelName } from '../../application/ports/readModels.ts';
import type { Services } from '../../http/kernel/services.ts';
import type { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import type { PgBossJobs } from '../jobs/pgBossJobs.ts';
import type { Log } from '../log/log.ts';
import type { ParkedSet } from '../subscriptions/parkedSet.ts';
import type { LogProgress } from '../subscriptions/progress.ts';
import type { Storage } from './storage.ts';

/** What this process does; several processes may do each. */
export interface Roles {
  readonly serves: boolean;
  readonly projects: boolean;
  readonly works: boolean;
}

export interface GatewayOptions {
  readonly storage: Storage;
  readonly secretsKey: Buffer;
  readonly publicUrl: string;
  readonly webhookAllowPrivate: boolean;
  readonly log: Log;
  readonly clock: Clock;
  /** Default: all there are. */
  readonly capabilities?: readonly Capability<Needs>[];
  /** Default: all there are. */
  readonly projections?: readonly Projection[];
  /** Why this process must not work, because its own clock is off; null: it is not. Default: never. */
  readonly clockFault?: () => string | null;
  readonly roles: Roles;
  /** The bank of live mode; null: none is configured (E5). */
  readonly liveProvider: PaymentProvider | null;
  /** No other process works on this database: claims of a killed one are open again at once. */
  readonly isAlone: boolean;
  readonly onMismatch: (error: CheckpointMismatch) => void;
}

export interface Gateway {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly services: Services;
  /** What the work of the capabilities needs. */
  readonly needs: Needs;
  readonly projected: LogProgress<ReadModelName>;
  readonly reacted: LogProgress;
  readonly parked: ParkedSet;
  /** null: another process's part. */
  readonly projector: Subscriptions | null;
  readonly reactor: Subscriptions | null;
  readonly jobs: PgBossJobs;
  readonly clockFault: () => string | null;
  /** Stops following and working; what runs is finished within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}
