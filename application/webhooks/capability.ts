// Webhooks: messages of published events, delivered to the endpoints that subscribe to them.
import type { Accounts } from '../core/accounts.ts';
import { BY_ROW, type Capability, each, job, type OwedSource, owedBy } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Clock, Stopwatch } from '../ports/clock.ts';
import type { FailingTargets } from '../ports/failingTargets.ts';
import type { JobQueue } from '../ports/jobs.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { OverdueDelivery, OverdueWork } from '../ports/readModels/overdueWork.ts';
import type { DeadLetterReads } from '../ports/readModels/webhookDeliveries.ts';
import type { Redrive, Redrives } from '../ports/redrives.ts';
import type { ScheduledDeliveries } from '../ports/scheduledDeliveries.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { Timers } from '../ports/timers.ts';
import type { WebhookSender } from '../ports/webhookSender.ts';
import { jobOfRedrive, redrive, workOffRedrive } from './redrive.ts';
import type { DeliveryRetention } from './retention.ts';
import type { StreamMessages } from './streamMessages.ts';
import { DeliveryWorker, deliver, webhookDelivery } from './webhookDelivery.ts';
import { fanOut, scheduleMessages, webhookFanOut } from './webhookFanOut.ts';

export interface WebhooksNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly randomness: Randomness;
  readonly sender: WebhookSender;
  readonly secrets: WebhookSecrets;
  readonly targets: FailingTargets;
  readonly timers: Timers;
  readonly overdue: OverdueWork;
  readonly messages: StreamMessages;
  readonly scheduled: ScheduledDeliveries;
  readonly jobs: JobQueue;
  readonly deadLetters: DeadLetterReads;
  readonly redrives: Redrives;
  readonly retention: DeliveryRetention;
}

const overdueDeliveries: OwedSource<WebhooksNeeds, OverdueDelivery> = ({ overdue }, { before, page }) =>
  overdue.deliveries(before, page);

const stalledRedrives: OwedSource<WebhooksNeeds, Pick<Redrive, 'id' | 'tenant'>> = ({ redrives }, { ageMs, page }) =>
  redrives.stalled(ageMs, page);

export const webhooks: Capability<WebhooksNeeds> = {
  name: 'webhooks',
  processes: [webhookFanOut, webhookDelivery],
  jobs: [
    job(fanOut, {
      handler: (needs: WebhooksNeeds) => scheduleMessages(needs),
      places: { places: 24, perTarget: 24 },
      idle: 'writesMessages',
      // Nothing shows that messages of an event were never scheduled, so the row of the job itself is what is owed.
      owed: BY_ROW,
    }),
    job(deliver, {
      handler: (needs: WebhooksNeeds) => {
        const worker = new DeliveryWorker(needs);
        return { run: (wanted, target, mayBeRepeat) => worker.run(wanted, target as string, mayBeRepeat) };
      },
      // A place mostly waits for an answer, up to 30 s, so many are needed where many endpoints are silent at once.
      places: { places: 256, perTarget: 4 },
      idle: 'apart',
      // What has become of one whose job was lost is not known, so the job says when it was due.
      owed: owedBy(overdueDeliveries, ({ tenant, deliveryId, target, dueAt }) => ({
        tenant,
        payload: { deliveryId, dueAt },
        target,
      })),
    }),
    job(redrive, {
      handler: (needs: WebhooksNeeds) => each(workOffRedrive(needs)),
      // It writes as fast as the log takes it: more at once would only be in the way of payments.
      places: { places: 2, perTarget: 1 },
      idle: 'writesMessages',
      owed: owedBy(stalledRedrives, jobOfRedrive),
    }),
  ],
  gauges: [
    {
      name: 'deliveries_to_redrive',
      help: 'Dead-lettered deliveries that re-drives have yet to send.',
      read: ({ redrives }) => redrives.outstanding(),
    },
    {
      name: 'webhook_deliveries_deleted',
      help: 'Deliveries that were deleted since the database was made, because they ended WEBHOOK_RETENTION_DAYS ago.',
      read: ({ retention }) => retention.deleted(),
    },
  ],
  upkeep: [
    {
      failure: 'deliveries that have begun could not be removed from those that wait',
      pattern: '* * * * * *',
      run: ({ scheduled }) => scheduled.sweep(),
    },
    {
      failure: 'deliveries that another process began could not be removed from those that wait',
      pattern: '0 23 * * * *',
      run: ({ scheduled }) => scheduled.sweepAll(),
    },
    {
      failure: 'targets that failed long ago could not be forgotten',
      pattern: '0 17 * * * *',
      run: ({ targets }) => targets.forgetOld(),
    },
    {
      failure: 'deliveries that ended long ago could not be deleted',
      pattern: '* * * * * *',
      run: ({ retention }) => retention.run(),
    },
  ],
};
