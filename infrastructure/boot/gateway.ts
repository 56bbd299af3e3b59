// The types of a gateway: its options, its core and its public interface.
import type { Needs } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { Capability, Gauge } from '../../application/core/capability.ts';
import type { Work } from '../../application/core/capabilityList.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { AccessLeases } from '../../application/ports/accessLeases.ts';
import type { MailSender } from '../../application/ports/mail.ts';
import type { ProcessManager } from '../../application/ports/processManager.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { AnyAggregate } from '../../domain/kernel/aggregate.ts';
import type { GatewayServices } from '../../http/kernel/serverContext.ts';
import type { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import type { AccessLeaseTimings } from '../accounts/accessLeases.ts';
import type { World } from '../adapters.ts';
import type { PgBossJobs } from '../jobs/pgBossJobs.ts';
import type { Log } from '../log/log.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import type { ParkedSet } from '../subscriptions/parkedSet.ts';
import type { LogProgress } from '../subscriptions/progress.ts';
import type { StartSchedule } from '../system/schedule.ts';
import type { TimerKinds } from '../timers/timerTable.ts';
import type { Storage } from './storage.ts';

/** The roles of this process; several processes may have the same role. */
export interface Roles {
  readonly serves: boolean;
  readonly projects: boolean;
  readonly works: boolean;
}

/** Parts of the core that the capabilities' adapters get, besides the options. */
export type GivenByCore = Pick<
  World,
  'jobs' | 'accounts' | 'notifiedWork' | 'readModels' | 'consumers' | 'attempts' | 'probeRule' | 'isShown' | 'closing'
>;

/** Options of the core and of the capabilities' adapters. */
export interface GatewayOptions extends Omit<World, keyof GivenByCore | 'projections'> {
  readonly storage: Storage;
  readonly keyring: SecretsKeyring;
  readonly log: Log;
  readonly clock: Clock;
  /** Default: only the product's capabilities. */
  readonly extension?: Extension;
  /** Default: all. */
  readonly projections?: readonly Projection<ReadModelName>[];
  /** Default: the product's timings. */
  readonly accessLeases?: AccessLeaseTimings;
  readonly startSchedule?: StartSchedule;
  /** Returns why this process must not work because its clock is wrong, or null. Default: always null. */
  readonly clockFault?: () => string | null;
  readonly roles: Roles;
  readonly mail: MailSender;
  /** Whether no other process works on this database, so that claims of a killed process can be reopened at once. */
  readonly isAlone: boolean;
  readonly onMismatch: (error: CheckpointMismatch) => void;
}

/** Capabilities besides the product's, with their adapters and aggregates. */
interface Extension {
  readonly capabilities: readonly Capability<Needs>[];
  readonly adapters: (storage: Storage) => object;
  readonly aggregates: readonly AnyAggregate[];
}

export const extension = <More extends object>(
  capabilities: readonly Capability<Needs & More>[],
  adapters: (storage: Storage) => More,
  aggregates: readonly AnyAggregate[] = [],
): Extension => {
  // These capabilities get the common needs and the result of `adapters`.
  const given: readonly unknown[] = capabilities;
  return { capabilities: given as readonly Capability<Needs>[], adapters, aggregates };
};

/** The parts that every role needs: commands, accounts, progress of subscriptions, job queue, and the capabilities' work. */
export interface Core {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly leases: AccessLeases;
  readonly projected: LogProgress<ReadModelName>;
  readonly reacted: LogProgress;
  readonly parked: ParkedSet;
  /** Called when an operator may have asked to retry parked streams; the leading process checks. */
  readonly leaders: (() => void)[];
  readonly jobs: PgBossJobs;
  readonly capabilities: readonly Capability<Needs>[];
  readonly processes: readonly ProcessManager[];
  readonly projections: readonly Projection<ReadModelName>[];
  readonly work: Work<Needs>;
  readonly timerKinds: TimerKinds;
  readonly services: GatewayServices;
  /** Ends the core's subscriptions and the webhook sender's connections. */
  close(): Promise<void>;
}

export interface Gateway
  extends Pick<Core, 'commands' | 'accounts' | 'leases' | 'services' | 'projected' | 'reacted' | 'parked' | 'jobs'> {
  /** The needs of the capabilities' work. */
  readonly needs: Needs;
  /** null if another process has this role. */
  readonly projector: Subscriptions | null;
  readonly reactor: Subscriptions | null;
  readonly clockFault: () => string | null;
  /** Metrics that the capabilities declare. */
  readonly gauges: readonly (Pick<Gauge<Needs>, 'name' | 'help'> & { readonly read: () => Promise<number> })[];
  /** Stops all work. Running jobs get `graceMs` to finish. */
  stop(graceMs: number): Promise<void>;
}
