// A scheduled delivery is attempted until the endpoint takes it, its attempts are used up, or the endpoint is gone (W3, W4, W6).
import { streamName } from '../../domain/kernel/event.ts';
import { type DeliveryId, type EndpointId, PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import {
  cancelDelivery,
  recordAttempt,
  type WebhookDeliveryState,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { WebhookEndpointState } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../accounts.ts';
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../aggregates.ts';
import { byProcess } from '../because.ts';
import type { CommandHandler } from '../commandHandler.ts';
import { isOf } from '../events.ts';
import type { Clock } from '../ports/clock.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { Timer } from '../ports/timers.ts';
import type { AttemptOutcome, WebhookSender } from '../ports/webhookSender.ts';
import { EndpointHealth } from './endpointHealth.ts';
import { job, type ProcessManager } from './process.ts';
import { signatureHeaders } from './webhookSignature.ts';

export const webhookDelivery: ProcessManager = {
  name: 'webhookDelivery',
  categories: ['webhookDelivery', 'webhookEndpoint'],
  react: (logged) => {
    if (isOf(logged, 'webhookEndpoint'))
      // Pending deliveries are abandoned at once, not when their next attempt would have come.
      return logged.event.type === 'WebhookEndpointDeleted'
        ? [{ kind: 'hurry', timers: { kind: 'deliver', group: logged.subject } }]
        : [];
    if (!isOf(logged, 'webhookDelivery')) return [];
    const { event, account, mode, subject: key } = logged;
    if (event.type === 'WebhookDeliveryScheduled') return [job('deliver', key, event.data.endpointId)];
    if (event.type !== 'WebhookDeliveryAttemptFailed' || event.data.nextAttemptAt === null) return [];
    return [
      {
        kind: 'timer',
        timer: { account, mode, kind: 'deliver', key, group: event.data.endpointId, dueAt: event.data.nextAttemptAt },
      },
    ];
  },
};

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: () => number;
  readonly sender: WebhookSender;
  readonly secrets: WebhookSecrets;
  readonly setTimer: (timer: Timer) => Promise<void>;
}

type Pending = Extract<WebhookDeliveryState, { status: 'pending' }>;

export class DeliveryWorker {
  readonly #needs: Needs;
  readonly #health = new EndpointHealth();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Handler of one job of the queue `deliver`: delivery ids, all of one endpoint. Status and secret are read at the attempt. */
  async run(items: readonly string[], endpointId: string): Promise<void> {
    const stream = streamName.webhookEndpoint(endpointId as EndpointId);
    const { state: endpoint } = await this.#needs.commands.load(WEBHOOK_ENDPOINT, stream);
    const results = await Promise.allSettled(items.map((id) => this.#attempt(id as DeliveryId, endpoint)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #attempt(id: DeliveryId, endpoint: WebhookEndpointState): Promise<void> {
    const { commands, accounts } = this.#needs;
    const { state } = await commands.loadRecent(WEBHOOK_DELIVERY, streamName.webhookDelivery(id));
    if (state.status !== 'pending') return;
    const { accountId, mode } = state.delivery;
    const now = await accounts.actingAt(accountId, mode, state.nextAttemptAt);
    if (endpoint.status !== 'active') return this.#cancel(state, now);
    if (now < state.nextAttemptAt) return; // its timer is set
    const probeAt = state.attempts === 0 ? this.#health.waitsUntil(endpoint.endpointId, now) : null;
    if (probeAt !== null) return this.#wait(state, probeAt);
    const secret = await this.#needs.secrets.find(endpoint.endpointId, endpoint.secretVersion);
    if (secret === null) throw new Error(`the signing secret of endpoint ${endpoint.endpointId} is missing`);
    const outcome = await this.#send(state, endpoint.url, secret);
    await this.#record(state, outcome);
  }

  #send({ delivery }: Pending, url: string, secret: string): Promise<AttemptOutcome> {
    const { clock, sender } = this.#needs;
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'x-acme-delivery-id': PREFIX.delivery + delivery.deliveryId,
      'x-acme-event-type': delivery.eventType,
      ...signatureHeaders({
        secret,
        body: delivery.body,
        family: delivery.family,
        eventId: delivery.eventId,
        atMs: clock.now(),
      }),
    };
    return sender.send({ url, headers, body: delivery.body, mode: delivery.mode });
  }

  async #record(state: Pending, outcome: AttemptOutcome): Promise<void> {
    const { commands, accounts, random } = this.#needs;
    const { delivery } = state;
    const at = await accounts.actingAt(delivery.accountId, delivery.mode, state.nextAttemptAt);
    const decide = recordAttempt(state.attempts + 1, outcome, at, random());
    const stream = streamName.webhookDelivery(delivery.deliveryId);
    const why = byProcess('webhookDelivery', delivery, delivery.deliveryId, delivery.eventId);
    const done = await commands.execute(WEBHOOK_DELIVERY, stream, decide, why);
    if (isRejection(done)) throw new Error(`recording ${delivery.deliveryId} refused: ${done.message}`);
    if (outcome.ok) this.#health.succeeded(delivery.endpointId);
    else
      this.#health.failed(
        delivery.endpointId,
        delivery.deliveryId,
        done.state.status === 'pending' ? done.state.nextAttemptAt : null,
      );
  }

  /** While an endpoint keeps failing, new first attempts wait for the next probe (W3). */
  #wait({ delivery }: Pending, probeAt: Timestamp): Promise<void> {
    const { accountId: account, mode, deliveryId: key, endpointId: group } = delivery;
    return this.#needs.setTimer({ account, mode, kind: 'deliver', key, group, dueAt: addSeconds(probeAt, 1) });
  }

  async #cancel({ delivery }: Pending, at: Timestamp): Promise<void> {
    const stream = streamName.webhookDelivery(delivery.deliveryId);
    const why = byProcess('webhookDelivery', delivery, delivery.deliveryId, delivery.endpointId);
    await this.#needs.commands.execute(WEBHOOK_DELIVERY, stream, cancelDelivery('the endpoint was deleted', at), why);
  }
}
