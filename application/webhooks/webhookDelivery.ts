// Attempts a scheduled delivery until the endpoint accepts it, no attempts are left, or the endpoint is deleted (W3, W4, W6).
import Type from 'typebox';
import { type DeliveryId, type EndpointId, isRawId, PREFIX, type Tenant } from '../../domain/kernel/ids.ts';
import { MESSAGE_FORM } from '../../domain/kernel/publisher.ts';
import { addMillis, fromMillis, later, SECOND_MS, type Timestamp } from '../../domain/kernel/time.ts';
import {
  cancelDelivery,
  correlationOf,
  isHoldable,
  mayComeEarly,
  type PendingDelivery,
  recordAttempt,
  scheduled as scheduledState,
  WEBHOOK_DELIVERY,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import {
  type ExistingEndpoint,
  WEBHOOK_ENDPOINT,
  type WebhookEndpointEvent,
  type WebhookEndpointState,
  waitsUntil,
} from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { idOf, instant, payloadOf, runAll, timedKind } from '../core/capability.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { clearTimer, effect, fireNow, nothing, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { DeletesDeliveries } from '../ports/deliveryRetention.ts';
import type { FailingTargets, TimedAttempt } from '../ports/failingTargets.ts';
import type { JobQueue, PayloadOf } from '../ports/jobs.ts';
import type { ScheduledDeliveries, ScheduledDelivery } from '../ports/scheduledDeliveries.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';
import type { Clock, Randomness, Stopwatch } from '../ports/system.ts';
import { type Timers, timerOf } from '../ports/timers.ts';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../ports/webhookSender.ts';
import { EndpointHealth } from './endpointHealth.ts';
import { endpointSecret, overrideSecret } from './signingSecrets.ts';
import type { StreamMessage, StreamMessages } from './streamMessages.ts';
import { signatureHeaders } from './webhookSignature.ts';

export const deliver = timedKind({
  name: 'deliver',
  /**
   * `dueAt` is when the attempt is due. It is absent for the first attempt right after scheduling, before which there can't be another one.
   * `isProbe`: whether the attempt is a probe.
   */
  payload: payloadOf({
    deliveryId: idOf<DeliveryId>(),
    dueAt: Type.Optional(instant),
    isProbe: Type.Optional(Type.Boolean()),
  }),
  subjectOf: ({ deliveryId }) => deliveryId,
  // Deliveries to one endpoint share a claim, a lookup of the endpoint and a completion.
  payloadsPerJob: 50,
  timer: {
    jobPayloadOf: (payload, { dueAt, held }) => ({ ...payload, dueAt, ...(held && { isProbe: true }) }),
    isGroupTarget: true,
  },
});
type Wanted = PayloadOf<typeof deliver>;

const deliveryOf = ({ subject }: { readonly subject: string }): Wanted => ({ deliveryId: subject as DeliveryId });

/** Forgets the failures of a delivery target (`targetOf`), which then counts as healthy until it fails again. */
export const forgetFailures = effect<string>('forgetFailures');

/** Deletes the signing secrets of a deleted endpoint. */
export const forgetSecrets = effect<EndpointId>('forgetSecrets');

export const webhookDelivery = processManager({
  name: 'webhookDelivery',
  movesMoney: false,
  from: 'beginning',
  reactions: {
    webhookDelivery: reacting(WEBHOOK_DELIVERY.groups, {
      reads: {
        WebhookDeliveryAttemptFailed: (logged) => {
          const { nextAttemptAt, target } = logged.event.data;
          return nextAttemptAt === null ? [] : [setTimer(deliver, deliveryOf(logged), logged, nextAttemptAt, target)];
        },
        // A first attempt that was held back for a deleted endpoint still has a timer.
        WebhookDeliveryCancelled: (logged) => [clearTimer(deliver, deliveryOf(logged))],
        // Moves the timer of the pending retry, because each delivery has only one timer.
        WebhookDeliveryRetryRequested: (logged) => {
          const { at, target } = logged.event.data;
          return [setTimer(deliver, deliveryOf(logged), logged, at, target)];
        },
        WebhookDeliverySucceeded: nothing,
        WebhookDeliveryDeadLettered: nothing,
      },
      ignores: ['erasure'],
    }),
    webhookEndpoint: reacting(WEBHOOK_ENDPOINT.groups, {
      reads: {
        // Failures at another URL or before a pause no longer count, so all waiting deliveries are attempted at once (W3).
        WebhookEndpointChanged: ({ subject, event: { data } }) =>
          data.url === null && data.status === null ? [] : [forgetFailures.ask(subject), fireNow(deliver, subject)],
        // Pending deliveries are cancelled at once, not at their next attempt.
        WebhookEndpointDeleted: ({ subject }) => [
          forgetFailures.ask(subject),
          forgetSecrets.ask(subject as EndpointId),
          fireNow(deliver, subject),
        ],
        WebhookEndpointRegistered: nothing,
        WebhookEndpointSecretRotated: nothing,
      },
    }),
  },
});

interface Needs extends UseCaseNeeds {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly stopwatch: Stopwatch;
  readonly sender: WebhookSender;
  readonly secrets: WebhookSecrets;
  readonly targets: Omit<FailingTargets, 'forget'>;
  readonly timers: Pick<Timers, 'set'>;
  readonly messages: StreamMessages;
  readonly jobs: Pick<JobQueue, 'running'>;
  readonly scheduled: Pick<ScheduledDeliveries, 'find' | 'begun'>;
  readonly isDeleted: DeletesDeliveries['isDeleted'];
  /** Returns the audit log's latest checkpoint in base64 for webhooks of `charge.paid`; null: they carry none. */
  readonly checkpointHeader: () => Promise<string | null>;
}

/** Deadline of attempts while a test clock is drained, so that a silent endpoint delays a jump only briefly (W4). */
const JUMP_DEADLINE_MS = 5_000;

/** How long a requested retry waits before it checks again whether another attempt of the delivery is still running. */
const LOOK_AGAIN_MS = SECOND_MS;

/** How old the state of an endpoint may be when it is used. Changes by this process count at once. */
const ENDPOINT_MS_MAX = 100;

/** `fireNow` sets timers to this instant. */
const EPOCH = fromMillis(0);

/** A delivery and the data for its next attempt. */
interface Attempt {
  readonly deliveryId: DeliveryId;
  readonly state: PendingDelivery;
  readonly tenant: Tenant;
  readonly target: string;
  /** The stream's own URL, or null to use the endpoint's. */
  readonly url: string | null;
  readonly message: StreamMessage;
}

/** URL and signing secret of an attempt. */
interface Destination {
  readonly url: string;
  readonly secret: string;
}

/** What the deliveries of a job have in common. */
interface Job {
  readonly target: string;
  /** Returns the present state of the endpoint, or null for deliveries to a stream's own URL. */
  readonly endpoint: () => Promise<WebhookEndpointState | null>;
  readonly signal: AbortSignal | undefined;
}

/** Returns whether deliveries go to this URL: the active endpoint's, or that of a stream without an endpoint (null). */
const hasUrl = (endpoint: WebhookEndpointState | null, url: string | undefined): endpoint is ExistingEndpoint | null =>
  endpoint === null || (endpoint.status === 'active' && endpoint.url === url);

export class DeliveryWorker {
  readonly #needs: Needs;
  readonly #health: EndpointHealth;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#health = new EndpointHealth(needs.targets, () => needs.stopwatch.elapsedMs());
  }

  /**
   * Attempts deliveries to one target, with its current status and secret. `mayBeRepeat`: the job may have run before with an unknown
   * result. Attempts that have not begun when `signal` aborts fail.
   */
  async run(wanted: readonly Wanted[], target: string, mayBeRepeat = false, signal?: AbortSignal): Promise<void> {
    const endpoint = isRawId(target) ? this.#present(target as EndpointId) : async () => null;
    const job: Job = { target, endpoint, signal };
    const [scheduled] = await Promise.all([
      this.#needs.scheduled.find(wanted.map(({ deliveryId }) => deliveryId)),
      endpoint(),
      this.#health.look(target),
    ]);
    await runAll(wanted, async (one) => {
      // A delivery that would be held back may have had a manual retry meanwhile.
      const mayHaveBegun = mayBeRepeat || one.dueAt !== undefined || this.#health.isFailing(target);
      const state = await this.#pendingState(one.deliveryId, scheduled.get(one.deliveryId), mayHaveBegun);
      if (state !== null) await this.#attempt(await this.#attemptOf(one.deliveryId, state, target), one, job);
    });
  }

  async #endpoint(id: EndpointId): Promise<WebhookEndpointState> {
    return (await this.#needs.commands.load(WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT.stream(id))).state;
  }

  /** Returns a function that reads the endpoint at its first call, and again if the last read is too old. */
  #present(id: EndpointId): () => Promise<WebhookEndpointState> {
    const { commands, stopwatch } = this.#needs;
    const stream = WEBHOOK_ENDPOINT.stream(id);
    let readMs = Number.NEGATIVE_INFINITY;
    let reading: ReturnType<typeof commands.load<WebhookEndpointState, WebhookEndpointEvent>>;
    return async () => {
      const nowMs = stopwatch.elapsedMs();
      if (nowMs - readMs > ENDPOINT_MS_MAX) {
        readMs = nowMs;
        reading = commands.load(WEBHOOK_ENDPOINT, stream);
      }
      const [read, known] = [await reading, await commands.loadRecent(WEBHOOK_ENDPOINT, stream)];
      return known.revision > read.revision ? known.state : read.state;
    };
  }

  /** Returns the pending delivery, or null if there is nothing to do. A first attempt reads no stream, because none exists yet. */
  async #pendingState(
    id: DeliveryId,
    scheduled: ScheduledDelivery | undefined,
    mayHaveBegun: boolean,
  ): Promise<PendingDelivery | null> {
    if (mayHaveBegun || scheduled === undefined) {
      const { state } = await this.#needs.commands.load(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id));
      if (state.status !== 'absent') {
        if (scheduled !== undefined) this.#needs.scheduled.begun(id);
        return state.status === 'pending' ? state : null;
      }
      // It was sent and ended, but an older backup of PostgreSQL knew only that it was scheduled.
      if (scheduled !== undefined && (await this.#needs.isDeleted(id))) {
        this.#needs.scheduled.begun(id);
        return null;
      }
    }
    if (scheduled === undefined) return null;
    return scheduledState({ ...scheduled.delivery, form: MESSAGE_FORM }, scheduled.target);
  }

  async #attemptOf(deliveryId: DeliveryId, state: PendingDelivery, target: string): Promise<Attempt> {
    const { published, message } = await this.#needs.messages.of(state.delivery);
    const url = state.delivery.endpointId === null ? published.url : null;
    return { deliveryId, state, tenant: published.tenant, target, url, message };
  }

  async #attempt(attempt: Attempt, wanted: Wanted, job: Job): Promise<void> {
    const { accounts } = this.#needs;
    const { state, tenant } = attempt;
    const { accountId, mode } = tenant;
    const endpoint = await job.endpoint();
    const asked = await this.#askedFor(attempt, wanted, endpoint);
    const dueAt = asked ?? state.nextAttemptAt;
    const now = await accounts.endingAt(accountId, mode, dueAt);
    if (endpoint !== null && endpoint.status !== 'active') return this.#putOff(attempt, endpoint, now);
    const isTooSoon = asked === null ? (await accounts.now(accountId, mode)) < dueAt : now < dueAt;
    // A timer that fired early is used up, so it is set again.
    if (isTooSoon || (dueAt < state.nextAttemptAt && !mayComeEarly(state, dueAt)))
      return this.#setTimer(attempt, state.nextAttemptAt);
    if (state.isProbe && (await this.#isUnderWay(attempt)))
      return this.#setTimer(attempt, addMillis(now, LOOK_AGAIN_MS));
    if (isHoldable(state) && wanted.isProbe !== true && (await this.#health.holds(timedAttempt(attempt, now))))
      return this.#cancelIfGone(attempt, now);
    const outcome = await this.#send(attempt, endpoint, dueAt, job);
    if (outcome === null) return this.run([wanted], job.target, true, job.signal);
    const isCurrent = async () => hasUrl(await job.endpoint(), endpoint?.url);
    await this.#record(attempt, outcome, dueAt, isCurrent);
  }

  /** Returns null if the endpoint was deleted, paused or moved to another URL before the attempt began. */
  async #send(
    attempt: Attempt,
    endpoint: ExistingEndpoint | null,
    dueAt: Timestamp,
    job: Job,
  ): Promise<AttemptOutcome | null> {
    const { sender, secrets } = this.#needs;
    const url = attempt.url ?? endpoint?.url;
    if (url === undefined) throw new Error(`delivery ${attempt.deliveryId} has neither a URL nor an endpoint`);
    const requestOf = async (): Promise<WebhookRequest | null> => {
      const present = await job.endpoint();
      if (!hasUrl(present, url)) return null;
      const secret = present === null ? overrideSecret(this.#needs, attempt.tenant) : endpointSecret(secrets, present);
      return this.#request(attempt, { url, secret: await secret }, dueAt);
    };
    return sender.sendInTurn(requestOf, job.signal);
  }

  /** Returns the time of the attempt that the job requests, or null if that attempt was already made. A retry may come early (W3). */
  async #askedFor(
    { state, tenant: { accountId, mode } }: Attempt,
    { dueAt }: Wanted,
    endpoint: WebhookEndpointState | null,
  ) {
    const { accounts } = this.#needs;
    const { attempts, nextAttemptAt, updatedAt } = state;
    // `fireNow` started all timers of the target, regardless of the time, when the endpoint changed.
    const firedAt = endpoint === null || endpoint.status === 'absent' ? updatedAt : endpoint.updatedAt;
    const at = dueAt === EPOCH ? await accounts.endingAt(accountId, mode, firedAt) : dueAt;
    if (at !== undefined && at > updatedAt) return at;
    return attempts === 0 ? nextAttemptAt : null;
  }

  /** Returns whether another running job is attempting the delivery. */
  async #isUnderWay({ deliveryId, tenant }: Attempt): Promise<boolean> {
    const running = await this.#needs.jobs.running(deliver, tenant);
    return running.filter((one) => one.deliveryId === deliveryId).length > 1;
  }

  async #request(attempt: Attempt, { url, secret }: Destination, dueAt: Timestamp): Promise<WebhookRequest> {
    const { accounts, clock, checkpointHeader } = this.#needs;
    const { deliveryId, tenant, message } = attempt;
    const { accountId: account, mode } = tenant;
    const { body, type, family, eventId, sequence } = message;
    const checkpoint = type === 'charge.paid' ? await checkpointHeader() : null;
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'x-acme-delivery-id': WEBHOOK_DELIVERY.idPrefix + deliveryId,
      'x-acme-event-type': type,
      'x-acme-sequence': String(sequence),
      ...(checkpoint !== null && { 'x-quita-checkpoint': checkpoint }),
      ...signatureHeaders({ secret, body, family, id: PREFIX.event + eventId, atMs: clock.now() }),
    };
    const isDrained = await accounts.isBeforeJumpEnd(account, mode, dueAt);
    return { url, headers, body, mode, account, ...(isDrained && { deadlineMs: JUMP_DEADLINE_MS }) };
  }

  /** `isCurrent`: returns whether the endpoint is still active at the URL of the attempt. Otherwise it begins afresh (W3). */
  async #record(
    attempt: Attempt,
    outcome: AttemptOutcome,
    dueAt: Timestamp,
    isCurrent: () => Promise<boolean>,
  ): Promise<void> {
    const { commands, accounts, randomness, scheduled } = this.#needs;
    const { deliveryId, tenant, target } = attempt;
    const { delivery, attempts } = attempt.state;
    const at = await accounts.endingAt(tenant.accountId, tenant.mode, dueAt);
    const decide = recordAttempt({ delivery, target }, attempts + 1, outcome, at, randomness.fraction());
    const stream = WEBHOOK_DELIVERY.stream(deliveryId);
    const correlation = correlationOf(delivery);
    const metadata = metadataForProcess('webhookDelivery', tenant, correlation, correlation);
    const creates = { creates: attempts === 0 };
    const done = await commands.record(WEBHOOK_DELIVERY, stream, decide, metadata, creates);
    if (attempts === 0) scheduled.begun(deliveryId);
    // Other deliveries may have failed since the test clock left, so their retries can't come forward to that instant.
    if (outcome.ok)
      await this.#health.succeeded(target, await accounts.actingAt(tenant.accountId, tenant.mode, dueAt), isCurrent);
    else if (done.reply === 'recorded' && (await isCurrent()))
      await this.#health.failed(timedAttempt(attempt, at), outcome.error ?? 'connection');
    if (done.state.status !== 'pending') return;
    const after = { ...attempt, state: done.state };
    // Another process made this attempt. This job's timer for the next attempt is used up, so it is set again.
    if (done.reply === 'nothing') await this.#setTimer(after, done.state.nextAttemptAt);
    await this.#cancelIfGone(after, at);
  }

  /** Postpones a delivery while its endpoint is inactive, at most seven days, and cancels it if the endpoint was deleted (W6). */
  async #putOff(attempt: Attempt, endpoint: WebhookEndpointState, now: Timestamp): Promise<void> {
    if (endpoint.status !== 'inactive') return this.#cancelDeleted(attempt, endpoint, now);
    const until = waitsUntil(endpoint);
    if (now >= until) return this.#cancel(attempt, 'the endpoint was inactive for seven days', now);
    await this.#setTimer(attempt, until);
    const present = await this.#endpoint(endpoint.endpointId);
    // The endpoint changed before this timer was set, so `fireNow` missed it.
    if (present.status !== 'inactive' || waitsUntil(present) !== until) await this.#setTimer(attempt, EPOCH);
  }

  #setTimer(attempt: Attempt, dueAt: Timestamp): Promise<void> {
    return this.#needs.timers.set(timedAttempt(attempt, dueAt));
  }

  /** Cancels the delivery if its endpoint was deleted during the attempt: `fireNow` ran before this delivery's timer was set. */
  async #cancelIfGone(attempt: Attempt, at: Timestamp): Promise<void> {
    const { endpointId } = attempt.state.delivery;
    if (endpointId === null) return;
    const endpoint = await this.#endpoint(endpointId);
    if (endpoint.status === 'deleted') await this.#cancelDeleted(attempt, endpoint, at);
  }

  /** Cancels the delivery at `at`, but not before its endpoint was deleted: the test clock may have left before (X5). */
  #cancelDeleted(attempt: Attempt, endpoint: WebhookEndpointState, at: Timestamp): Promise<void> {
    const cancelledAt = endpoint.status === 'absent' ? at : later(at, endpoint.updatedAt);
    return this.#cancel(attempt, 'the endpoint was deleted', cancelledAt);
  }

  async #cancel(
    { deliveryId, state: { delivery }, tenant, target }: Attempt,
    reason: string,
    at: Timestamp,
  ): Promise<void> {
    const { commands, scheduled } = this.#needs;
    const stream = WEBHOOK_DELIVERY.stream(deliveryId);
    const metadata = metadataForProcess('webhookDelivery', tenant, correlationOf(delivery), target);
    await commands.record(WEBHOOK_DELIVERY, stream, cancelDelivery({ delivery, target }, reason, at), metadata);
    scheduled.begun(deliveryId);
  }
}

const timedAttempt = ({ deliveryId, tenant, target: group, state }: Attempt, dueAt: Timestamp): TimedAttempt => {
  const { accountId: account, mode } = tenant;
  // Probes are chosen by waiting time, not by the age of the messages, so that a redrive doesn't go first.
  const since = state.round.begunAt;
  return { ...timerOf(deliver, { deliveryId }, { account, mode, group, dueAt }), group, since };
};
