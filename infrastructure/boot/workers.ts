// Which work runs on which queue, with which limits.
import type { Accounts } from '../../application/accounts.ts';
import type { CommandHandler } from '../../application/commandHandler.ts';
import { eachOf } from '../../application/eachOf.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { QueueName } from '../../application/ports/jobs.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import type { WebhookSecrets } from '../../application/ports/secrets.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import { takeAcquirerFacts } from '../../application/processes/acquirerFacts.ts';
import { Canceller } from '../../application/processes/cancellation.ts';
import type { CreationProcess } from '../../application/processes/creation.ts';
import { expireCharge } from '../../application/processes/expiry.ts';
import { release } from '../../application/processes/fundsRelease.ts';
import { returnReceipt } from '../../application/processes/payerLockReturn.ts';
import { reconcile } from '../../application/processes/reconciliation.ts';
import { RefundProcess } from '../../application/processes/refundExecution.ts';
import { Settler, settleNotification } from '../../application/processes/settlement.ts';
import { drainClock } from '../../application/processes/testClock.ts';
import { DeliveryWorker } from '../../application/processes/webhookDelivery.ts';
import { fanOut } from '../../application/processes/webhookFanOut.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PgBossJobs } from '../jobs/pgBossJobs.ts';
import { reconciliations } from '../processes/reconciliations.ts';
import { setTimers, testTimers } from '../processes/timerTable.ts';
import type { AtRest } from './atRest.ts';
import type { Log } from './log.ts';
import { paymentsByTxid } from './paymentsByTxid.ts';
import type { LogProgress } from './progress.ts';
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
  readonly projected: LogProgress;
}

/** `dueAt`: the instant of its timer, where it is known. */
type RunItem = (item: string, group: string | null, dueAt?: Timestamp) => Promise<void>;

/** Longest wait for messages on their way while a test clock is drained: one attempt and what follows from it. */
const MESSAGES_MS = 40_000;

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
  const canceller = new Canceller({ commands, accounts, providers, settler });
  const refunds = new RefundProcess({ commands, accounts, providers, setTimer });
  const deliveries = new DeliveryWorker({ commands, accounts, clock, random: Math.random, sender, secrets, setTimer });
  const items: { readonly [Q in Exclude<QueueName, 'deliver' | 'drainClock' | 'reconcile'>]: RunItem } = {
    settle: settleNotification({
      notifications,
      providers,
      settler,
      takeFacts,
      resumeCreation: (id, method) => creationProcess.resumeFor(id, method),
    }),
    returnReceipt: returnReceipt({ commands, accounts, providers }),
    resumeCreation: (item) => creationProcess.resume(item),
    expire: expireCharge({ commands, accounts, settler }),
    finalise: (item) => creationProcess.finalise(item),
    releaseFunds: release({ commands, accounts }),
    cancel: (item, _group, dueAt) => canceller.run(item, dueAt),
    refund: (item, _group, dueAt) => refunds.run(item, dueAt),
    fanOut: fanOut({ commands }),
  };
  const deliver = (list: readonly string[], group: string | null, dueAt?: Timestamp) =>
    deliveries.run(list, group as string, dueAt);
  const runJob = (queue: QueueName, item: string, group: string | null, dueAt: Timestamp) =>
    queue === 'deliver' ? deliver([item], group, dueAt) : items[queue as keyof typeof items](item, group, dueAt);
  const drain = drainClock({
    accounts,
    timers: testTimers(storage.operations),
    runJob,
    settled: (account) => atRest.messages(account, MESSAGES_MS),
  });

  const reconciled = reconciler(needs);

  for (const [queue, run] of Object.entries(items))
    jobs.work(
      queue as QueueName,
      { run: (list, group) => eachOf(list, (item) => run(item, group)) },
      { concurrency: 8, perGroup: 8 },
    );
  // Many endpoints may be slow at once; one of them holds at most a quarter of the places.
  jobs.work('deliver', { run: (list, group) => deliver(list, group) }, { concurrency: 32, perGroup: 8 });
  // Listing a day of payments takes its time, and nobody waits for it.
  jobs.work('reconcile', { run: (list) => eachOf(list, reconciled) }, { concurrency: 2, perGroup: 1 });
  jobs.work('drainClock', { run: (list) => eachOf(list, drain) }, { concurrency: 4, perGroup: 1 });
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
