// Webhooks: what happened to payments, told to whoever subscribed.
import type { Accounts } from '../core/accounts.ts';
import { BY_ROW, type Capability, each, job, type OwedSource, owedBy } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Clock, Stopwatch } from '../ports/clock.ts';
import type { FailingTargets } from '../ports/failingTargets.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { OverdueDelivery, OverdueWork } from '../ports/readModels/overdueWork.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { Timers } from '../ports/timers.ts';
import type { WebhookSender } from '../ports/webhookSender.ts';
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
}

const overdueDeliveries: OwedSource<WebhooksNeeds, OverdueDelivery> = ({ overdue }, { before, page }) =>
  overdue.deliveries(before, page);

export const webhooks: Capability<WebhooksNeeds> = {
  name: 'webhooks',
  processes: [webhookFanOut, webhookDelivery],
  jobs: [
    job(fanOut, {
      handler: (needs: WebhooksNeeds) => each(scheduleMessages(needs)),
      places: { places: 24, perTarget: 24 },
      idle: 'writesMessages',
      // Nothing shows that messages were never scheduled.
      owed: BY_ROW,
    }),
    job(deliver, {
      handler: (needs: WebhooksNeeds) => {
        const worker = new DeliveryWorker(needs);
        return { run: (wanted, target) => worker.run(wanted, target as string) };
      },
      // Places are idle awaits, for up to 30 s each: many endpoints may be silent at once.
      places: { places: 256, perTarget: 8 },
      idle: 'apart',
      owed: owedBy(overdueDeliveries, ({ tenant, deliveryId, target }) => ({
        tenant,
        payload: { deliveryId },
        target,
      })),
    }),
  ],
  upkeep: [
    {
      failure: 'targets that failed long ago could not be forgotten',
      pattern: '0 17 * * * *',
      run: ({ targets }) => targets.forgetOld(),
    },
  ],
};
