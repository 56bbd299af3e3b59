// The columns of a delivery’s row hold its whole state, whatever a receiver responded.
import { expect } from 'chai';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import { fold } from '../../../domain/kernel/decider.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { addSeconds } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { type WebhookDeliveryEvent, webhookDelivery } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { webhookDeliveriesProjection } from '../../../projections/webhooks/projection.ts';
import { ACCOUNT_ID, CREATED_AT } from '../../support/samples.ts';
import { useDatabase } from '../../world/postgres.ts';

const HOSTILE = [
  '',
  'plain',
  '\u0000',
  '"\\\'',
  '\b\f\n\r\t\u0001\u001f\u007f',
  '\u2028\u2029',
  '😀ç',
  '\ud800',
  '[1, 2]',
  'null',
  "'; --",
];
const T = (seconds: number) => addSeconds(CREATED_AT, seconds);
const delivery = {
  stream: PAYMENT.stream('0123456789abcdefghjkmnpqrs' as PaymentId),
  revision: 2,
  paymentId: '0123456789abcdefghjkmnpqrs' as PaymentId,
  eventType: 'charge.paid',
  endpointId: null,
  resend: 4,
  scheduledAt: CREATED_AT,
  form: 1,
};
const failed = (number: number, text: string | null): WebhookDeliveryEvent => ({
  type: 'WebhookDeliveryAttemptFailed',
  data: {
    number,
    target: `${ACCOUNT_ID}/test/shop.example`,
    at: T(number),
    statusCode: number === 1 ? null : 500,
    error: text ?? 'timeout',
    responseBody: text,
    durationMs: 3,
    nextAttemptAt: number === 15 ? null : T(number + 1),
    delivery: number === 1 ? delivery : null,
  },
});
const taken = (number: number): WebhookDeliveryEvent => ({
  type: 'WebhookDeliverySucceeded',
  data: { number, at: T(number), statusCode: 204, durationMs: 3, delivery: number === 1 ? delivery : null },
});
const HISTORIES: readonly (readonly WebhookDeliveryEvent[])[] = [
  [taken(1)],
  [failed(1, null), taken(2)],
  [{ type: 'WebhookDeliveryCancelled', data: { reason: 'x', at: T(1), delivery } }],
  [failed(1, 'x'), { type: 'WebhookDeliveryCancelled', data: { reason: 'x', at: T(2), delivery: null } }],
  [failed(1, 'x'), failed(15, 'y'), { type: 'WebhookDeliveryDeadLettered', data: { at: T(15) } }],
  ...HOSTILE.map((text) => [failed(1, text)]),
  ...HOSTILE.map((text) => [failed(1, 'x'), failed(2, text), failed(3, null)]),
];

describe('the row of a delivery', () => {
  let pool: PgPool;
  useDatabase('suite', 2, (opened) => {
    pool = opened;
  });
  before(async () => {
    await pool.transaction((tx) => createSchema(tx, webhookDeliveriesProjection, 'rm'));
  });
  const logged = (subject: string, event: WebhookDeliveryEvent, revision: number) =>
    ({
      subject,
      event,
      revision,
      category: 'webhookDelivery',
      account: ACCOUNT_ID,
      mode: 'test',
      recordedAt: CREATED_AT as string,
    }) as LoggedEvent;
  const [rows] = webhookDeliveriesProjection.aggregates ?? [];

  it('restores the fold of its events after each event', async () => {
    const writer = webhookDeliveriesProjection.writer('rm');
    for (const [n, events] of HISTORIES.entries())
      for (const [revision, event] of events.entries()) {
        writer.reset();
        await pool.transaction((tx) => writer.apply([logged(`d${n}`, event, revision)], tx));
        const found = await pool.query<{ state: string }>(
          `SELECT ${rows?.stored} AS state FROM rm.deliveries WHERE id = $1`,
          [`d${n}`],
        );
        const folded = fold(webhookDelivery, events.slice(0, revision + 1));
        expect(found.rows[0]?.state, `history ${n}`).to.equal(rows?.textOf(folded));
      }
  });
  it('is counted only in its present status', async () => {
    const { rows: counts } = await pool.query<{ status: string; deliveries: number }>(
      'SELECT status, deliveries FROM rm.delivery_counts ORDER BY status',
    );
    const ends = { CANCELLED: 2, DELIVERED: 2, FAILED: 1, PENDING: 2 * HOSTILE.length };
    expect(Object.fromEntries(counts.map(({ status, deliveries }) => [status, deliveries]))).to.deep.equal(ends);
  });
});
