// Stored format of webhook delivery events.
import { integer, nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { FailedAttempt, ScheduledDelivery, WebhookDeliveryEvent } from './webhookDelivery.ts';

export const webhookDeliverySerde: Serde<WebhookDeliveryEvent> = serdeOf<WebhookDeliveryEvent>({
  WebhookDeliveryScheduled: {
    version: 1,
    shape: record<ScheduledDelivery & { at: Timestamp }>({
      deliveryId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      endpointId: nullable(text()),
      url: nullable(text()),
      eventId: text(),
      eventType: text(),
      family: oneOf('canonical', 'legacy'),
      body: text(),
      maxAttempts: integer,
      at: time,
    }),
    personal: ['body'],
  },
  WebhookDeliveryAttemptFailed: {
    version: 1,
    shape: record<FailedAttempt & { nextAttemptAt: Timestamp | null }>({
      number: integer,
      target: text(),
      at: time,
      statusCode: nullable(integer),
      error: text(),
      responseBody: nullable(text()),
      durationMs: integer,
      nextAttemptAt: nullable(time),
    }),
    personal: ['responseBody'],
  },
  WebhookDeliverySucceeded: {
    version: 1,
    shape: record({ number: integer, at: time, statusCode: integer, durationMs: integer }),
    personal: [],
  },
  WebhookDeliveryDeadLettered: { version: 1, shape: record({ at: time }), personal: [] },
  WebhookDeliveryCancelled: { version: 1, shape: record({ reason: text(), at: time }), personal: [] },
});
