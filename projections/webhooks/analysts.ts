// Analysts' view of webhook deliveries: one row each, those without an attempt included. Deliveries that ended long ago are deleted.
import { type AnalystView, column, instant, OWNER } from '../analytics/view.ts';
import { IS_UNTRIED } from './untried.ts';

const NAMES = 'id, account_id, mode, payment_id, event_type, scheduled_at, endpoint_id';
const BEGUN = `(SELECT ${NAMES}, status, attempts, last_status_code, updated_at FROM rm_webhook_deliveries.deliveries
  WHERE scheduled_at IS NOT NULL)`;
const UNTRIED = `(SELECT ${NAMES}, 'PENDING' AS status, 0 AS attempts, NULL::integer AS last_status_code, scheduled_at AS updated_at
  FROM operations.waiting_deliveries s WHERE ${IS_UNTRIED})`;

const deliveries: AnalystView = {
  name: 'deliveries',
  comment: 'One row per delivery of a webhook message to an endpoint. Deliveries that ended long ago are deleted.',
  rows: [BEGUN, UNTRIED],
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
};

export const deliveriesForAnalysts = [deliveries];
