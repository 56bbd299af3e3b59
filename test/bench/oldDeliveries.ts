// Deliveries past their retention.

/** Returns statements that store `count` old deliveries of 100 accounts, 600 bytes of JSON each. The read model’s tables must exist. */
export const oldDeliveries = (count: number): readonly string[] => [
  `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
   SELECT n, 0, now() - interval '100 days', gen_random_uuid(), 'webhookDelivery-' || lpad(n::text, 26, '0'), 'WebhookDeliverySucceeded',
     '{"x":"' || repeat('x', 450) || '"}', '{"x":"' || repeat('x', 150) || '"}' FROM generate_series(1, ${count}) n`,
  `INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision, recorded_on, of_stream, of_revision, resend, form,
     event_type, endpoint_id, status, attempts, last_status_code, scheduled_at, updated_at)
   SELECT lpad(n::text, 26, '0'), lpad((n % 100)::text, 26, '0'), 'test', 0, now()::date - 100, lpad(n::text, 26, 'p'), 1, 0, 1,
     'charge.paid', lpad((n % 100)::text, 26, 'e'), 'DELIVERED', 1, 200, now() - interval '100 days', now() - interval '100 days'
   FROM generate_series(1, ${count}) n`,
  `INSERT INTO rm_webhook_deliveries.delivery_counts SELECT account_id, mode, endpoint_id, event_type, status, count(*)
   FROM rm_webhook_deliveries.deliveries GROUP BY 1, 2, 3, 4, 5`,
  'VACUUM ANALYZE event_store.events',
  'VACUUM ANALYZE rm_webhook_deliveries.deliveries',
];
