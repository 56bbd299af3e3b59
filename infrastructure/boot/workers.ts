// Which work runs on which queue, with which limits.
import type { Accounts } from '../../application/accounts.ts';
import type { CommandHandler } from '../../application/commandHandler.ts';
import { eachOf } from '../../application/eachOf.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { QueueName } from '../../application/ports/jobs.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { PixNotifications } from '../../application/ports/pixNotifications.ts';
import type { WebhookSecrets } from '../../application/ports/secrets.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import type { CreationProcess } from '../../application/processes/creation.ts';
import { expireCharge } from '../../application/processes/expiry.ts';
import { release } from '../../application/processes/fundsRelease.ts';
import { returnReceipt } from '../../application/processes/payerLockReturn.ts';
import { Settler, settleNotification } from '../../application/processes/settlement.ts';
import { drainClock } from '../../application/processes/testClock.ts';
import { DeliveryWorker } from '../../application/processes/webhookDelivery.ts';
import { fanOut } from '../../application/processes/webhookFanOut.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PgBossJobs } from '../jobs/pgBossJobs.ts';
import { setTimers, testTimers } from '../processes/timerTable.ts';
import type { AtRest } from './atRest.ts';
import type { Storage } from './storage.ts';

interface Needs {
  readonly storage: Storage;
  readonly jobs: PgBossJobs;
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly providers: PaymentProviders;
  readonly notifications: PixNotifications;
  readonly creation: CreationProcess;
  readonly sender: WebhookSender;
  readonly secrets: WebhookSecrets;
  readonly atRest: AtRest;
}

type RunItem = (item: string, group: string | null) => Promise<void>;

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
  const settler = new Settler(commands, accounts);
  const setTimer = (timer: Parameters<typeof setTimers>[1][number]) => setTimers(storage.operations, [timer]);
  const deliveries = new DeliveryWorker({ commands, accounts, clock, random: Math.random, sender, secrets, setTimer });
  const items: { readonly [Q in Exclude<QueueName, 'deliver' | 'drainClock'>]: RunItem } = {
    settle: settleNotification({
      notifications,
      providers,
      settler,
      resumeCreation: (id) => creationProcess.resume(id),
    }),
    returnReceipt: returnReceipt({ commands, accounts, providers }),
    resumeCreation: (item) => creationProcess.resume(item),
    expire: expireCharge({ commands, accounts, providers, settler }),
    releaseFunds: release({ commands, accounts }),
    fanOut: fanOut({ commands }),
  };
  const deliver = (list: readonly string[], group: string | null, dueAt?: Timestamp) =>
    deliveries.run(list, group as string, dueAt);
  const runJob = (queue: QueueName, item: string, group: string | null, dueAt: Timestamp) =>
    queue === 'deliver' ? deliver([item], group, dueAt) : items[queue as keyof typeof items](item, group);
  const drain = drainClock({
    accounts,
    timers: testTimers(storage.operations),
    runJob,
    settled: (account) => atRest.messages(account, MESSAGES_MS),
  });

  for (const [queue, run] of Object.entries(items))
    jobs.work(
      queue as QueueName,
      { run: (list, group) => eachOf(list, (item) => run(item, group)) },
      { concurrency: 8, perGroup: 8 },
    );
  // Many endpoints may be slow at once; one of them holds at most a quarter of the places.
  jobs.work('deliver', { run: (list, group) => deliver(list, group) }, { concurrency: 32, perGroup: 8 });
  jobs.work('drainClock', { run: (list) => eachOf(list, drain) }, { concurrency: 4, perGroup: 1 });
};
