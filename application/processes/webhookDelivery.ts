// A scheduled delivery is attempted until the endpoint takes it, its attempts are used up, or the endpoint is gone (W3, W4, W6).
import { streamName } from '../../domain/kernel/event.ts';
import { type DeliveryId, type EndpointId, isRawId, PREFIX } from '../../domain/kernel/ids.ts';
import { LruMap } from '../../domain/kernel/lruMap.ts';
import { addSeconds, later, type Timestamp } from '../../domain/kernel/time.ts';
import {
  cancelDelivery,
  recordAttempt,
  targetOf,
  type WebhookDeliveryState,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { WebhookEndpointState } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../accounts.ts';
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../aggregates.ts';
import { byProcess } from '../because.ts';
import type { CommandHandler } from '../commandHandler.ts';
import { eachOf } from '../eachOf.ts';
import { overrideSecret } from '../overrideSecret.ts';
import type { Clock } from '../ports/clock.ts';
import { isOf } from '../ports/loggedEvent.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { Timer } from '../ports/timers.ts';
import type { AttemptOutcome, WebhookSender } from '../ports/webhookSender.ts';
import { EndpointHealth } from './endpointHealth.ts';
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
    if (event.type === 'WebhookDeliveryScheduled') return [job('deliver', key, targetOf(event.data))];
    if (event.type !== 'WebhookDeliveryAttemptFailed' || event.data.nextAttemptAt === null) return [];
    return [
      {
        kind: 'timer',
        timer: { account, mode, kind: 'deliver', key, group: event.data.target, dueAt: event.data.nextAttemptAt },
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

/** First attempts made to wait that are remembered. One that is forgotten acts at the instant it was scheduled for. */
const WAITING_MAX = 10_000;

type Pending = Extract<WebhookDeliveryState, { status: 'pending' }>;
/** Where a delivery goes now, and what signs it. */
interface Destination {
  readonly url: string;
  readonly secret: string;
}

export class DeliveryWorker {
  readonly #needs: Needs;
  readonly #health = new EndpointHealth();
  /** First attempts that wait for a probe, and until when: they act then, not at the instant the clock jumped over before (X5). */
  readonly #waiting = new LruMap<DeliveryId, Timestamp>(WAITING_MAX);

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Handler of one job of the queue `deliver`: delivery ids, all of one target (`targetOf`). Status and secret are read at the
   * attempt. `dueAt`: the instant of the timer, where it is known.
   */
  async run(items: readonly string[], target: string, dueAt?: Timestamp): Promise<void> {
    const endpoint = isRawId(target) ? await this.#endpoint(target as EndpointId) : null;
    await eachOf(items, (id) => this.#attempt(id as DeliveryId, endpoint, dueAt));
  }

  async #endpoint(id: EndpointId): Promise<WebhookEndpointState> {
    return (await this.#needs.commands.load(WEBHOOK_ENDPOINT, streamName.webhookEndpoint(id))).state;
  }

  /** `endpoint`: null for deliveries to a payment's own URL. */
  async #attempt(id: DeliveryId, endpoint: WebhookEndpointState | null, timerAt: Timestamp | undefined): Promise<void> {
    const { accounts } = this.#needs;
    const state = await this.#stateOf(id, timerAt !== undefined);
    if (state.status !== 'pending') return;
    const { accountId, mode } = state.delivery;
    // Never before it was to be attempted: the timers of a deleted endpoint were hurried.
    const dueAt = later(timerAt ?? this.#waiting.get(id) ?? state.nextAttemptAt, state.nextAttemptAt);
    const now = await accounts.actingAt(accountId, mode, dueAt);
    const destination = await this.#destination(state, endpoint);
    if (destination === null) return this.#cancel(state, now);
    if (now < state.nextAttemptAt) return; // its timer is set
    const probeAt = state.attempts === 0 ? this.#health.waitsUntil(targetOf(state.delivery), now) : null;
    if (probeAt !== null) return this.#wait(state, probeAt, now);
    await this.#record(state, await this.#send(state, destination), dueAt);
  }

  /** null: there is none any more. */
  async #destination({ delivery }: Pending, endpoint: WebhookEndpointState | null): Promise<Destination | null> {
    const { accounts, secrets } = this.#needs;
    if (delivery.url !== null)
      return { url: delivery.url, secret: await overrideSecret({ accounts, secrets }, delivery) };
    if (endpoint?.status !== 'active') return null;
    const secret = await secrets.find(endpoint.endpointId, endpoint.secretVersion);
    if (secret === null) throw new Error(`the signing secret of endpoint ${endpoint.endpointId} is missing`);
    return { url: endpoint.url, secret };
  }

  /** A first attempt needs no read where it was scheduled. Of a retry, another process may have made the attempt before. */
  async #stateOf(id: DeliveryId, isRetry: boolean): Promise<WebhookDeliveryState> {
    const { commands } = this.#needs;
    const stream = streamName.webhookDelivery(id);
    const { state } = isRetry
      ? await commands.load(WEBHOOK_DELIVERY, stream)
      : await commands.loadRecent(WEBHOOK_DELIVERY, stream);
    return !isRetry && state.status === 'pending' && state.attempts > 0 ? this.#stateOf(id, true) : state;
  }

  #send({ delivery }: Pending, { url, secret }: Destination): Promise<AttemptOutcome> {
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

  async #record(state: Pending, outcome: AttemptOutcome, dueAt: Timestamp): Promise<void> {
    const { commands, accounts, random } = this.#needs;
    const { delivery } = state;
    const at = await accounts.actingAt(delivery.accountId, delivery.mode, dueAt);
    const decide = recordAttempt(state.attempts + 1, outcome, at, random());
    const stream = streamName.webhookDelivery(delivery.deliveryId);
    const why = byProcess('webhookDelivery', delivery, delivery.deliveryId, delivery.eventId);
    const done = await commands.record(WEBHOOK_DELIVERY, stream, decide, why);
    this.#waiting.delete(delivery.deliveryId);
    const target = targetOf(delivery);
    const nextAttemptAt = done.state.status === 'pending' ? done.state.nextAttemptAt : null;
    if (outcome.ok) this.#health.succeeded(target);
    else this.#health.failed(target, delivery.deliveryId, nextAttemptAt);
    if (done.state.status !== 'pending') return;
    // Another process made this attempt: what we were called for was a later one, whose timer is spent.
    if (done.reply === 'nothing') await this.#setTimer(done.state, done.state.nextAttemptAt);
    await this.#cancelIfGone(done.state, at);
  }

  /** While an endpoint keeps failing, new first attempts wait for the next probe (W3). */
  async #wait(state: Pending, probeAt: Timestamp, now: Timestamp): Promise<void> {
    const dueAt = addSeconds(probeAt, 1);
    this.#waiting.set(state.delivery.deliveryId, dueAt);
    await this.#setTimer(state, dueAt);
    await this.#cancelIfGone(state, now);
  }

  #setTimer({ delivery }: Pending, dueAt: Timestamp): Promise<void> {
    const { accountId: account, mode, deliveryId: key } = delivery;
    return this.#needs.setTimer({ account, mode, kind: 'deliver', key, group: targetOf(delivery), dueAt });
  }

  /** An endpoint deleted while we were at it: the timers were hurried before ours was set. */
  async #cancelIfGone(state: Pending, at: Timestamp): Promise<void> {
    const { endpointId } = state.delivery;
    if (endpointId !== null && (await this.#endpoint(endpointId)).status !== 'active') await this.#cancel(state, at);
  }

  async #cancel({ delivery }: Pending, at: Timestamp): Promise<void> {
    const stream = streamName.webhookDelivery(delivery.deliveryId);
    const why = byProcess('webhookDelivery', delivery, delivery.deliveryId, targetOf(delivery));
    await this.#needs.commands.execute(WEBHOOK_DELIVERY, stream, cancelDelivery('the endpoint was deleted', at), why);
  }
}
