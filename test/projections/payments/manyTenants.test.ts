// With 5,000 tenants, one of which has half of all payments, a list of one tenant reads no row of another.
import { expect } from 'chai';
import type { PaymentFilter } from '../../../application/ports/readModels/payments.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import type { AccountId, Tenant } from '../../../domain/kernel/ids.ts';
import { transactionStatusesOf } from '../../../domain/presentation/status.ts';
import { listAfter, listPage } from '../../../projections/payments/lists.ts';
import { restOf } from '../../../projections/payments/rest.ts';
import { created, paymentAfter } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { plansOf } from '../engine/plans.ts';
import { PaymentTables } from './paymentTables.ts';

const LARGE = 10_000;
const TENANTS = 5_000;
const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');

/** `tenants` is the SQL of a tenant’s account, by n. Nine of ten payments are paid. */
const fill = (tenants: string, prefix: string): string =>
  `INSERT INTO rm_payments.payments (id, account_id, mode, revision, created_at, amount, status, currency, methods, customer_document, customer_key, txid)
   SELECT '${prefix}' || n, ${tenants}, 'test', 0, timestamptz '${NOW}' - n * interval '1 second', n * 7919 % 10007,
     CASE WHEN n % 10 = 0 THEN 'EXPIRED' ELSE 'PAID' END, 'BRL', 'PIX', (n % 100)::text, (n % 100)::text, md5(n::text)
   FROM generate_series(1, ${LARGE}) n`;

describe('queries among 5,000 tenants', () => {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
    await tables.fresh();
    await tables.db.query(fill("'large'", 'l'));
    await tables.db.query(fill(`'tenant-' || n % ${TENANTS}`, 's'));
    await tables.db.query(
      `INSERT INTO rm_payments.payments_apart SELECT id, 0, '${restOf(paymentAfter(created()))}' FROM rm_payments.payments`,
    );
    await tables.db.query('ANALYZE');
  });
  after(() => tables.close());

  const ALL: PaymentFilter = { statuses: null, from: null, to: null, documentKey: null };
  const newest = { by: 'createdAt', direction: 'desc' } as const;
  const last = { page: LARGE / 100, limit: 100 };
  const lists: Readonly<Record<string, (db: SqlPool, tenant: Tenant) => Promise<unknown>>> = {
    'the first page': (db, tenant) => listAfter(db, tenant, ALL, null, 101),
    'a page of payments with a public status': (db, tenant) =>
      listAfter(db, tenant, { ...ALL, statuses: transactionStatusesOf('paid') }, null, 101),
    'a page of a customer’s payments': (db, tenant) => listAfter(db, tenant, { ...ALL, documentKey: '77' }, null, 101),
    'the last page': (db, tenant) => listPage(db, tenant, ALL, newest, last),
    'the last page, oldest first': (db, tenant) => listPage(db, tenant, ALL, { ...newest, direction: 'asc' }, last),
    'the last page of payments with a status': (db, tenant) =>
      listPage(db, tenant, { ...ALL, statuses: ['PAID'] }, newest, { ...last, page: 90 }),
    'a page sorted by amount': (db, tenant) =>
      listPage(db, tenant, ALL, { by: 'amount', direction: 'asc' }, { page: 1, limit: 100 }),
    'the last page sorted by amount': (db, tenant) =>
      listPage(db, tenant, ALL, { by: 'amount', direction: 'asc' }, last),
    'a page of payments with a status, sorted by customer': (db, tenant) =>
      listPage(
        db,
        tenant,
        { ...ALL, statuses: ['EXPIRED'] },
        { by: 'customerDocument', direction: 'desc' },
        { page: 1, limit: 100 },
      ),
  };
  for (const [name, list] of Object.entries(lists))
    it(`read only rows of the tenant, by index, for ${name}`, async () => {
      for (const accountId of ['large', 'tenant-77']) {
        const tenant: Tenant = { accountId: accountId as AccountId, mode: 'test' };
        const nodes = (await plansOf(tables.db, (db) => list(db, tenant))).filter(
          (node) => node['Relation Name'] === 'payments',
        );
        expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).to.deep.equal([]);
        // If no index selects the tenant, the condition appears as a filter.
        const removed = nodes.filter(
          (node) => /"Filter":"[^"]*account_id/.test(JSON.stringify(node)) && (node['Rows Removed by Filter'] ?? 0) > 0,
        );
        expect(removed).to.deep.equal([]);
      }
    });
});
