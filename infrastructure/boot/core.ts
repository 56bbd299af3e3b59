// What every role needs: commands, accounts, how far the followers are, the job queue, and the adapters of the outside world.

import { Accounts } from '../../application/accounts/accounts.ts';
import { ApiKeys } from '../../application/accounts/apiKeys.ts';
import { followCacheInvalidation } from '../../application/accounts/cacheInvalidation.ts';
import { CAPABILITIES, type Needs, NOTIFIED_WORK } from '../../application/capabilities.ts';
import { type Capability, type Handler, jobsOf, processesOf } from '../../application/core/capability.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { withHandlers } from '../../application/core/handlers.ts';
import { Quiescence } from '../../application/core/quiescence.ts';
import type { JobPayload } from '../../application/ports/jobs.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import type { ReadModelName } from '../../application/ports/readModels.ts';
import { PROBE_RULE } from '../../application/webhooks/endpointHealth.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { keyViews } from '../../projections/keyring/queries.ts';
import { overdueWork } from '../../projections/overdueWork.ts';
import { paymentReads } from '../../projections/payments/queries.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { deliveryReads } from '../../projections/webhookDeliveries/queries.ts';
import { PgBossJobs } from '../jobs/pgBossJobs.ts';
import type { Log } from '../log/log.ts';
import { operatorAlerts } from '../log/operatorAlerts.ts';
import { failingTargets } from '../operations/failingTargets.ts';
import { providerNotifications } from '../operations/providerNotifications.ts';
import { reconciliations } from '../operations/reconciliations.ts';
import { SandboxBank } from '../providers/sandbox/bank.ts';
import { isRightSecretsKey } from '../secrets/secretsKey.ts';
import { webhookSecrets } from '../secrets/webhookSecrets.ts';
import { caughtUp } from '../subscriptions/caughtUp.ts';
import { ParkedSet } from '../subscriptions/parkedSet.ts';
import { LogProgress } from '../subscriptions/progress.ts';
import { watchCheckpoints } from '../subscriptions/watchCheckpoints.ts';
import { systemRandomness } from '../system/randomness.ts';
import { systemStopwatch } from '../system/stopwatch.ts';
import { type JobOfTimer, jobOfTimers, testTimers, timers } from '../timers/timerTable.ts';
import { openWebhookSender } from '../webhookSender/webhookSender.ts';
import { ConfigError } from './config.ts';
import type { GatewayOptions } from './gateway.ts';
import { securityLog, tellingOfBlocked } from './securityLog.ts';

export interface Core {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  readonly projected: LogProgress<ReadModelName>;
  readonly reacted: LogProgress;
  readonly parked: ParkedSet;
  /** Called when an operator may want parked streams taken up again: whoever leads looks. */
  readonly leaders: (() => void)[];
  readonly jobs: PgBossJobs;
  readonly capabilities: readonly Capability<Needs>[];
  readonly projections: readonly Projection[];
  /** What the work of the capabilities needs, and their handlers by the name of their queue. */
  readonly needs: Needs;
  readonly handlers: ReadonlyMap<string, Handler<JobPayload>>;
  readonly jobOfTimer: JobOfTimer;
  /** Ends the subscriptions that this core holds, and the sender's connections. */
  close(): Promise<void>;
}

export const warnings =
  (log: Log) =>
  (what: string) =>
  (error: Error): void =>
    log.warn({ err: error }, what);

/** `names`: the followers of the role. They may run in other processes, whatever this one does: it may be the standby. */
const progressOf = async <Name extends string>(
  { storage, log }: GatewayOptions,
  role: string,
  names: readonly Name[],
) => {
  const progress = new LogProgress<Name>(() => performance.now(), names);
  await progress.follow(storage.store, storage.notices, role);
  const onError = warnings(log)(`how far the ${role} is could not be read`);
  const stop = await watchCheckpoints(storage.reads, progress, onError);
  return { progress, stop };
};

/** An operator is told in every process's log. */
const parkedSetOf = ({ storage, log }: GatewayOptions, onChange: () => void): ParkedSet =>
  new ParkedSet({
    db: storage.reads,
    onFound: (streams) => log.error({ streams }, 'streams are parked: npm run cli -- parked list'),
    onParked: ({ consumer, stream, revision, eventType, error }) =>
      log.error(
        { consumer, stream, revision, eventType, ...(error !== undefined && { reason: error }) },
        'a stream was parked: an event in it could not be taken, all other streams go on',
      ),
    onChange,
    onError: warnings(log)('parked streams could not be read'),
  });

export const openCore = async (options: GatewayOptions): Promise<Core> => {
  const {
    storage,
    log,
    clock,
    clockFault = () => null,
    capabilities = CAPABILITIES,
    projections = PROJECTIONS,
  } = options;
  const declared = jobsOf(capabilities);
  const { store, codec, reads, operations, derived, notices } = storage;
  if (!(await isRightSecretsKey(operations, options.secretsKey)))
    throw new ConfigError('SECRETS_KEY is not the key that this database’s secrets were sealed with');
  const commands = new CommandHandler({ store, codec, randomness: systemRandomness, stopwatch: systemStopwatch });
  const accounts = new Accounts(commands, clock);
  const { progress: projected, stop: stopProjected } = await progressOf(
    options,
    'projector',
    projections.map(({ name }) => name as ReadModelName),
  );
  const { progress: reacted, stop: stopReacted } = await progressOf(
    options,
    'reactor',
    processesOf(capabilities).map(consumerName),
  );
  const leaders: (() => void)[] = [];
  const parked = parkedSetOf(options, () => {
    for (const look of leaders) look();
  });
  await parked.follow(notices);
  const keys = new ApiKeys(keyViews(reads), projected);
  const stopping = new AbortController();
  await followCacheInvalidation(
    store,
    commands,
    keys,
    stopping.signal,
    warnings(log)('following accounts and keys failed'),
  );
  const jobs = await PgBossJobs.open({
    pool: derived,
    notices,
    queues: declared.map(({ kind, owed }) => ({ kind, isOwedByRow: owed.by === 'row' })),
    mayClaim: () => clockFault() === null,
    onError: (err, { queue, failures, isFinal }) =>
      isFinal
        ? log.error({ err, queue, failures }, 'a job failed for good: npm run cli -- jobs list')
        : log.warn({ err, queue, failures }, 'a job failed and will be tried again'),
  });
  if (options.isAlone) await jobs.releaseClaims();
  const bank = new SandboxBank({
    db: operations,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    confirmsRefunds: async (id) => (await accounts.refresh(id)).sandbox.autoConfirmRefunds,
    now: (id) => accounts.now(id, 'test'),
  });
  const providers: PaymentProviders = { of: (mode) => (mode === 'test' ? bank : options.liveProvider) };
  const sender = tellingOfBlocked(openWebhookSender({ allowPrivate: options.webhookAllowPrivate }), securityLog(log));
  const [randomness, stopwatch] = [systemRandomness, systemStopwatch];
  const quiescence = new Quiescence({ jobs, projected, reacted, stopwatch }, declared);
  const jobOfTimer = jobOfTimers(declared.map(({ kind }) => kind));
  const upTo = caughtUp(store, projected);
  const { needs, handlers } = withHandlers<Needs>(declared, (timerWork) => ({
    commands,
    accounts,
    clock,
    stopwatch,
    randomness,
    providers,
    sender,
    jobs,
    quiescence,
    timerWork,
    secrets: webhookSecrets(operations, options.secretsKey),
    notifications: providerNotifications(operations, jobs, NOTIFIED_WORK),
    reconciliations: reconciliations(operations),
    targets: failingTargets(derived, PROBE_RULE),
    timers: timers(operations),
    testTimers: testTimers(operations, jobs, jobOfTimer),
    payments: paymentReads(reads, upTo),
    deliveries: deliveryReads(reads),
    overdue: overdueWork(reads),
    alerts: operatorAlerts(log),
  }));
  return {
    commands,
    accounts,
    keys,
    projected,
    reacted,
    parked,
    leaders,
    jobs,
    capabilities,
    projections,
    needs,
    handlers,
    jobOfTimer,
    close: async () => {
      stopping.abort();
      stopProjected();
      stopReacted();
      parked.stop();
      await sender.close();
    },
  };
};
