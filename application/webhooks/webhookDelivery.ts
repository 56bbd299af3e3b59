// A scheduled delivery is attempted until the endpoint takes it, its attempts are used up, or the endpoint is gone (W3, W4, W6).
import Type from 'typebox';
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
import type { Accounts } from '../core/accounts.ts';
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../core/aggregates.ts';
import { runAll, timedKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { deliveryIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { idOf, instant, payloadOf } from '../core/payloads.ts';
import { clearTimer, enqueue, fireNow, ignoring, processManager, setTimer } from '../core/reactions.ts';
import type { Clock, Stopwatch } from '../ports/clock.ts';
import { DELIVERY_QUEUE, type FailingTargets, type FirstAttempt } from '../ports/failingTargets.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import { type Timers, timerOf } from '../ports/timers.ts';
import type { AttemptOutcome, WebhookSender } from '../ports/webhookSender.ts';
import { EndpointHealth } from './endpointHealth.ts';
import { overrideSecret } from './overrideSecret.ts';
import { signatureHeaders } from './webhookSignature.ts';

export const deliver = timedKind({
  name: DELIVERY_QUEUE,
  /** `dueAt`, `isProbe`: the instant of the timer that led here, and whether that was its turn as a probe; absent: there was none. */
  payload: payloadOf({
    deliveryId: idOf<DeliveryId>(),
    dueAt: Type.Optional(instant),
    isProbe: Type.Optional(Type.Boolean()),
  }),
  subjectOf: ({ deliveryId }) => deliveryId,
  timer: {
    jobPayloadOf: (payload, { dueAt, held }) => ({ ...payload, dueAt, ...(held && { isProbe: true }) }),
    isGroupTarget: true,
  },
});
type Wanted = PayloadOf<typeof deliver>;

const deliveryOf = ({ subject }: { readonly subject: string }): Wanted => ({ deliveryId: subject as DeliveryId });

export const webhookDelivery = processManager({
  name: 'webhookDelivery',
  movesMoney: false,
  reactions: {
    webhookDelivery: {
      WebhookDeliveryScheduled: (logged) => [enqueue(deliver, deliveryOf(logged), targetOf(logged.event.data))],
      WebhookDeliveryAttemptFailed: (logged) => {
        const { nextAttemptAt, target } = logged.event.data;
        return nextAttemptAt === null ? [] : [setTimer(deliver, deliveryOf(logged), logged, nextAttemptAt, target)];
      },
      // Nothing is held back for an endpoint that is gone.
      WebhookDeliveryCancelled: (logged) => [clearTimer(deliver, deliveryOf(logged))],
      ...ignoring('WebhookDeliverySucceeded', 'WebhookDeliveryDeadLettered'),
    },
    webhookEndpoint: {
      // Pending deliveries are abandoned at once, not when their next attempt would have come.
      WebhookEndpointDeleted: ({ subject }) => [fireNow(deliver, subject)],
      ...ignoring('WebhookEndpointRegistered'),
    },
  },
});

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly stopwatch: Stopwatch;
  readonly sender: WebhookSender;
  readonly secrets: WebhookSecrets;
  readonly targets: FailingTargets;
  readonly timers: Pick<Timers, 'set'>;
}

/** Longest attempt while a test clock is worked off (W4): a silent endpoint must not hold up a jump for long. */
const JUMP_DEADLINE_MS = 5_000;

/** What timers that are fired now are due at. */
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

  /** Attempts deliveries of one target. Its status and secret are read at the attempt. */
  async run(wanted: readonly Wanted[], target: string): Promise<void> {
    const [endpoint] = await Promise.all([
      isRawId(target) ? this.#endpoint(target as EndpointId) : null,
      this.#health.look(target),
    ]);
    await runAll(wanted, (one) => this.#attempt(one, endpoint));
  }

  async #endpoint(id: EndpointId): Promise<WebhookEndpointState> {
    return (await this.#needs.commands.load(WEBHOOK_ENDPOINT, streamName.webhookEndpoint(id))).state;
  }

  /** `endpoint`: null for deliveries to a payment's own URL. */
  async #attempt(wanted: Wanted, endpoint: WebhookEndpointState | null): Promise<void> {
    const state = await this.#stateOf(wanted.deliveryId, wanted.dueAt !== undefined);
    if (state.status !== 'pending') return;
    const { accountId, mode } = state.delivery;
    const { accounts } = this.#needs;
    const asked = await this.#askedFor(state, wanted);
    const dueAt = asked ?? state.nextAttemptAt;
    const now = await accounts.actingAt(accountId, mode, dueAt);
    const destination = await this.#destination(state, endpoint);
    if (destination === null) return this.#cancel(state, now);
    const isTooSoon = asked === null ? (await accounts.now(accountId, mode)) < dueAt : now < dueAt;
    // A timer that was fired early is spent: it is set again, whoever else may have done so.
    if (isTooSoon || (dueAt < state.nextAttemptAt && !mayComeEarly(state, dueAt)))
      return this.#setTimer(state, state.nextAttemptAt);
    if (isFirst(state) && wanted.isProbe !== true && (await this.#health.holds(attemptOf(state, now))))
      return this.#cancelIfGone(state, now);
    await this.#record(state, await this.#send(state, destination, dueAt), dueAt);
  }

  /** The instant of the attempt that the job asks for: of a retry, its time or before (W3). null: that attempt was made. */
  async #askedFor({ delivery, attempts, nextAttemptAt, updatedAt }: Pending, { dueAt }: Wanted) {
    // All timers of the target were fired, whatever time it is.
    const at = dueAt === EPOCH ? await this.#needs.accounts.now(delivery.accountId, delivery.mode) : dueAt;
    if (at !== undefined && at > updatedAt) return at;
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
    const metadata = metadataForProcess('webhookDelivery', delivery, delivery.deliveryId, delivery.eventId);
    const done = await commands.record(WEBHOOK_DELIVERY, stream, decide, metadata);
    if (outcome.ok) await this.#health.succeeded(targetOf(delivery), at);
    else if (done.reply === 'recorded') await this.#health.failed(attemptOf(state, at), outcome.error ?? 'connection');
    if (done.state.status !== 'pending') return;
    // Another process made this attempt: what we were called for was a later one, whose timer is spent.
    if (done.reply === 'nothing') await this.#setTimer(done.state, done.state.nextAttemptAt);
    await this.#cancelIfGone(done.state, at);
  }

  #setTimer(state: Pending, dueAt: Timestamp): Promise<void> {
    return this.#needs.timers.set(attemptOf(state, dueAt));
  }

  /** An endpoint deleted while we were at it: the timers were fired before ours was set. */
  async #cancelIfGone(state: Pending, at: Timestamp): Promise<void> {
    const { endpointId } = state.delivery;
    if (endpointId !== null && (await this.#endpoint(endpointId)).status !== 'active') await this.#cancel(state, at);
  }

  async #cancel({ delivery }: Pending, at: Timestamp): Promise<void> {
    const stream = streamName.webhookDelivery(delivery.deliveryId);
    const metadata = metadataForProcess('webhookDelivery', delivery, delivery.deliveryId, targetOf(delivery));
    await this.#needs.commands.execute(
      WEBHOOK_DELIVERY,
      stream,
      cancelDelivery('the endpoint was deleted', at),
      metadata,
    );
  }
}

const attemptOf = ({ delivery, createdAt: since }: Pending, dueAt: Timestamp): FirstAttempt => {
  const { accountId: account, mode, deliveryId } = delivery;
  const group = targetOf(delivery);
  return { ...timerOf(deliver, { deliveryId }, { account, mode, group, dueAt }), group, since };
};

/** Never tried, and not asked for by hand: a resend is a probe (W3). The id tells them apart, it names the resend. */
const isFirst = ({ attempts, delivery: { deliveryId, eventId, endpointId } }: Pending): boolean =>
  attempts === 0 && deliveryId === deliveryIdOf(eventId, endpointId ?? 'webhookUrl', 0);
