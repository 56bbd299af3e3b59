// Which work runs on which queue, with which limits.
import type { Accounts } from '../../application/accounts/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { eachOf } from '../../application/core/runAll.ts';
import { takeAcquirerFacts } from '../../application/payments/acquirerOutcomes.ts';
import { Canceller } from '../../application/payments/cancellation.ts';
import { expireCharge } from '../../application/payments/expiry.ts';
import { release } from '../../application/payments/fundsRelease.ts';
import type { CreationProcess } from '../../application/payments/issueInstruments.ts';
import { reconcile } from '../../application/payments/reconciliation.ts';
import { type RefusedReturn, returnPayment } from '../../application/payments/rejectedPaymentReturn.ts';
import { Settler, settleNotification } from '../../application/payments/settle.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { QueueName } from '../../application/ports/jobs.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import type { ReadModelName } from '../../application/ports/readModels.ts';
import type { WebhookSecrets } from '../../application/ports/secrets.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import { RefundProcess } from '../../application/refunds/refundExecution.ts';
import { drainClock } from '../../application/sandbox/testClock.ts';
import { PROBE_RULE } from '../../application/webhooks/endpointHealth.ts';
import { DeliveryWorker } from '../../application/webhooks/webhookDelivery.ts';
import { fanOut } from '../../application/webhooks/webhookFanOut.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PgBossJobs } from '../jobs/pgBossJobs.ts';
import type { Log } from '../log/log.ts';
import { failingTargets } from '../operations/failingTargets.ts';
import { reconciliations } from '../operations/reconciliations.ts';
import type { LogProgress } from '../subscriptions/progress.ts';
import { systemRandomness } from '../system/randomness.ts';
import { systemStopwatch } from '../system/stopwatch.ts';
import { setTimers, testTimers } from '../timers/timerTable.ts';
import type { AtRest } from './atRest.ts';
import { paymentsByTxid } from './paymentsByTxid.ts';
import type { Storage } from './storage.ts';

interface Needs {
  readonly storage: Storage;
  readonly log: Log;
  readonly jobs: PgBossJobs;
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly providers: PaymentProviders;
  readonly notifications: ProviderNotifications;
  readonly creation: CreationProcess;
  readonly sender: WebhookSender;
  readonly secrets: WebhookSecrets;
  readonly atRest: AtRest;
  readonly projected: LogProgress<ReadModelName>;
}

/** `dueAt`: the instant of its timer, where it is known. */
type RunItem = (item: string, dueAt?: Timestamp) => Promise<void>;

/** Of each queue's lanes. A tenant that is alone gets a third of them (roomOf). */
const PLACES = { places: 24, perTarget: 24 };
/** Places are idle awaits, for up to 30 s each: many endpoints may be silent at once. */
const DELIVERY_PLACES = { places: 256, perTarget: 8 };

/** Longest wait for what runs while a test clock is drained. */
const AT_REST_MS = 40_000;

/** Starts the workers of all queues in this process. */
export const startWorkers = (needs: Needs): void => {
  const {
    storage,
    jobs,
    commands,
    accounts,
    clock,
    providers,
    notifications,
    creation: creationProcess,
    sender,
    secrets,
    atRest,
  } = needs;
  const settler = new Settler({ commands, accounts, providers });
  const takeFacts = takeAcquirerFacts({ commands, providers });
  const setTimer = (timer: Parameters<typeof setTimers>[1][number]) => setTimers(storage.operations, [timer]);
  const expire = expireCharge({ commands, accounts, settler });
  const canceller = new Canceller({ commands, accounts, providers, settler });
  const refunds = new RefundProcess({ commands, accounts, providers, setTimer });
  const targets = failingTargets(storage.derived, PROBE_RULE);
  const deliveries = new DeliveryWorker({
    commands,
    accounts,
    clock,
    randomness: systemRandomness,
    stopwatch: systemStopwatch,
    sender,
    secrets,
    targets,
    setTimer,
  });
  const items: { readonly [Q in Exclude<QueueName, 'deliver' | 'drainClock' | 'reconcile'>]: RunItem } = {
    settle: settleNotification({
      notifications,
      providers,
      settler,
      takeFacts,
      resumeCreation: (id, method) => creationProcess.resumeFor(id, method),
    }),
    returnPayment: returnPayment({ commands, accounts, providers, onRefused: tellRefusal(needs) }),
    resumeCreation: (item, dueAt) => creationProcess.resume(item, dueAt),
    expire: (item, dueAt) => expire(item, dueAt),
    finalise: (item) => creationProcess.finalise(item),
    releaseFunds: release({ commands, accounts }),
    cancel: (item, dueAt) => canceller.run(item, dueAt),
    refund: (item, dueAt) => refunds.run(item, dueAt),
    fanOut: fanOut({ commands }),
  };
  const drain = drainClock({
    accounts,
    timers: testTimers(storage.operations, jobs),
    runJob: (queue, item, dueAt) => items[queue as keyof typeof items](item, dueAt),
    settled: (account, on, graceMs) => atRest.messages(account, on, graceMs, AT_REST_MS),
  });

  const reconciled = reconciler(needs);

  for (const [queue, run] of Object.entries(items))
    jobs.work(queue as QueueName, { run: (list) => eachOf(list, (item) => run(item)) }, PLACES);
  jobs.work('deliver', { run: (list, target) => deliveries.run(list, target as string) }, DELIVERY_PLACES);
  // Listing a day of payments takes its time, and nobody waits for it.
  jobs.work('reconcile', { run: (list) => eachOf(list, reconciled) }, { places: 6, perTarget: 1 });
  jobs.work('drainClock', { run: (list) => eachOf(list, drain) }, { places: 12, perTarget: 1 });
};

/** Of payments that are for nobody: as many are named in one line of the log. */
const STRANGERS_NAMED_MAX = 20;

const reconciler = ({ storage, accounts, providers, notifications, projected, log }: Needs) =>
  reconcile({
    accounts,
    providers,
    notifications,
    reconciliations: reconciliations(storage.operations),
    findPayments: paymentsByTxid(storage.store, storage.reads, projected),
    onStrangers: ({ accountId: account, mode }, references) =>
      log.warn(
        { account, mode, payments: references.length, references: references.slice(0, STRANGERS_NAMED_MAX) },
        'the provider lists payments that are for no charge of the account',
      ),
  });

const tellRefusal =
  ({ log }: Needs) =>
  ({ accountId: account, mode, paymentId: payment, providerPaymentId, reason }: RefusedReturn): void =>
    log.warn(
      { account, mode, payment, providerPaymentId, reason },
      'the provider refuses to send a payment back: it waits in `held list`',
    );
