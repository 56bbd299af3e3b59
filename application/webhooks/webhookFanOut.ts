// An event of a payment becomes one delivery per message and endpoint that wants it, with the payload frozen (W2, W9); with a webhookUrl,
// one per message to that (W7). Asked for again, the messages of the event that led to the present status become new ones (W8).
import Type from 'typebox';
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
import { jobKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { deliveryIdOf, eventIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import { enqueue, ignoring, paymentOf, processManager } from '../core/reactions.ts';
import type { PayloadOf } from '../ports/jobs.ts';

/** What nobody is told of costs no job, unless it has something else told again. */
const needsJob = (event: PaymentEvent): boolean =>
  event.type === 'ChargeWebhookResendRequested' ? event.data.isWanted : isPublished(event);

export const fanOut = jobKind({
  name: 'fanOut',
  /** `endpointIds`: those of the account as of the event; none where only payments' own URLs are told. */
  payload: payloadOf({
    paymentId: idOf<PaymentId>(),
    revision: Type.Integer({ minimum: 0 }),
    endpointIds: Type.Array(idOf<EndpointId>()),
  }),
  subjectOf: ({ paymentId, revision }) => `${paymentId} ${revision}`,
});

export const webhookFanOut = processManager({
  name: 'webhookFanOut',
  movesMoney: false,
  decidesOn: 'subscriptions',
  reactions: {
    payment: (logged, { endpoints, hasWebhookUrls }) => {
      if (!needsJob(logged.event)) return [];
      const { account, mode, revision } = logged;
      const endpointIds = endpoints(account, mode).map(({ endpointId }) => endpointId as EndpointId);
      // Whether this payment is one of those with a URL of its own, its stream tells the job.
      if (endpointIds.length === 0 && !hasWebhookUrls(account, mode)) return [];
      return [enqueue(fanOut, { paymentId: paymentOf(logged), revision, endpointIds })];
    },
    // Followed for the subscriptions alone.
    webhookEndpoint: ignoring('WebhookEndpointRegistered', 'WebhookEndpointDeleted'),
  },
});

/** What is to be told: messages of the event at `revision`, due at `at`, for the `resend`th time after the first. */
interface Telling {
  readonly payment: ExistingPayment;
  readonly revision: number;
  readonly messages: readonly Message[];
  readonly resend: number;
  /** null: at each message's own time. */
  readonly at: Timestamp | null;
}

/** Schedules the messages of an event. Again: the same deliveries, nothing new. */
export const scheduleMessages =
  ({ commands }: { commands: CommandHandler }) =>
  async ({ paymentId, revision, endpointIds }: PayloadOf<typeof fanOut>): Promise<void> => {
    const telling = await tellingOf(commands, paymentId, revision);
    const { accountId, mode, webhookUrl: url } = telling.payment.charge.terms;
    if (telling.messages.length === 0 || (url === null && endpointIds.length === 0)) return;
    const subscriptions =
      url === null
        ? await Promise.all(endpointIds.map((id) => subscriptionOf(commands, id)))
        : [{ endpointId: null, events: ['*'] }];
    const deliveries = telling.messages.flatMap((message) => {
      const wanting = subscriptions.filter(({ events }) => wants(events, message.type));
      if (wanting.length === 0) return [];
      const eventId = eventIdOf(streamName.payment(paymentId), telling.revision, message.type);
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
  const metadata = metadataForProcess('webhookFanOut', delivery, paymentId, delivery.eventId);
  const target = streamName.webhookDelivery(delivery.deliveryId);
  const options = { creates: true };
  await commands.record(WEBHOOK_DELIVERY, target, scheduleDelivery(delivery, at), metadata, options);
};

const subscriptionOf = async (commands: CommandHandler, endpointId: EndpointId) => {
  const { state } = await commands.loadRecent(WEBHOOK_ENDPOINT, streamName.webhookEndpoint(endpointId));
  return { endpointId, events: state.status === 'absent' ? [] : state.events };
};
