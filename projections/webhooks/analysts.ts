// What analysts see of webhook deliveries: one row each, those without an attempt included. Deliveries that ended long ago are deleted.
import { analystView, column, dayOf, instant, OWNER, withSource } from '../analytics/view.ts';
import { IS_UNTRIED } from './untried.ts';

const begun = analystView({
  name: 'deliveries',
  comment: 'One row per delivery of a webhook message to an endpoint. Deliveries that ended long ago are deleted.',
  from: 'rm_webhook_deliveries.deliveries t',
  where: 't.scheduled_at IS NOT NULL',
  day: 'scheduled_day',
  columns: [
    column('delivery_id', 'text', 'Id without prefix.', 't.id'),
    column(
      'endpoint_id',
      'text',
      'Id of the endpoint without prefix; null for the URL of a payment.',
      `nullif(t.endpoint_id, '')`,
    ),
    column(
      'payment_id',
      'text',
      'The payment that the message is about; null if it is about something else.',
      't.payment_id',
    ),
    ...OWNER,
    column('event_type', 'text', 'Event, such as charge.paid.', 't.event_type'),
    ...instant('scheduled', 'When the delivery was scheduled', 't.scheduled_at'),
    column('status', 'text', 'PENDING, DELIVERED, FAILED or CANCELLED.', 't.status'),
    column('attempts', 'integer', 'Number of attempts.', 't.attempts'),
    column(
      'last_status_code',
      'integer',
      'HTTP status of the last answer; null if there was none.',
      't.last_status_code',
    ),
    column('updated_at', 'timestamptz', 'When its last event happened (UTC instant).', 't.updated_at'),
    column(
      'seconds_to_deliver',
      'numeric',
      'Seconds from scheduling to the answer 2xx; null if it was not delivered.',
      `CASE t.status WHEN 'DELIVERED' THEN extract(epoch FROM t.updated_at - t.scheduled_at) END`,
    ),
  ],
});

const deliveries = withSource(begun, {
  from: 'operations.waiting_deliveries t',
  where: IS_UNTRIED.replaceAll('s.id', 't.id'),
  sql: {
    delivery_id: 't.id',
    endpoint_id: 't.endpoint_id',
    payment_id: 't.payment_id',
    account_id: 't.account_id',
    mode: 't.mode',
    event_type: 't.event_type',
    scheduled_at: 't.scheduled_at',
    scheduled_day: dayOf('t.scheduled_at'),
    status: `'PENDING'`,
    attempts: '0',
    updated_at: 't.scheduled_at',
  },
});

export const deliveriesForAnalysts = [deliveries];
