// The one composition: which adapters, capabilities and read models make a gateway, and what its routes can call.

import { CAPABILITIES, type Needs, NOTIFIED_WORK } from '../../application/capabilities.ts';
import { Accounts } from '../../application/core/accounts.ts';
import {
  type Capability,
  type Gauge,
  type Handler,
  jobsOf,
  processesOf,
  withHandlers,
} from '../../application/core/capability.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { pollUntil, Quiescence } from '../../application/core/quiescence.ts';
import { answerCase } from '../../application/disputes/answerCase.ts';
import { Canceller, cancelPayment } from '../../application/payments/cancellation.ts';
import { CreateChargeHandler } from '../../application/payments/createCharge.ts';
import { CreatePaymentHandler } from '../../application/payments/createPayment.ts';
import { InstrumentIssuer } from '../../application/payments/issueInstruments.ts';
import { providerStatus } from '../../application/payments/providerStatus.ts';
import { Settler } from '../../application/payments/settle.ts';
import type { AccessLeases } from '../../application/ports/accessLeases.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { JobPayload } from '../../application/ports/jobs.ts';
import type { MailSender } from '../../application/ports/mail.ts';
import type { PaymentProvider } from '../../application/ports/paymentProvider.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import { requestRefund } from '../../application/refunds/requestRefund.ts';
import { actInSandbox } from '../../application/sandbox/actInSandbox.ts';
import { changeSandboxSettings } from '../../application/sandbox/changeSandboxSettings.ts';
import { decideSandboxRefund } from '../../application/sandbox/decideSandboxRefund.ts';
import { sandboxDisputes } from '../../application/sandbox/disputeInSandbox.ts';
import { payInSandbox } from '../../application/sandbox/payInSandbox.ts';
import { advanceClock, whenClockDrained } from '../../application/sandbox/testClock.ts';
import { reportingChanges } from '../../application/settingChanges.ts';
import { attemptsOf } from '../../application/webhooks/attempts.ts';
import { PROBE_RULE } from '../../application/webhooks/endpointHealth.ts';
import { deliveriesRunning, whenDelivered } from '../../application/webhooks/messagesUnderWay.ts';
import { rotateOverrideSecret } from '../../application/webhooks/overrideSecret.ts';
import { pingEndpoint } from '../../application/webhooks/pingEndpoint.ts';
import { askRedrive } from '../../application/webhooks/redrive.ts';
import { resendWebhook } from '../../application/webhooks/resendWebhook.ts';
import { DeliveryRetention } from '../../application/webhooks/retention.ts';
import { retryDelivery } from '../../application/webhooks/retryDelivery.ts';
import {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  registerWebhookEndpoint,
  rotateWebhookSecret,
} from '../../application/webhooks/webhookEndpoints.ts';
import type { Services } from '../../http/kernel/services.ts';
import { caseReads } from '../../projections/disputes/queries.ts';
import type { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import type { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { paymentReads } from '../../projections/payments/queries.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { overdueWork, viewsOf } from '../../projections/views.ts';
import { ledgerReads } from '../../projections/wallet/queries.ts';
import { deadLetterReads } from '../../projections/webhooks/deadLetters.ts';
import { expiredDeliveries } from '../../projections/webhooks/expiry.ts';
import { deliveryReads, endpointReads } from '../../projections/webhooks/queries.ts';
import { isShown } from '../../projections/webhooks/untried.ts';
import { failingTargets } from '../deliveries/failingTargets.ts';
import { redrives } from '../deliveries/redrives.ts';
import { scheduledDeliveries } from '../deliveries/scheduledDeliveries.ts';
import { PgBossJobs } from '../jobs/pgBossJobs.ts';
import type { Log } from '../log/log.ts';
import { operatorAlerts } from '../log/operatorAlerts.ts';
import { changesLog, reportingBlocked, securityLog } from '../monitoring/securityLog.ts';
import type { AccessLeaseTimings } from '../operations/accessLeases.ts';
import { providerNotifications } from '../operations/providerNotifications.ts';
import { reconciliations } from '../operations/reconciliations.ts';
import { refundGuard } from '../operations/refundGuard.ts';
import { requestUpkeep } from '../operations/requestLog.ts';
import { velocityGuard } from '../operations/velocityGuard.ts';
import { tenantLock } from '../postgres/tenantLock.ts';
import { sandboxPayer } from '../providers/sandbox/payer.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import type { HashParameters } from '../secrets/passwordHasher.ts';
import { isRightKeyring } from '../secrets/secretsKey.ts';
import type { ParkedSet } from '../subscriptions/parkedSet.ts';
import { caughtUp, type LogProgress } from '../subscriptions/progress.ts';
import { systemRandomness } from '../system/randomness.ts';
import type { StartSchedule } from '../system/schedule.ts';
import { systemStopwatch } from '../system/stopwatch.ts';
import { type JobOfTimer, jobOfTimers, testTimers, timers } from '../timers/timerTable.ts';
import { openWebhookSender, type WebhookSenderOptions } from '../webhookSender/webhookSender.ts';
import { accessOf, accessServices } from './access.ts';
import { accountServices } from './accountServices.ts';
import { ConfigError } from './config.ts';
import { parkedSetOf, progressOf } from './consumers.ts';
import { type Evidence, type EvidenceOptions, evidenceServices, openEvidence } from './evidence.ts';
import { type Keys, openKeys } from './keys.ts';
import { platformServices } from './platform.ts';
import { providersOf } from './providers.ts';
import { rememberedOf } from './remembered.ts';
import { projectorOf, startWorker } from './roles.ts';
import type { Storage } from './storage.ts';

/** What this process does; several processes may do each. */
export interface Roles {
  readonly serves: boolean;
  readonly projects: boolean;
  readonly works: boolean;
}

export interface GatewayOptions {
  readonly storage: Storage;
  readonly keyring: SecretsKeyring;
  readonly publicUrl: string;
  readonly webhookAllowPrivate: boolean;
  /** Real days for which a delivery is kept after its last event. */
  readonly webhookRetentionDays: number;
  /** Another deadline or resolver than the webhook sender's own. */
  readonly webhookSender?: Pick<WebhookSenderOptions, 'deadlineMs' | 'resolver'>;
  readonly log: Log;
  readonly clock: Clock;
  /** Default of both lists: all there are. */
  readonly capabilities?: readonly Capability<Needs>[];
  readonly projections?: readonly Projection[];
  /** Default of both: the product's. */
  readonly accessLeases?: AccessLeaseTimings;
  readonly startSchedule?: StartSchedule;
  /** Why this process must not work, because its own clock is off; null: it is not. Default: never. */
  readonly clockFault?: () => string | null;
  readonly roles: Roles;
  readonly mail: MailSender;
  readonly evidence: EvidenceOptions;
  /** Default: those that OWASP names. */
  readonly passwordParameters?: HashParameters;
  /** The bank of live mode; null: none is configured (E5). */
  readonly liveProvider: PaymentProvider | null;
  /** No other process works on this database: claims of a killed one are open again at once. */
  readonly isAlone: boolean;
  readonly onMismatch: (error: CheckpointMismatch) => void;
}

export interface Gateway {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly leases: AccessLeases;
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
  /** Numbers that the capabilities have an operator watch. */
  readonly gauges: readonly (Pick<Gauge<Needs>, 'name' | 'help'> & { readonly read: () => Promise<number> })[];
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
    leases: core.keys.leases,
    projected,
    reacted,
    parked,
    jobs,
    clockFault,
    needs: core.needs,
    gauges: core.capabilities.flatMap(({ gauges = [] }) =>
      gauges.map(({ read, ...gauge }) => ({ ...gauge, read: () => read(core.needs) })),
    ),
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
  const { providers, sender, quiescence, stopwatch } = needs;
  const { store, reads, operations } = storage;
  const views = viewsOf(reads);
  const upTo = caughtUp(store, projected);
  const asked = {
    ...needs,
    projected,
    reacted,
    issuer: new InstrumentIssuer(needs),
    canceller: new Canceller({ ...needs, settler: new Settler(needs) }),
    velocity: velocityGuard({ db: operations, payments: needs.payments }),
    refundGuard: refundGuard(operations),
    bank: sandboxPayer(operations, needs.notifications),
    endpoints: endpointReads(reads, upTo),
    caughtUp: upTo,
    withTenantLock: tenantLock(operations),
    leases: keys.leases,
  };
  return {
    baseUrl: publicUrl,
    views,
    accounts,
    progress: projected,
    parked: core.parked,
    ...keys.services,
    ...accessServices(asked),
    ...accountServices(operations, asked, changesLog(log)),
    platform: platformServices(asked, storage),
    createCharge: new CreateChargeHandler(asked),
    createPayment: new CreatePaymentHandler(asked),
    payInSandbox: payInSandbox(asked),
    actInSandbox: actInSandbox(asked),
    cancelPayment: cancelPayment(asked),
    requestRefund: requestRefund(asked),
    decideSandboxRefund: decideSandboxRefund(asked),
    answerCase: answerCase(asked),
    ...evidenceServices(asked, core.evidence),
    ...sandboxDisputes(asked),
    advanceClock: advanceClock(asked),
    judgeWebhookUrl: (url, mode) => sender.judgeUrl(url, mode),
    resendWebhook: resendWebhook(asked),
    retryDelivery: retryDelivery(asked),
    askRedrive: askRedrive(asked),
    providerStatus: providerStatus(asked),
    exposesReceipts: (mode) => providers.of(mode)?.exposesReceipts === true,
    ...reportingChanges(
      {
        changeSandboxSettings: changeSandboxSettings(asked),
        rotateOverrideSecret: rotateOverrideSecret(asked),
        registerWebhookEndpoint: registerWebhookEndpoint(asked),
        changeWebhookEndpoint: changeWebhookEndpoint(asked),
        rotateWebhookSecret: rotateWebhookSecret(asked),
        deleteWebhookEndpoint: deleteWebhookEndpoint(asked),
      },
      changesLog(log),
    ),
    untilSeen: (timeoutMs, look) =>
      pollUntil({ stopwatch, onMove: (listener) => projected.onMove(listener) }, timeoutMs, look),
    pingEndpoint: pingEndpoint(asked),
    failingTargets: (targets) => needs.targets.failing(targets),
    deliveriesRunning: deliveriesRunning(asked),
    attemptsOf: attemptsOf(asked),
    bodiesOf: (deliveries) => needs.messages.bodiesOf(deliveries),
    whenDelivered: whenDelivered(asked),
    whenIdle: (accountId, timeoutMs) => quiescence.whenIdle({ accountId, mode: 'test' }, timeoutMs),
    whenClockDrained: whenClockDrained(asked),
  };
};

// --- What every role needs: commands, accounts, how far the subscriptions are, the job queue, and the adapters of the outside world ---

export interface Core {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly evidence: Evidence;
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
  if (!(await isRightKeyring(operations, options.keyring)))
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
  const evidence = await openEvidence(options, accounts);
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
  // Last of what can fail: it follows the log until it is closed.
  const keys = await openKeys(options, { commands, accounts, projected });
  const providers = providersOf(options, accounts);
  const webhookSender = openWebhookSender({ allowPrivate: options.webhookAllowPrivate, ...options.webhookSender });
  const sender = reportingBlocked(webhookSender, securityLog(log));
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
    ...rememberedOf(options, { commands, keys }),
    notifications: providerNotifications(operations, jobs, NOTIFIED_WORK),
    reconciliations: reconciliations(operations),
    targets: failingTargets(derived, PROBE_RULE),
    timers: timers(operations),
    testTimers: testTimers(operations, jobs, jobOfTimer),
    payments: paymentReads(reads, upTo),
    cases: caseReads(reads),
    ledger: ledgerReads(reads),
    deliveries: deliveryReads(reads),
    overdue: overdueWork(reads),
    scheduled: scheduledDeliveries(derived, jobs, isShown),
    deadLetters: deadLetterReads(reads),
    redrives: redrives(operations, jobs),
    retention: new DeliveryRetention({
      expired: expiredDeliveries(derived, store),
      clock,
      retentionDays: options.webhookRetentionDays,
      mayWork: () => clockFault() === null,
    }),
    requestUpkeep: requestUpkeep(operations, clock),
    alerts: operatorAlerts(log),
    ...{ evidence: evidence.storage, grants: evidence.grants },
    ...accessOf(operations, jobs, options),
  }));
  return {
    commands,
    accounts,
    keys,
    evidence,
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
      await keys.close();
      await stopProjected();
      await stopReacted();
      await parked.stop();
      options.mail.close();
      await evidence.close();
      await sender.close();
    },
  };
};
