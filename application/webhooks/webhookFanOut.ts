// Turns a published event into deliveries: one for each message and endpoint that subscribes to it (W2, W9), or, where its stream has a URL
// of its own, as a payment with a webhookUrl has, one for each message to that URL (W7). A resend turns the event that led to the present
// status into new deliveries (W8). Nothing is appended: what is scheduled is written down with its jobs, and a delivery's stream begins
// with its first outcome.
import Type from 'typebox';
import { AGGREGATES } from '../../domain/aggregates.ts';
import type { AnyAggregate } from '../../domain/kernel/aggregate.ts';
import type { EndpointId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { targetOf } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT, wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { jobKind, runAll } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { deliveryIdOf } from '../core/derivedIds.ts';
import { idOf, payloadOf, stream } from '../core/payloads.ts';
import { enqueue } from '../core/reactions.ts';
import { FAN_OUT_QUEUE } from '../ports/deliveryRetention.ts';
import type { JobHandler, PayloadOf } from '../ports/jobs.ts';
import type { LoggedEvent } from '../ports/loggedEvent.ts';
import type { ProcessManager, Reaction } from '../ports/processManager.ts';
import type { ScheduledDeliveries, ScheduledDelivery } from '../ports/scheduledDeliveries.ts';
import type { Subscriptions } from '../ports/subscriptions.ts';
import { publishingOf, type StreamMessage, type StreamMessages, type Told } from './streamMessages.ts';
import { deliver } from './webhookDelivery.ts';

export const fanOut = jobKind({
  name: FAN_OUT_QUEUE,
  /** `endpointIds`: the account's endpoints as of the event; empty where it has none, and only a stream's own URL may want messages. */
  payload: payloadOf({
    stream,
    revision: Type.Integer({ minimum: 0 }),
    endpointIds: Type.Array(idOf<EndpointId>()),
  }),
  subjectOf: (event) => `${event.stream} ${event.revision}`,
  // Their messages are scheduled in one transaction.
  payloadsPerJob: 50,
});
type EventToTell = PayloadOf<typeof fanOut>;

type Published = Pick<LoggedEvent, 'category' | 'stream' | 'revision' | 'account' | 'mode' | 'event'>;

/** The process takes the events of every aggregate that publishes, and those that change the subscriptions, to which no job reacts. */
export const fanOutOf = (aggregates: readonly AnyAggregate[]) => {
  const publishing = publishingOf(aggregates);
  return {
    name: 'webhookFanOut',
    movesMoney: false,
    remembers: 'subscriptions',
    categories: [...publishing.keys(), WEBHOOK_ENDPOINT.category],
    react: (logged: Published, { endpoints, hasWebhookUrls }: Subscriptions): readonly Reaction[] => {
      const publisher = publishing.get(logged.category)?.publisher;
      if (!publisher?.isPublished(logged.event)) return [];
      const { account, mode, revision } = logged;
      const endpointIds = endpoints(account, mode).map(({ endpointId }) => endpointId as EndpointId);
      // Whether this very stream has a URL of its own is known to the job, which reads it.
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
 * Schedules the messages of events, all in one transaction. Doing it again changes nothing: the ids of the deliveries follow from the
 * event, the endpoint and the resend, and of one that may have been scheduled before, the job looks first what has become of it.
 */
export const scheduleMessages = (needs: Needs): JobHandler<EventToTell> => ({
  run: async (events, _target, mayBeRepeat) => {
    const deliveries: ScheduledDelivery[] = [];
    const subscriptionOf = subscriptionsIn(needs.commands);
    const all = runAll(events, async (event) => {
      deliveries.push(...(await deliveriesOf(needs.messages, subscriptionOf, event)));
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

const deliveriesOf = async (
  all: StreamMessages,
  subscriptionOf: (id: EndpointId) => Promise<Subscription>,
  event: EventToTell,
): Promise<readonly ScheduledDelivery[]> => {
  const { stream: of, endpointIds } = event;
  const { told, revision, messages, resend, at } = await messagesToSchedule(all, event);
  const { tenant, paymentId, url } = told;
  if (messages.length === 0 || (url === null && endpointIds.length === 0)) return [];
  const subscriptions =
    url === null ? await Promise.all(endpointIds.map(subscriptionOf)) : [{ endpointId: null, events: ['*'] }];
  return messages.flatMap(({ type: eventType, eventId, at: ownTime }) =>
    subscriptions
      .filter(({ events }) => wants(events, eventType))
      .map(({ endpointId }) => ({
        deliveryId: deliveryIdOf(tenant.accountId, eventId, endpointId ?? 'webhookUrl', resend),
        tenant,
        target: targetOf({ endpointId, url, ...tenant }),
        delivery: { stream: of, revision, paymentId, eventType, endpointId, resend, scheduledAt: at ?? ownTime },
      })),
  );
};

/** The messages of the event at `revision`. `resend` is 0 when they are sent for the first time, and the resend's number otherwise. */
interface MessagesToSchedule {
  readonly told: Told;
  readonly revision: number;
  readonly messages: readonly StreamMessage[];
  readonly resend: number;
  /** When they are due; null: each at its own time. */
  readonly at: Timestamp | null;
}

const messagesToSchedule = async (
  all: StreamMessages,
  { stream: of, revision }: EventToTell,
): Promise<MessagesToSchedule> => {
  const told = await all.at(of, revision);
  const { again, messages } = told;
  if (again === null) return { told, revision, messages, resend: 0, at: null };
  const resent = (await all.at(of, again.ofRevision)).messages.filter(again.includes);
  return { told, revision: again.ofRevision, messages: resent, resend: again.number, at: again.at };
};

interface Subscription {
  readonly endpointId: EndpointId;
  readonly events: readonly string[];
}

/**
 * Returns what reads an endpoint's subscription: from its stream, for another process may have changed it a moment ago, and once for all
 * events of a job.
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
