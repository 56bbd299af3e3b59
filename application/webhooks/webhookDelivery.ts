// A scheduled delivery is attempted until the endpoint takes it, its attempts are used up, or the endpoint is gone (W3, W4, W6).
import { streamName } from '../../domain/kernel/event.ts';
import { type DeliveryId, type EndpointId, isRawId, PREFIX } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import {
  cancelDelivery,
  mayComeEarly,
  recordAttempt,
  targetOf,
  type WebhookDeliveryState,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { WebhookEndpointState } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { deliveryIdOf } from '../core/derivedIds.ts';
import { byProcess } from '../core/eventMetadata.ts';
import { eachOf } from '../core/runAll.ts';
import type { Clock, Stopwatch } from '../ports/clock.ts';
import type { FailingTargets, FirstAttempt } from '../ports/failingTargets.ts';
import { isOf } from '../ports/loggedEvent.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import { type DeliveryItem, parseDeliveryItem, type Timer } from '../ports/timers.ts';
import type { AttemptOutcome, WebhookSender } from '../ports/webhookSender.ts';
import { EndpointHealth } from './endpointHealth.ts';
import { overrideSecret } from './overrideSecret.ts';
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
    // Nothing is held back for an endpoint that is gone.
    if (event.type === 'WebhookDeliveryCancelled') return [{ kind: 'clearTimer', timer: { kind: 'deliver', key } }];
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
  readonly randomness: Randomness;
  readonly stopwatch: Stopwatch;
  readonly sender: WebhookSender;
  readonly secrets: WebhookSecrets;
  readonly targets: FailingTargets;
  readonly setTimer: (timer: Timer) => Promise<void>;
}

/** Longest attempt while a test clock is worked off (W4): a silent endpoint must not hold up a jump for long. */
const JUMP_DEADLINE_MS = 5_000;

/** What timers that are hurried are due at. */
const EPOCH = fromMillis(0);

type Pending = Extract<WebhookDeliveryState, { status: 'pending' }>;
/** Where a delivery goes now, and what signs it. */
interface Destination {
  readonly url: string;
  readonly secret: string;
}

export class DeliveryWorker {
  readonly #needs: Needs;
  readonly #health: EndpointHealth;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#health = new EndpointHealth(needs.targets, () => needs.stopwatch.elapsedMs());
  }

  /** Handler of one job of the queue `deliver`: items (`parseDeliveryItem`) of one target. Status and secret are read at the attempt. */
  async run(items: readonly string[], target: string): Promise<void> {
    const [endpoint] = await Promise.all([
      isRawId(target) ? this.#endpoint(target as EndpointId) : null,
      this.#health.look(target),
    ]);
    await eachOf(items, (item) => this.#attempt(parseDeliveryItem(item), endpoint));
  }

  async #endpoint(id: EndpointId): Promise<WebhookEndpointState> {
    return (await this.#needs.commands.load(WEBHOOK_ENDPOINT, streamName.webhookEndpoint(id))).state;
  }

  /** `endpoint`: null for deliveries to a payment's own URL. */
  async #attempt(item: DeliveryItem, endpoint: WebhookEndpointState | null): Promise<void> {
    const state = await this.#stateOf(item.id, item.dueAt !== null);
    if (state.status !== 'pending') return;
    const { accountId, mode } = state.delivery;
    const { accounts } = this.#needs;
    const asked = await this.#askedFor(state, item);
    const dueAt = asked ?? state.nextAttemptAt;
    const now = await accounts.actingAt(accountId, mode, dueAt);
    const destination = await this.#destination(state, endpoint);
    if (destination === null) return this.#cancel(state, now);
    const isTooSoon = asked === null ? (await accounts.now(accountId, mode)) < dueAt : now < dueAt;
    // A timer that was hurried is spent: it is set again, whoever else may have done so.
    if (isTooSoon || (dueAt < state.nextAttemptAt && !mayComeEarly(state, dueAt)))
      return this.#setTimer(state, state.nextAttemptAt);
    if (isFirst(state) && !item.isProbe && (await this.#health.holds(timerOf(state, now))))
      return this.#cancelIfGone(state, now);
    await this.#record(state, await this.#send(state, destination, dueAt), dueAt);
  }

  /** The instant of the attempt that the item asks for: of a retry, its time or before (W3). null: that attempt was made. */
  async #askedFor({ delivery, attempts, nextAttemptAt, updatedAt }: Pending, { dueAt }: DeliveryItem) {
    // All timers of the target were hurried, whatever time it is.
    const at = dueAt === EPOCH ? await this.#needs.accounts.now(delivery.accountId, delivery.mode) : dueAt;
    if (at !== null && at > updatedAt) return at;
    return attempts === 0 ? nextAttemptAt : null;
  }

  /** null: there is none any more. */
  async #destination({ delivery }: Pending, endpoint: WebhookEndpointState | null): Promise<Destination | null> {
    if (delivery.url !== null) return { url: delivery.url, secret: await overrideSecret(this.#needs, delivery) };
    if (endpoint?.status !== 'active') return null;
    const secret = await this.#needs.secrets.find(endpoint.endpointId, endpoint.secretVersion);
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

  async #send({ delivery }: Pending, { url, secret }: Destination, dueAt: Timestamp): Promise<AttemptOutcome> {
    const { accounts, clock, sender } = this.#needs;
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
    const { accountId: account, mode, body } = delivery;
    const isJumpedOver = await accounts.isJumpedOver(account, mode, dueAt);
    return sender.send({ url, headers, body, mode, account, ...(isJumpedOver && { deadlineMs: JUMP_DEADLINE_MS }) });
  }

  async #record(state: Pending, outcome: AttemptOutcome, dueAt: Timestamp): Promise<void> {
    const { commands, accounts, randomness } = this.#needs;
    const { delivery } = state;
    const at = await accounts.actingAt(delivery.accountId, delivery.mode, dueAt);
    const decide = recordAttempt(state.attempts + 1, outcome, at, randomness.fraction());
    const stream = streamName.webhookDelivery(delivery.deliveryId);
    const why = byProcess('webhookDelivery', delivery, delivery.deliveryId, delivery.eventId);
    const done = await commands.record(WEBHOOK_DELIVERY, stream, decide, why);
    if (outcome.ok) await this.#health.succeeded(targetOf(delivery), at);
    else if (done.reply === 'recorded') await this.#health.failed(timerOf(state, at), outcome.error ?? 'connection');
    if (done.state.status !== 'pending') return;
    // Another process made this attempt: what we were called for was a later one, whose timer is spent.
    if (done.reply === 'nothing') await this.#setTimer(done.state, done.state.nextAttemptAt);
    await this.#cancelIfGone(done.state, at);
  }

  #setTimer(state: Pending, dueAt: Timestamp): Promise<void> {
    return this.#needs.setTimer(timerOf(state, dueAt));
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

const timerOf = ({ delivery, createdAt: since }: Pending, dueAt: Timestamp): FirstAttempt => {
  const { accountId: account, mode, deliveryId: key } = delivery;
  return { account, mode, kind: 'deliver', key, group: targetOf(delivery), dueAt, since };
};

/** Never tried, and not asked for by hand: a resend is a probe (W3). The id tells them apart, it names the resend. */
const isFirst = ({ attempts, delivery: { deliveryId, eventId, endpointId } }: Pending): boolean =>
  attempts === 0 && deliveryId === deliveryIdOf(eventId, endpointId ?? 'webhookUrl', 0);
