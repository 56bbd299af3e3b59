// Turns a published event into deliveries: one per message and subscribed endpoint (W2, W9). If the stream has its own URL, such as a
// payment with a webhookUrl, each message goes only to that URL (W7). A resend creates new deliveries for an earlier event (W8). Scheduling
// appends no event: scheduled deliveries are stored with their jobs, and a delivery's stream begins with its first outcome.
import Type from 'typebox';
import { AGGREGATES, isOfAccount } from '../../domain/aggregates.ts';
import type { AnyAggregate } from '../../domain/kernel/aggregate.ts';
import type { EndpointId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { targetOf } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT, wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { idOf, jobKind, payloadOf, runAll, stream } from '../core/capability.ts';
import { type CommandHandler, StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import { deliveryIdOf } from '../core/derivedIds.ts';
import { enqueue } from '../core/reactions.ts';
import { throwFirst } from '../ports/eachInTurn.ts';
import type { JobHandler, PayloadOf } from '../ports/jobs.ts';
import type { LoggedEvent } from '../ports/loggedEvent.ts';
import type { ProcessManager, Reaction } from '../ports/processManager.ts';
import type { ScheduledDeliveries, ScheduledDelivery } from '../ports/scheduledDeliveries.ts';
import type { Subscriptions } from '../ports/subscriptions.ts';
import { type PublishedEvent, publishingOf, type StreamMessage, type StreamMessages } from './streamMessages.ts';
import { deliver } from './webhookDelivery.ts';

export const fanOut = jobKind({
  /** The view operations.open_fan_outs names it, too. */
  name: 'fanOut',
  /** `endpointIds`: those of the account that may want a message, at the time of the event. If empty, only a stream's own URL gets any. */
  payload: payloadOf({
    stream,
    revision: Type.Integer({ minimum: 0 }),
    endpointIds: Type.Array(idOf<EndpointId>()),
  }),
  subjectOf: (event) => `${event.stream} ${event.revision}`,
  // Messages of all payloads are scheduled in one transaction.
  payloadsPerJob: 50,
});
type EventToPublish = PayloadOf<typeof fanOut>;

type Published = Pick<LoggedEvent, 'category' | 'stream' | 'revision' | 'account' | 'mode' | 'event'>;

/** Returns the process. It reads the events of all publishing aggregates, and events that change subscriptions. */
export const fanOutOf = (aggregates: readonly AnyAggregate[]) => {
  const publishing = publishingOf(aggregates);
  const categories = [...publishing.keys(), WEBHOOK_ENDPOINT.category];
  return {
    name: 'webhookFanOut',
    movesMoney: false,
    from: 'beginning' as const,
    remembers: 'subscriptions',
    categories,
    isByAccount: categories.every(isOfAccount),
    react: (logged: Published, { endpoints, hasWebhookUrls }: Subscriptions): readonly Reaction[] => {
      const publisher = publishing.get(logged.category)?.publisher;
      if (!publisher?.isPublished(logged.event)) return [];
      const { account, mode, revision } = logged;
      const names = publisher.namesOf?.(logged.event) ?? null;
      const endpointIds = endpoints(account, mode)
        .filter(({ events }) => names === null || names.some((name) => wants(events, name)))
        .map(({ endpointId }) => endpointId as EndpointId);
      // The job reads the stream and finds out whether this stream has its own URL.
      if (endpointIds.length === 0 && !(publisher.urlOf !== undefined && hasWebhookUrls(account, mode))) return [];
      return [enqueue(fanOut, { stream: logged.stream, revision, endpointIds })];
    },
  };
};
export const webhookFanOut: ProcessManager = fanOutOf(AGGREGATES);

interface Needs {
  readonly commands: Pick<CommandHandler, 'load'>;
  readonly messages: StreamMessages;
  readonly scheduled: Pick<ScheduledDeliveries, 'schedule'>;
}

/**
 * Schedules the messages of events in one transaction. Idempotent: delivery ids derive from event, endpoint and resend. If a delivery may
 * have been scheduled before, its job first checks the delivery's state. An unreadable endpoint fails its events after the messages to the
 * other endpoints are scheduled.
 */
export const scheduleMessages = (needs: Needs): JobHandler<EventToPublish> => ({
  run: async (events, _target, mayBeRepeat) => {
    const deliveries: ScheduledDelivery[] = [];
    const subscriptionOf = subscriptionsIn(needs.commands);
    const all = runAll(events, async (event) => {
      const wanted = await deliveriesOf(needs.messages, subscriptionOf, event);
      deliveries.push(...wanted.deliveries);
      throwFirst(wanted.unreadable);
    });
    await Promise.allSettled([all]);
    if (deliveries.length > 0)
      await needs.scheduled.schedule(
        deliveries.map((scheduled) => ({ scheduled, job: jobOf(scheduled, mayBeRepeat) })),
      );
    await all;
  },
});

const jobOf = ({ deliveryId, tenant, target, delivery }: ScheduledDelivery, mayBeRepeat: boolean) => ({
  queue: deliver.name,
  tenant,
  payload: { deliveryId, ...(mayBeRepeat && { dueAt: delivery.scheduledAt }) },
  target,
});

interface WantedDeliveries {
  readonly deliveries: readonly ScheduledDelivery[];
  /** The errors of endpoints that could not be read. */
  readonly unreadable: readonly StreamUnreadable[];
}

const deliveriesOf = async (
  all: StreamMessages,
  subscriptionOf: (id: EndpointId) => Promise<Subscription>,
  event: EventToPublish,
): Promise<WantedDeliveries> => {
  const { stream: of, endpointIds } = event;
  const [{ published, revision, messages, resend, at }, ofEndpoints] = await Promise.all([
    messagesToSchedule(all, event),
    Promise.all(endpointIds.map((id) => unlessUnreadable(subscriptionOf(id)))),
  ]);
  const { tenant, paymentId, url } = published;
  const found = url === null ? ofEndpoints : [{ endpointId: null, events: ['*'] }];
  const unreadable = found.filter((one) => one instanceof StreamUnreadable);
  const subscriptions = found.flatMap((one) => (one instanceof StreamUnreadable ? [] : [one]));
  const deliveries = messages.flatMap(({ type: eventType, eventId, at: ownTime }) =>
    subscriptions
      .filter(({ events }) => wants(events, eventType))
      .map(({ endpointId }) => ({
        deliveryId: deliveryIdOf(tenant.accountId, eventId, endpointId ?? 'webhookUrl', resend),
        tenant,
        target: targetOf({ endpointId, url, ...tenant }),
        delivery: { stream: of, revision, paymentId, eventType, endpointId, resend, scheduledAt: at ?? ownTime },
      })),
  );
  return { deliveries, unreadable };
};

/** The messages of the event at `revision`. `resend` is 0 for the first time, otherwise the number of the resend. */
interface MessagesToSchedule {
  readonly published: PublishedEvent;
  readonly revision: number;
  readonly messages: readonly StreamMessage[];
  readonly resend: number;
  /** When all messages are due, or null if each is due at its own time. */
  readonly at: Timestamp | null;
}

const messagesToSchedule = async (
  all: StreamMessages,
  { stream: of, revision }: EventToPublish,
): Promise<MessagesToSchedule> => {
  const published = await all.at(of, revision);
  const { again, messages } = published;
  if (again === null) return { published, revision, messages, resend: 0, at: null };
  const resent = (await all.at(of, again.ofRevision)).messages.filter(again.includes);
  return { published, revision: again.ofRevision, messages: resent, resend: again.number, at: again.at };
};

interface Subscription {
  readonly endpointId: EndpointId;
  readonly events: readonly string[];
}

/**
 * Returns a function that reads an endpoint's subscription from its stream, because another process may have just changed it. Each
 * endpoint is read once per job.
 */
const subscriptionsIn = (commands: Needs['commands']): ((id: EndpointId) => Promise<Subscription>) => {
  const read = async (endpointId: EndpointId): Promise<Subscription> => {
    const { state } = await commands.load(WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT.stream(endpointId));
    return { endpointId, events: state.status === 'absent' ? [] : state.events };
  };
  const known = new Map<EndpointId, Promise<Subscription>>();
  return (id) => {
    const subscription = known.get(id) ?? read(id);
    known.set(id, subscription);
    return subscription;
  };
};
