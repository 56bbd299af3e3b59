// An event of a payment becomes one delivery per message and endpoint that wants it, with the payload frozen (W2, W9).
import { streamName } from '../../domain/kernel/event.ts';
import type { EndpointId, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { type ScheduledDelivery, scheduleDelivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { wants } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { messagesOf } from '../../domain/wire/messages.ts';
import { PAYMENT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../aggregates.ts';
import { byProcess } from '../because.ts';
import type { CommandHandler } from '../commandHandler.ts';
import { deliveryIdOf, eventIdOf } from '../ids.ts';
import { isOf } from '../ports/loggedEvent.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';

/** Events that nobody is ever told of cost no job. */
const SILENT = new Set(['ChargeCreated', 'TransactionFundsReleased']);

export const webhookFanOut: ProcessManager = {
  name: 'webhookFanOut',
  categories: ['payment', 'webhookEndpoint'],
  react: (logged, { endpoints }) => {
    if (!isOf(logged, 'payment') || SILENT.has(logged.event.type)) return [];
    const ids = endpoints(logged.account, logged.mode).map((endpoint) => endpoint.endpointId);
    return ids.length === 0
      ? []
      : [job('fanOut', `${logged.subject}:${logged.revision}:${ids.join(',')}`, logged.account)];
  },
};

/** Handler of one item of the queue `fanOut`: `<payment id>:<revision>:<endpoint id>,…`. Again: the same deliveries, nothing new. */
export const fanOut =
  ({ commands }: { commands: CommandHandler }) =>
  async (item: string): Promise<void> => {
    const [paymentId = '', revision = '', endpointIds = ''] = item.split(':');
    const stream = streamName.payment(paymentId as PaymentId);
    const around = await commands.loadAround(PAYMENT, stream, Number(revision));
    if (around === null || around.after.charge.status === 'absent') throw new Error(`no event ${item}`);
    const { accountId, mode } = around.after.charge.terms;
    const subscriptions = await Promise.all(
      endpointIds.split(',').map((id) => subscriptionOf(commands, id as EndpointId)),
    );
    const deliveries = messagesOf(around.before, around.event, around.after).flatMap((message) => {
      const wanting = subscriptions.filter(({ events }) => wants(events, message.type));
      if (wanting.length === 0) return [];
      const eventId = eventIdOf(stream, Number(revision), message.type);
      const body = message.render(eventId);
      return wanting.map(({ endpointId }): Omit<ScheduledDelivery, 'maxAttempts'> & { at: typeof message.at } => ({
        deliveryId: deliveryIdOf(eventId, endpointId, 0),
        accountId,
        mode,
        endpointId,
        eventId,
        eventType: message.type,
        family: message.family,
        body,
        at: message.at,
      }));
    });
    await Promise.all(
      deliveries.map(async ({ at, ...delivery }) => {
        const why = byProcess('webhookFanOut', delivery, paymentId, delivery.eventId);
        const target = streamName.webhookDelivery(delivery.deliveryId);
        const done = await commands.execute(WEBHOOK_DELIVERY, target, scheduleDelivery(delivery, at), why, {
          creates: true,
        });
        if (isRejection(done)) throw new Error(`scheduling ${delivery.deliveryId} refused: ${done.message}`);
      }),
    );
  };

const subscriptionOf = async (commands: CommandHandler, endpointId: EndpointId) => {
  const { state } = await commands.loadRecent(WEBHOOK_ENDPOINT, streamName.webhookEndpoint(endpointId));
  return { endpointId, events: state.status === 'absent' ? [] : state.events };
};
