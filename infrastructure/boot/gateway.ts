// A gateway from outside: what it is made of, and what it is.
import type { Needs } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { Capability, Gauge } from '../../application/core/capability.ts';
import type { Work } from '../../application/core/capabilityList.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { AccessLeases } from '../../application/ports/accessLeases.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { MailSender } from '../../application/ports/mail.ts';
import type { ProcessManager } from '../../application/ports/processManager.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
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
import type { JobOfTimer } from '../timers/timerTable.ts';
import type { Storage } from './storage.ts';

/** What this process does; several processes may do each. */
export interface Roles {
  readonly serves: boolean;
  readonly projects: boolean;
  readonly works: boolean;
}

/** What the core gives the adapters of the capabilities, beside its own options. */
export type GivenByCore = Pick<
  World,
  'jobs' | 'accounts' | 'notifiedWork' | 'readModels' | 'consumers' | 'attempts' | 'probeRule' | 'isShown' | 'closing'
>;

/** Options of the core, and those that adapters of capabilities ask for. */
export interface GatewayOptions extends Omit<World, keyof GivenByCore | 'projections'> {
  readonly storage: Storage;
  readonly keyring: SecretsKeyring;
  readonly log: Log;
  readonly clock: Clock;
  /** Default: nothing beside the product's capabilities. */
  readonly extension?: Extension;
  /** Default: all there are. */
  readonly projections?: readonly Projection<ReadModelName>[];
  /** Default of both: the product's. */
  readonly accessLeases?: AccessLeaseTimings;
  readonly startSchedule?: StartSchedule;
  /** Why this process must not work, because its own clock is off; null: it is not. Default: never. */
  readonly clockFault?: () => string | null;
  readonly roles: Roles;
  readonly mail: MailSender;
  /** No other process works on this database: claims of a killed one are open again at once. */
  readonly isAlone: boolean;
  readonly onMismatch: (error: CheckpointMismatch) => void;
}

/** Capabilities beside the product's, what only they need of the world, and their aggregates. */
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
  // They are given what `adapters` returns beside everybody's needs.
  const given: readonly unknown[] = capabilities;
  return { capabilities: given as readonly Capability<Needs>[], adapters, aggregates };
};

/** What every role needs: commands, accounts, how far the subscriptions are, the job queue, and the work of the capabilities. */
export interface Core {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly leases: AccessLeases;
  readonly projected: LogProgress<ReadModelName>;
  readonly reacted: LogProgress;
  readonly parked: ParkedSet;
  /** Called when an operator may want parked streams taken up again: whoever leads looks. */
  readonly leaders: (() => void)[];
  readonly jobs: PgBossJobs;
  readonly capabilities: readonly Capability<Needs>[];
  readonly processes: readonly ProcessManager[];
  readonly projections: readonly Projection<ReadModelName>[];
  readonly work: Work<Needs>;
  readonly jobOfTimer: JobOfTimer;
  readonly services: GatewayServices;
  /** Ends the subscriptions that this core holds, and the sender's connections. */
  close(): Promise<void>;
}

export interface Gateway
  extends Pick<Core, 'commands' | 'accounts' | 'leases' | 'services' | 'projected' | 'reacted' | 'parked' | 'jobs'> {
  /** What the work of the capabilities needs. */
  readonly needs: Needs;
  /** null: another process's part. */
  readonly projector: Subscriptions | null;
  readonly reactor: Subscriptions | null;
  readonly clockFault: () => string | null;
  /** Numbers that the capabilities have an operator watch. */
  readonly gauges: readonly (Pick<Gauge<Needs>, 'name' | 'help'> & { readonly read: () => Promise<number> })[];
  /** Stops following and working; what runs is finished within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}
