// The one composition: which adapters, capabilities and read models make a gateway, and what its routes can call.

import { ApiKeys } from '../../application/accounts/apiKeys.ts';
import { followCacheInvalidation } from '../../application/accounts/cacheInvalidation.ts';
import { CAPABILITIES, type Needs, NOTIFIED_WORK } from '../../application/capabilities.ts';
import { Accounts } from '../../application/core/accounts.ts';
import { type Capability, type Handler, jobsOf, processesOf } from '../../application/core/capability.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { withHandlers } from '../../application/core/handlers.ts';
import { Quiescence } from '../../application/core/quiescence.ts';
import { Canceller, cancelPayment } from '../../application/payments/cancellation.ts';
import { CreateChargeHandler } from '../../application/payments/createCharge.ts';
import { CreatePaymentHandler } from '../../application/payments/createPayment.ts';
import { InstrumentIssuer } from '../../application/payments/issueInstruments.ts';
import { providerStatus } from '../../application/payments/providerStatus.ts';
import { Settler } from '../../application/payments/settle.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { JobPayload } from '../../application/ports/jobs.ts';
import type { PaymentProvider, PaymentProviders } from '../../application/ports/paymentProvider.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import { requestRefund } from '../../application/refunds/requestRefund.ts';
import { actInSandbox } from '../../application/sandbox/actInSandbox.ts';
import { changeSandboxSettings } from '../../application/sandbox/changeSandboxSettings.ts';
import { decideSandboxRefund } from '../../application/sandbox/decideSandboxRefund.ts';
import { payInSandbox } from '../../application/sandbox/payInSandbox.ts';
import { advanceClock, whenClockDrained } from '../../application/sandbox/testClock.ts';
import { PROBE_RULE } from '../../application/webhooks/endpointHealth.ts';
import { deliveriesRunning, whenDelivered } from '../../application/webhooks/messagesUnderWay.ts';
import { rotateOverrideSecret } from '../../application/webhooks/overrideSecret.ts';
import { resendWebhook } from '../../application/webhooks/resendWebhook.ts';
import { deleteWebhookEndpoint, registerWebhookEndpoint } from '../../application/webhooks/webhookEndpoints.ts';
import type { Services } from '../../http/kernel/services.ts';
import type { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { keyViews } from '../../projections/keyring/queries.ts';
import { overdueWork } from '../../projections/overdueWork.ts';
import { paymentReads } from '../../projections/payments/queries.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { viewsOf } from '../../projections/views.ts';
import { deliveryReads, endpointReads } from '../../projections/webhooks/queries.ts';
import { PgBossJobs } from '../jobs/pgBossJobs.ts';
import { type Log, warnings } from '../log/log.ts';
import { operatorAlerts } from '../log/operatorAlerts.ts';
import { failingTargets } from '../operations/failingTargets.ts';
import { providerNotifications } from '../operations/providerNotifications.ts';
import { reconciliations } from '../operations/reconciliations.ts';
import { velocityGuard } from '../operations/velocityGuard.ts';
import { tenantLock } from '../postgres/tenantLock.ts';
import { SandboxBank } from '../providers/sandbox/bank.ts';
import { sandboxPayer } from '../providers/sandbox/payer.ts';
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
import { projectorOf, startWorker } from './roles.ts';
import { securityLog, tellingOfBlocked, tellingOfChanges } from './securityLog.ts';
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
  /** Default of both lists: all there are. */
  readonly capabilities?: readonly Capability<Needs>[];
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

// --- What the routes can call ---

export const openGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const core = await openCore(options);
  const projector = options.roles.projects ? projectorOf(options, core) : null;
  projector?.start();
  const worker = options.roles.works ? startWorker(options, core) : null;
  const { commands, accounts, projected, reacted, parked, jobs } = core;
  const { clockFault = () => null } = options;
  return {
    commands,
    accounts,
    projected,
    reacted,
    parked,
    jobs,
    clockFault,
    needs: core.needs,
    projector,
    reactor: worker?.reactor ?? null,
    services: servicesOf(options, core),
    stop: async (graceMs) => {
      await worker?.stop();
      await jobs.stop(graceMs);
      await projector?.stop();
      await core.close();
    },
  };
};

const servicesOf = ({ storage, publicUrl, log }: GatewayOptions, core: Core): Services => {
  const { accounts, projected, reacted, keys, needs } = core;
  const { providers, sender, quiescence } = needs;
  const { store, reads, operations } = storage;
  const views = viewsOf(reads);
  const asked = {
    ...needs,
    projected,
    reacted,
    issuer: new InstrumentIssuer(needs),
    canceller: new Canceller({ ...needs, settler: new Settler(needs) }),
    velocity: velocityGuard({ db: operations, payments: needs.payments }),
    bank: sandboxPayer(operations, needs.notifications),
    endpoints: endpointReads(reads, caughtUp(store, projected)),
    withTenantLock: tenantLock(operations),
  };
  return {
    baseUrl: publicUrl,
    views,
    accounts,
    progress: projected,
    parked: core.parked,
    findKey: (cleartext) => keys.find(cleartext),
    createCharge: new CreateChargeHandler(asked),
    createPayment: new CreatePaymentHandler(asked),
    payInSandbox: payInSandbox(asked),
    actInSandbox: actInSandbox(asked),
    cancelPayment: cancelPayment(asked),
    requestRefund: requestRefund(asked),
    decideSandboxRefund: decideSandboxRefund(asked),
    advanceClock: advanceClock(asked),
    judgeWebhookUrl: (url, mode) => sender.judgeUrl(url, mode),
    resendWebhook: resendWebhook(asked),
    providerStatus: providerStatus(asked),
    exposesReceipts: (mode) => providers.of(mode)?.exposesReceipts === true,
    ...tellingOfChanges(
      {
        changeSandboxSettings: changeSandboxSettings(asked),
        rotateOverrideSecret: rotateOverrideSecret(asked),
        registerWebhookEndpoint: registerWebhookEndpoint(asked),
        deleteWebhookEndpoint: deleteWebhookEndpoint(asked),
      },
      log,
    ),
    deliveriesRunning: deliveriesRunning(asked),
    whenDelivered: whenDelivered(asked),
    whenIdle: (accountId, timeoutMs) => quiescence.whenIdle({ accountId, mode: 'test' }, timeoutMs),
    whenClockDrained: whenClockDrained(asked),
  };
};

// --- What every role needs: commands, accounts, how far the subscriptions are, the job queue, and the adapters of the outside world ---

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
