// Stored format of webhook delivery events.
import { oneGroup } from '../kernel/eventGroups.ts';
import { flag, integer, nullable, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { UnsaidFields } from '../kernel/unsaid.ts';
import type { Delivery, WebhookDeliveryEvent } from './webhookDelivery.ts';

const delivery = nullable(
  record<Delivery>({
    paymentId: text(),
    revision: integer,
    eventType: text(),
    endpointId: nullable(text()),
    resend: integer,
    scheduledAt: time,
    form: integer,
  }),
);

const ofDelivery: UnsaidFields = {
  'delivery.paymentId': { is: 'correlationId' },
  'delivery.resend': { usually: 0 },
  'delivery.form': { usually: 1 },
};
const ofAttempt: UnsaidFields = { number: { usually: 1 }, ...ofDelivery };

export const webhookDeliverySerde: Serde<WebhookDeliveryEvent> = serdeOf<WebhookDeliveryEvent>({
  WebhookDeliveryAttemptFailed: {
    version: 1,
    shape: record({
      number: integer,
      target: text(),
      at: time,
      statusCode: nullable(integer),
      error: text(),
      responseBody: nullable(text()),
      durationMs: integer,
      nextAttemptAt: nullable(time),
      delivery,
    }),
    personal: ['responseBody'],
    unsaid: ofAttempt,
  },
  WebhookDeliverySucceeded: {
    version: 1,
    shape: record({ number: integer, at: time, statusCode: integer, durationMs: integer, delivery }),
    personal: [],
    unsaid: { statusCode: { usually: 200 }, ...ofAttempt },
  },
  WebhookDeliveryDeadLettered: { version: 1, shape: record({ at: time }), personal: [] },
  WebhookDeliveryCancelled: {
    version: 1,
    shape: record({ reason: text(), at: time, delivery }),
    personal: [],
    unsaid: ofDelivery,
  },
  WebhookDeliveryRetryRequested: {
    version: 1,
    shape: record({ target: text(), isProbe: flag, at: time, delivery }),
    personal: [],
    unsaid: ofDelivery,
  },
});

export const WEBHOOK_DELIVERY_GROUPS = oneGroup(webhookDeliverySerde);
