// Turns an event of a payment into deliveries: one for each message and endpoint that subscribes to it (W2, W9), or, where the payment has
// a webhookUrl, one for each message to that URL (W7). A resend turns the event that led to the present status into new deliveries (W8).
// Nothing is appended: what is scheduled is written down with its jobs, and a delivery's stream begins with its first outcome.
import Type from 'typebox';
import type { EndpointId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT_GROUPS } from '../../domain/payment/eventGroups.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { isPublished, isResent } from '../../domain/presentation/messages.ts';
import { targetOf } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT_GROUPS, wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { jobKind, runAll } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { deliveryIdOf } from '../core/derivedIds.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import { enqueue, following, paymentOf, processManager, reacting } from '../core/reactions.ts';
import { FAN_OUT_QUEUE } from '../ports/deliveryRetention.ts';
import type { JobHandler, PayloadOf } from '../ports/jobs.ts';
import type { LoggedEvent } from '../ports/loggedEvent.ts';
import type { Subscriptions } from '../ports/processManager.ts';
import type { ScheduledDeliveries, ScheduledDelivery } from '../ports/scheduledDeliveries.ts';
import type { PaymentMessage, PaymentMessages } from './paymentMessages.ts';
import { deliver } from './webhookDelivery.ts';

export const fanOut = jobKind({
  name: FAN_OUT_QUEUE,
  /** `endpointIds`: the account's endpoints as of the event; empty where it has none, and only a payment's own URL may want messages. */
  payload: payloadOf({
    paymentId: idOf<PaymentId>(),
    revision: Type.Integer({ minimum: 0 }),
    endpointIds: Type.Array(idOf<EndpointId>()),
  }),
  subjectOf: ({ paymentId, revision }) => `${paymentId} ${revision}`,
  // Their messages are scheduled in one transaction.
  payloadsPerJob: 50,
});
type EventToTell = PayloadOf<typeof fanOut>;

/** Only events that are published as messages, and resends that some endpoint wants, cost a job. */
const tell = (logged: Pick<LoggedEvent, 'account' | 'mode' | 'subject' | 'revision'>, subscriptions: Subscriptions) => {
  const { account, mode, revision } = logged;
  const endpointIds = subscriptions.endpoints(account, mode).map(({ endpointId }) => endpointId as EndpointId);
  // Whether this very payment has a URL of its own is in its stream, which the job reads.
  if (endpointIds.length === 0 && !subscriptions.hasWebhookUrls(account, mode)) return [];
  return [enqueue(fanOut, { paymentId: paymentOf(logged), revision, endpointIds })];
};

export const webhookFanOut = processManager({
  name: 'webhookFanOut',
  movesMoney: false,
  decidesOn: 'subscriptions',
  reactions: {
    payment: reacting(PAYMENT_GROUPS, {
      reads: {
        ...following(isPublished, tell),
        ChargeWebhookResendRequested: (logged, subscriptions) =>
          logged.event.data.isWanted ? tell(logged, subscriptions) : [],
      },
      ignores: ['creation', 'release', 'approval', 'order', 'payout', 'late'],
    }),
    // These events change the subscriptions, to which no job reacts.
    webhookEndpoint: reacting(WEBHOOK_ENDPOINT_GROUPS, { reads: {}, ignores: ['all'] }),
  },
});

interface Needs {
  readonly commands: CommandHandler;
  readonly messages: PaymentMessages;
  readonly scheduled: ScheduledDeliveries;
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
  all: PaymentMessages,
  subscriptionOf: (id: EndpointId) => Promise<Subscription>,
  event: EventToTell,
): Promise<readonly ScheduledDelivery[]> => {
  const { paymentId, endpointIds } = event;
  const { payment, revision, messages, resend, at } = await messagesToSchedule(all, event);
  const { accountId, mode, webhookUrl: url } = payment.charge.terms;
  if (messages.length === 0 || (url === null && endpointIds.length === 0)) return [];
  const subscriptions =
    url === null ? await Promise.all(endpointIds.map(subscriptionOf)) : [{ endpointId: null, events: ['*'] }];
  return messages.flatMap(({ type: eventType, eventId, at: ownTime }) =>
    subscriptions
      .filter(({ events }) => wants(events, eventType))
      .map(({ endpointId }) => ({
        deliveryId: deliveryIdOf(accountId, eventId, endpointId ?? 'webhookUrl', resend),
        tenant: { accountId, mode },
        target: targetOf({ endpointId, url, accountId, mode }),
        delivery: { paymentId, revision, eventType, endpointId, resend, scheduledAt: at ?? ownTime },
      })),
  );
};

/** The messages of the event at `revision`. `resend` is 0 when they are sent for the first time, and the resend's number otherwise. */
interface MessagesToSchedule {
  readonly payment: ExistingPayment;
  readonly revision: number;
  readonly messages: readonly PaymentMessage[];
  readonly resend: number;
  /** When they are due; null: each at its own time. */
  readonly at: Timestamp | null;
}

const messagesToSchedule = async (
  all: PaymentMessages,
  { paymentId, revision }: EventToTell,
): Promise<MessagesToSchedule> => {
  const { payment, event, messages } = await all.at(paymentId, revision);
  if (event.type !== 'ChargeWebhookResendRequested') return { payment, revision, messages, resend: 0, at: null };
  const { ofRevision, number: resend, at } = event.data;
  const resent = (await all.at(paymentId, ofRevision)).messages.filter(isResent);
  return { payment, revision: ofRevision, messages: resent, resend, at };
};

interface Subscription {
  readonly endpointId: EndpointId;
  readonly events: readonly string[];
}

/**
 * Returns what reads an endpoint's subscription: from its stream, for another process may have changed it a moment ago, and once for all
 * events of a job.
 */
const subscriptionsIn = (commands: CommandHandler): ((id: EndpointId) => Promise<Subscription>) => {
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
