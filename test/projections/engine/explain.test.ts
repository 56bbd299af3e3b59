// Hot queries use an index at 30,000 rows already, and therefore at 100,000 (architecture §6). The statements are captured from the
// product’s own code. test/infrastructure/eventStore/postgres/store.test.ts checks the same for subscriptions to rare categories.

import { expect } from 'chai';
import type { DeliveryFilter } from '../../../application/ports/readModels/views.ts';
import { ANY_DEAD_LETTER } from '../../../application/ports/redrives.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import type {
  AccountId,
  DeliveryId,
  EndpointId,
  PaymentId,
  RedriveId,
  RefundId,
  Tenant,
  UserId,
} from '../../../domain/kernel/ids.ts';
import { fireNextPage, fireTimersNow } from '../../../infrastructure/timers/groupFiring.ts';
import { nextDueByClock, nextDueMs, takeDueTimers, testTimers } from '../../../infrastructure/timers/timerTable.ts';
import { prepareLiveCopies } from '../../../projections/engine/rebuild.ts';
import { listHeld } from '../../../projections/payments/held.ts';
import { endedPayments, overduePayments } from '../../../projections/payments/queries.ts';
import { refundViews } from '../../../projections/refunds/readModel.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { userViews } from '../../../projections/users/readModel.ts';
import { findBalances } from '../../../projections/wallet/queries.ts';
import { deadLetterReads } from '../../../projections/webhooks/deadLetters.ts';
import { deliveryViews } from '../../../projections/webhooks/lists.ts';
import { deliveryReads } from '../../../projections/webhooks/queries.ts';
import { RecordingJobs, timerKinds } from '../../support/operations.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { nodesOf, type Plan } from './plans.ts';
import { Scene } from './scene.ts';

const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');
const TENANT: Tenant = { accountId: 'account-7' as AccountId, mode: 'test' };
const ROWS = 30_000;

/** 100 accounts with 300 rows each. One delivery and one payment in a hundred is still pending. */
const FILL = `
  INSERT INTO rm_payments.payments (id, account_id, mode, revision, awaits_at, held_since)
    SELECT 'p' || n, 'account-' || n % 100, 'test', 0,
      CASE WHEN n % 100 = 0 THEN timestamptz '${NOW}' + (n - 500) * interval '1 second' END,
      CASE WHEN n % 1000 = 1 THEN timestamptz '${NOW}' + n * interval '1 second' END FROM generate_series(1, ${ROWS}) n;
  INSERT INTO rm_payments.payments_apart SELECT 'p' || n, 0, '[null, {}]' FROM generate_series(1, ${ROWS}) n;
  INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision, of_stream, of_revision, resend, form, event_type,
      endpoint_id, status, attempts, target, scheduled_at, updated_at, next_attempt_at)
    SELECT 'd' || n, 'account-' || n % 100, 'test', 0, 'p' || n, 2, 0, 1, 'charge.paid', 'endpoint-' || n % 100, CASE WHEN n / 100 % 10 = 0 THEN 'FAILED' ELSE 'DELIVERED' END, 1,
      'endpoint-' || n % 100, timestamptz '${NOW}' - n * interval '1 second', timestamptz '${NOW}',
      CASE WHEN n % 103 = 0 THEN timestamptz '${NOW}' + (n - 500) * interval '1 second' END FROM generate_series(1, ${ROWS}) n;
  INSERT INTO rm_webhook_deliveries.delivery_counts
    SELECT account_id, mode, endpoint_id, event_type, status, count(*) FROM rm_webhook_deliveries.deliveries GROUP BY 1, 2, 3, 4, 5;
  INSERT INTO operations.scheduled_deliveries
    (id, account_id, mode, target, of_stream, of_revision, event_type, endpoint_id, resend, scheduled_at)
    SELECT 's' || n, 'account-' || n % 100, 'test', 'endpoint-' || n % 100, 'p' || n, 2, 'charge.paid', 'endpoint-' || n % 100, 0,
      timestamptz '${NOW}' + (n - 500) * interval '1 second' FROM generate_series(1, ${ROWS}) n;
  INSERT INTO rm_refunds.refunds (id, account_id, mode, revision, state, payment_id, status)
    SELECT 'r' || n, 'account-' || n % 100, 'test', 0, '{}', 'p' || n, 'completed' FROM generate_series(1, ${ROWS}) n;
  INSERT INTO operations.timers (kind, key, payload, account_id, mode, group_id, due_at)
    SELECT 'deliver', 'd' || n, '{}', 'account-' || n % 100, 'test', 'endpoint-' || n % 1000, timestamptz '${NOW}' + (n - 500) * interval '1 second'
    FROM generate_series(1, ${ROWS}) n;
  INSERT INTO operations.test_clocks SELECT 'account-' || n, 60, n % 2 = 0 FROM generate_series(0, 9) n;
  INSERT INTO rm_wallet.balances SELECT 'account-' || n / 4, 'test', 'BRL', 'ledger_' || n % 4, 1 FROM generate_series(1, ${ROWS}) n;
  INSERT INTO rm_wallet.held_tranches SELECT 'p' || n, 'account-' || n % 100, 'test', 'BRL', 1, timestamptz '${NOW}' + n * interval '1 second'
    FROM generate_series(1, ${ROWS}) n;
  INSERT INTO rm_users.users SELECT 'u' || n, CASE WHEN n % 10 > 0 THEN 'account-' || n % 100 END, 'u' || n || '@example.com', 'Ana',
      'MEMBER', 'active', timestamptz '${NOW}' + n * interval '1 second', true FROM generate_series(1, ${ROWS}) n;
  ANALYZE`;

const drainOf = (db: Sql) =>
  testTimers(
    { ...db, transaction: (work) => work({ ...db, onEnd: () => undefined }) },
    new RecordingJobs(),
    timerKinds,
  );

describe('queries at 30,000 rows', function suite() {
  let scene: Scene;
  before(async () => {
    scene = await Scene.open();
    const session = await scene.openSession('test');
    await prepareLiveCopies(PROJECTIONS, scene)(session);
    await session.close();
    for (const statement of FILL.split(';')) await scene.log.sql.query(statement);
  });
  after(() => scene.close());

  /** Returns all nodes of the plans of the statements that `work` sends. */
  const plansOf = async (work: (db: Sql) => Promise<unknown>): Promise<readonly Plan[]> => {
    const nodes: Plan[] = [];
    const db: Sql = {
      query: async (statement, values) => {
        const { text, values: own } = typeof statement === 'string' ? { text: statement, values } : statement;
        const { rows } = await scene.log.sql.query(`EXPLAIN (FORMAT JSON) ${text}`, [...(own ?? [])]);
        nodes.push(...nodesOf(rows[0]['QUERY PLAN'][0].Plan as Plan));
        return { rows: [], rowCount: 0 };
      },
    };
    await work(db);
    return nodes;
  };

  const endpointId = 'endpoint-7' as EndpointId;
  const account = TENANT.accountId;
  const BIG = new Set([
    'payments',
    'payments_apart',
    'deliveries',
    'scheduled_deliveries',
    'timers',
    'balances',
    'held_tranches',
    'refunds',
    'users',
  ]);
  const pageOf = (filter: Pick<DeliveryFilter, 'status' | 'eventType' | 'endpointId'>) => (db: Sql) =>
    deliveryViews(db).list(TENANT, { ...filter, limit: 100, offset: 200 }, ['d7']);
  for (const [name, work] of Object.entries<(db: Sql) => Promise<unknown>>({
    'the first page of deliveries': (db) => deliveryViews(db).list(TENANT, { limit: 20, offset: 0 }, ['d7', 'd107']),
    'a page of deliveries in one status': pageOf({ status: 'DELIVERED' }),
    'a page of deliveries of one event type': pageOf({ eventType: 'charge.paid' }),
    'a page of deliveries of one endpoint': pageOf({ endpointId }),
    'a page of deliveries of one endpoint and event type': pageOf({ endpointId, eventType: 'charge.paid' }),
    'a page of deliveries of one endpoint, status and event type': pageOf({
      endpointId,
      status: 'FAILED',
      eventType: 'charge.paid',
    }),
    'the deliveries of an account in progress': (db) =>
      deliveryViews(db).list(TENANT, { status: 'PROCESSING', limit: 100, offset: 0 }, ['d7', 'd107']),
    'the count of dead-lettered deliveries': (db) => deadLetterReads(db).count(TENANT, ANY_DEAD_LETTER, NOW),
    'a page of dead-lettered deliveries': (db) =>
      deadLetterReads(db).page(
        {
          id: 'redrive' as RedriveId,
          tenant: TENANT,
          filter: ANY_DEAD_LETTER,
          askedAt: NOW,
          actor: 'x',
          requestId: null,
          queued: 1,
          requested: 0,
          after: null,
        },
        100,
      ),
    'the oldest dead-lettered deliveries': (db) => deadLetterReads(db).oldest(TENANT, NOW, 100),
    'one delivery': (db) => deliveryViews(db).find(TENANT, 'd7' as DeliveryId, ['d7']),
    'the statistics of an account’s deliveries': (db) => deliveryViews(db).stats(TENANT, ['d7', 'd107']),
    'the count of an account’s due deliveries': (db) => deliveryReads(db).countDue(TENANT, NOW, ['d7']),
    'the due deliveries of an account': (db) => deliveryReads(db).underWay(TENANT, NOW, ['d7'], 1_000),
    'deliveries overdue in all accounts': (db) => deliveryReads(db).overdue(NOW, 1_000)[Symbol.asyncIterator]().next(),
    'payments overdue in all accounts': (db) => overduePayments(db, NOW, 1_000).next(),
    'the list of payments held for review': (db) => listHeld(db, 1_000),
    'the check which of several charges have ended': (db) => endedPayments(db, ['p7', 'p107'] as PaymentId[]),
    'the refunds of a payment': (db) => refundViews(db).list(TENANT, 'p7' as PaymentId),
    'one refund': (db) => refundViews(db).find(TENANT, 'r7' as RefundId),
    'the claim of due timers': (db) => takeDueTimers(db, Date.parse(NOW), 500, timerKinds),
    'the time of the next timer': (db) => nextDueMs(db, Date.parse(NOW), timerKinds),
    'the time of the next timer of a test clock': (db) => nextDueByClock(db, timerKinds),
    'the earliest timers of an account': (db) => drainOf(db).earliest(account, NOW),
    'the removal of timers after a clock advance': (db) =>
      drainOf(db).done([{ account, mode: 'test', kind: 'deliver', key: 'd7', payload: {}, group: null, dueAt: NOW }]),
    'the immediate firing of an endpoint’s timers': (db) => fireTimersNow(db, { kind: 'deliver', group: endpointId }),
    'the firing of their next page': fireNextPage,
    'the first page of users': (db) => userViews(db).list(null, { after: null, limit: 100 }),
    'a page of users after a cursor': (db) => userViews(db).list(null, { after: 'u50000' as UserId, limit: 100 }),
    'a page of operators after a cursor': (db) => userViews(db).operators({ after: 'u50000' as UserId, limit: 100 }),
    'a page of an account’s users': (db) => userViews(db).list(account, { after: null, limit: 100 }),
    'a page of an account’s users after a cursor': (db) =>
      userViews(db).list(account, { after: 'u50007' as UserId, limit: 100 }),
    'the balances of an account': (db) => findBalances(db, TENANT),
  }))
    it(`${name} uses an index`, async () => {
      const nodes = (await plansOf(work)).filter((node) => BIG.has(node['Relation Name'] ?? ''));
      expect(nodes.filter((node) => node['Node Type'].includes('Seq Scan'))).to.deep.equal([]);
      expect(nodes.filter((node) => /Index|Bitmap Heap/.test(node['Node Type']))).to.not.deep.equal([]);
    });
});
