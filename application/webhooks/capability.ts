// Webhooks: messages of published events, delivered to the endpoints that subscribe to them.

import type { EndpointId } from '../../domain/kernel/ids.ts';
import type { Delivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { BY_ROW, capability, each, job, owedBy } from '../core/capability.ts';
import { type NeedsOf, settingChanged } from '../core/useCase.ts';
import type { FailingTargets } from '../ports/failingTargets.ts';
import type { DeliveryViews, EndpointViews } from '../ports/readModels/views.ts';
import type { DeliveryReads } from '../ports/readModels/webhookDeliveries.ts';
import type { Redrives } from '../ports/redrives.ts';
import type { ScheduledDeliveries } from '../ports/scheduledDeliveries.ts';
import { attemptsOf } from './attempts.ts';
import { type DeadLetterNeeds, listDeadLetters, tenantsWithDeadLetters } from './deadLetters.ts';
import { deliveriesRunning, whenDelivered } from './messagesUnderWay.ts';
import { askRedrive, jobOfRedrive, redrive, workOffRedrive } from './redrive.ts';
import { resendWebhook, retryDelivery } from './resend.ts';
import { DeliveryRetention } from './retention.ts';
import { rotateOverrideSecret } from './signingSecrets.ts';
import { DeliveryWorker, deliver, forgetFailures, forgetSecrets, webhookDelivery } from './webhookDelivery.ts';
import {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  pingEndpoint,
  registerWebhookEndpoint,
  rotateWebhookSecret,
} from './webhookEndpoints.ts';
import { fanOut, scheduleMessages, webhookFanOut } from './webhookFanOut.ts';

type WebhooksNeeds = NeedsOf<
  | typeof registerWebhookEndpoint
  | typeof changeWebhookEndpoint
  | typeof rotateWebhookSecret
  | typeof rotateOverrideSecret
  | typeof deleteWebhookEndpoint
  | typeof pingEndpoint
  | typeof resendWebhook
  | typeof retryDelivery
  | typeof askRedrive
  | typeof workOffRedrive
  | typeof whenDelivered
  | typeof scheduleMessages
> &
  ConstructorParameters<typeof DeliveryWorker>[0] &
  ConstructorParameters<typeof DeliveryRetention>[0] & {
    readonly targets: FailingTargets;
    readonly scheduled: ScheduledDeliveries;
    readonly redrives: Redrives;
    readonly deliveries: DeliveryReads;
    /** For the HTTP routes. */
    readonly views: { readonly deliveries: DeliveryViews; readonly endpoints: EndpointViews };
  };

const partsOf = (needs: WebhooksNeeds) => ({ ...needs, retention: new DeliveryRetention(needs) });
type Parts = ReturnType<typeof partsOf>;

const ofEndpoint = (endpointId: EndpointId) => ({ endpointId: WEBHOOK_ENDPOINT.idPrefix + endpointId });

export const webhooks = capability({
  name: 'webhooks',
  parts: partsOf,
  processes: [webhookFanOut, webhookDelivery],
  jobs: [
    job(fanOut, {
      handler: (needs: WebhooksNeeds) => scheduleMessages(needs),
      places: { places: 24, perTarget: 24 },
      idle: 'writesMessages',
      // No table shows that an event's messages were never scheduled, so lost work is found by the job's own row.
      owed: BY_ROW,
    }),
    job(deliver, {
      handler: (needs: WebhooksNeeds) => {
        const worker = new DeliveryWorker(needs);
        return {
          run: (wanted, target, mayBeRepeat, signal) => worker.run(wanted, target as string, mayBeRepeat, signal),
        };
      },
      // Workers mostly wait for responses, up to 30 s each, so many are needed if many endpoints are silent at once.
      places: { places: 256, perTarget: 4 },
      idle: 'apart',
      // If a job was lost, its delivery may have been attempted, so the new job names the due time.
      owed: owedBy(
        ({ deliveries }: WebhooksNeeds, { before, page }) => deliveries.overdue(before, page),
        ({ tenant, deliveryId, target, dueAt }) => ({ tenant, payload: { deliveryId, dueAt }, target }),
      ),
    }),
    job(redrive, {
      handler: (needs: WebhooksNeeds) => each(workOffRedrive(needs)),
      // A redrive writes as fast as the log allows; more in parallel would only slow down payments.
      places: { places: 2, perTarget: 1 },
      idle: 'writesMessages',
      owed: owedBy(({ redrives }: WebhooksNeeds, { ageMs, page }) => redrives.stalled(ageMs, page), jobOfRedrive),
    }),
  ],
  gauges: [
    {
      name: 'deliveries_to_redrive',
      help: 'Dead-lettered deliveries that running redrives have yet to send.',
      read: ({ redrives }) => redrives.outstanding(),
    },
    {
      name: 'webhook_deliveries_deleted',
      help: 'Deliveries deleted after WEBHOOK_RETENTION_DAYS, since the database was created.',
      read: ({ retention }) => retention.deleted(),
    },
  ],
  upkeep: [
    {
      failure: 'started deliveries could not be removed from the scheduled ones',
      pattern: '* * * * * *',
      run: ({ scheduled }) => scheduled.sweep(),
    },
    {
      failure: 'deliveries started by other processes could not be removed from the scheduled ones',
      pattern: '0 23 * * * *',
      run: ({ scheduled }) => scheduled.sweepAll(),
    },
    {
      failure: 'old failures of webhook targets could not be removed',
      pattern: '0 17 * * * *',
      run: ({ targets }) => targets.forgetOld(),
    },
    {
      failure: 'expired deliveries could not be deleted',
      pattern: '* * * * * *',
      run: ({ retention }) => retention.run(),
    },
  ],
  effects: {
    ...forgetFailures.by(({ targets }: WebhooksNeeds) => targets.forget),
    ...forgetSecrets.by(({ secrets }: WebhooksNeeds) => secrets.forget),
  },
  useCases: (parts: Parts) => ({
    /** Checks whether webhooks may be sent to a URL (W5). */
    judgeWebhookUrl: parts.sender.judgeUrl,
    registerWebhookEndpoint: registerWebhookEndpoint(parts),
    changeWebhookEndpoint: changeWebhookEndpoint(parts),
    rotateWebhookSecret: rotateWebhookSecret(parts),
    rotateOverrideSecret: rotateOverrideSecret(parts),
    deleteWebhookEndpoint: deleteWebhookEndpoint(parts),
    pingEndpoint: pingEndpoint(parts),
    /** Returns those of the given targets that keep failing. */
    failingTargets: parts.targets.failing,
    resendWebhook: resendWebhook(parts),
    retryDelivery: retryDelivery(parts),
    askRedrive: askRedrive(parts),
    /** Returns the running redrives of all accounts, oldest first. */
    runningRedrives: parts.redrives.running,
    /** Returns the ids of a tenant's deliveries in running jobs. */
    deliveriesRunning: deliveriesRunning(parts),
    /** Returns the attempts of a delivery, in order. */
    attemptsOf: attemptsOf(parts),
    /** Returns the payloads of deliveries as JSON texts, in order. */
    bodiesOf: (deliveries: readonly Delivery[]): Promise<readonly string[]> => parts.messages.bodiesOf(deliveries),
    /** Waits until no message of the tenant is due, at most `timeoutMs`. Returns how many are still due or held back. */
    whenDelivered: whenDelivered(parts),
  }),
  records: {
    registerWebhookEndpoint: ({ endpointId }, tenant, _, by) =>
      settingChanged('webhook endpoint registered', tenant, by, ofEndpoint(endpointId)),
    changeWebhookEndpoint: (_, tenant, endpointId, wish, by) => {
      const changed = Object.entries(wish).flatMap(([name, value]) => (value === null ? [] : [name]));
      return changed.length === 0
        ? null
        : settingChanged('webhook endpoint changed', tenant, by, { changed, ...ofEndpoint(endpointId) });
    },
    rotateWebhookSecret: (_, tenant, endpointId, by) =>
      settingChanged('webhook endpoint secret', tenant, by, ofEndpoint(endpointId)),
    rotateOverrideSecret: (_, tenant, by) => settingChanged('override secret', tenant, by),
    deleteWebhookEndpoint: (_, tenant, endpointId, by) =>
      settingChanged('webhook endpoint deleted', tenant, by, ofEndpoint(endpointId)),
  },
  operators: (needs: DeadLetterNeeds) => ({
    tenantsWithDeadLetters: tenantsWithDeadLetters(needs),
    listDeadLetters: listDeadLetters(needs),
  }),
});
