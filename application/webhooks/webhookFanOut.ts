// An event of a payment becomes one delivery per message and endpoint that wants it, with the payload frozen (W2, W9); with a webhookUrl,
// one per message to that (W7). Asked for again, the messages of the event that led to the present status become new ones (W8).
import { streamName } from '../../domain/kernel/event.ts';
import type { EndpointId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import {
  assertExists,
  type ExistingPayment,
  type PaymentEvent,
  type PaymentState,
} from '../../domain/payment/payment.ts';
import type { Message } from '../../domain/presentation/envelope.ts';
import { isPublished, messagesOf, resentMessagesOf } from '../../domain/presentation/messages.ts';
import { type ScheduledDelivery, scheduleDelivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { PAYMENT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { deliveryIdOf, eventIdOf } from '../core/derivedIds.ts';
import { byProcess } from '../core/eventMetadata.ts';
import { isOf } from '../ports/loggedEvent.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';

/** What nobody is told of costs no job, unless it has something else told again. */
const needsJob = (event: PaymentEvent): boolean =>
  event.type === 'ChargeWebhookResendRequested' ? event.data.isWanted : isPublished(event);

export const webhookFanOut: ProcessManager = {
  name: 'webhookFanOut',
  categories: ['payment', 'webhookEndpoint'],
  react: (logged, { endpoints, hasWebhookUrls }) => {
    if (!isOf(logged, 'payment') || !needsJob(logged.event)) return [];
    const { account, mode, subject, revision } = logged;
    const ids = endpoints(account, mode).map((endpoint) => endpoint.endpointId);
    // Whether this payment is one of those with a URL of its own, its stream tells the job.
    if (ids.length === 0 && !hasWebhookUrls(account, mode)) return [];
    return [job('fanOut', `${subject}:${revision}:${ids.join(',')}`)];
  },
};

/** What is to be told: messages of the event at `revision`, due at `at`, for the `resend`th time after the first. */
interface Telling {
  readonly payment: ExistingPayment;
  readonly revision: number;
  readonly messages: readonly Message[];
  readonly resend: number;
  /** null: at each message's own time. */
  readonly at: Timestamp | null;
}

/**
 * Handler of one item of the queue `fanOut`: `<payment id>:<revision>:<endpoint id>,…`, with no endpoint id where the account has
 * none. Again: the same deliveries, nothing new.
 */
export const fanOut =
  ({ commands }: { commands: CommandHandler }) =>
  async (item: string): Promise<void> => {
    const [paymentId = '', revision = '', endpointIds = ''] = item.split(':');
    const telling = await tellingOf(commands, paymentId as PaymentId, Number(revision));
    const { accountId, mode, webhookUrl: url } = telling.payment.charge.terms;
    if (telling.messages.length === 0 || (url === null && endpointIds === '')) return;
    const subscriptions =
      url === null
        ? await Promise.all(endpointIds.split(',').map((id) => subscriptionOf(commands, id as EndpointId)))
        : [{ endpointId: null, events: ['*'] }];
    const deliveries = telling.messages.flatMap((message) => {
      const wanting = subscriptions.filter(({ events }) => wants(events, message.type));
      if (wanting.length === 0) return [];
      const eventId = eventIdOf(streamName.payment(paymentId as PaymentId), telling.revision, message.type);
      const content = { eventId, eventType: message.type, family: message.family, body: message.render(eventId) };
      return wanting.map(({ endpointId }) => {
        const deliveryId = deliveryIdOf(eventId, endpointId ?? 'webhookUrl', telling.resend);
        const delivery = { deliveryId, accountId, mode, endpointId, url, ...content };
        return { delivery, at: telling.at ?? message.at };
      });
    });
    await Promise.all(deliveries.map(({ delivery, at }) => schedule(commands, paymentId, delivery, at)));
  };

const tellingOf = async (commands: CommandHandler, paymentId: PaymentId, revision: number): Promise<Telling> => {
  const { before, event, after } = await around(commands, paymentId, revision);
  if (event.type !== 'ChargeWebhookResendRequested')
    return { payment: after, revision, messages: messagesOf(before, event, after), resend: 0, at: null };
  const { ofRevision, number: resend, at } = event.data;
  const told = await around(commands, paymentId, ofRevision);
  const messages = resentMessagesOf(told.before, told.event, told.after);
  return { payment: after, revision: ofRevision, messages, resend, at };
};

const around = async (
  commands: CommandHandler,
  paymentId: PaymentId,
  revision: number,
): Promise<{ before: PaymentState; event: PaymentEvent; after: ExistingPayment }> => {
  const found = await commands.loadAround(PAYMENT, streamName.payment(paymentId), revision);
  if (found === null) throw new Error(`no event ${revision} of payment ${paymentId}`);
  return { ...found, after: assertExists(found.after) };
};

const schedule = async (
  commands: CommandHandler,
  paymentId: string,
  delivery: Omit<ScheduledDelivery, 'maxAttempts'>,
  at: Timestamp,
): Promise<void> => {
  const why = byProcess('webhookFanOut', delivery, paymentId, delivery.eventId);
  const target = streamName.webhookDelivery(delivery.deliveryId);
  const options = { creates: true };
  await commands.record(WEBHOOK_DELIVERY, target, scheduleDelivery(delivery, at), why, options);
};

const subscriptionOf = async (commands: CommandHandler, endpointId: EndpointId) => {
  const { state } = await commands.loadRecent(WEBHOOK_ENDPOINT, streamName.webhookEndpoint(endpointId));
  return { endpointId, events: state.status === 'absent' ? [] : state.events };
};
