// A search, range or sort of payments reads little more than it returns, for an account with 50,000 payments. No plan scans a table.

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  type CursorOrder,
  EVERY_PAYMENT,
  NEWEST_FIRST,
  type PaymentFilter,
  type SearchTerm,
} from '../../../application/ports/readModels/payments.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { listAfter } from '../../../projections/payments/lists.ts';
import { restOf } from '../../../projections/payments/rest.ts';
import { searchKeyText } from '../../../projections/payments/searchKeys.ts';
import { versionsOf } from '../../../projections/payments/versions.ts';
import { ACCOUNT_ID, created, paymentAfter } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { plansOf, rowsRead } from '../engine/plans.ts';
import { PaymentTables } from './paymentTables.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');
const ROWS = 50_000;
const DOCUMENT = '52998224725';
const LIMIT = 26;
const keyOf = (kind: 'reference' | 'email' | 'customerId' | 'document', value: string): string =>
  `hashtextextended('${searchKeyText(TENANT, kind, '')}' || ${value}, 0)`;
const CREATED = `timestamptz '${NOW}' - n * interval '1 second'`;

/**
 * Every tenth payment is by one customer, who also paid every hundredth of the others. Every third costs R$ 19.90. One in a thousand is by
 * boleto and one in a thousand is disputed. Nine other accounts have 3,333 payments each.
 */
const FILL = [
  `INSERT INTO rm_payments.payments (id, account_id, mode, revision, created_at, amount, status, currency, methods, customer_document, customer_key, txid)
    SELECT 'p' || n, '${ACCOUNT_ID}', 'test', 0, ${CREATED}, CASE WHEN n % 3 = 0 THEN 1990 ELSE 100 + n * 7919 % 100003 END,
      CASE WHEN n % 1000 = 3 THEN 'DISPUTE' WHEN n % 2 = 0 THEN 'PAID' ELSE 'EXPIRED' END, 'BRL',
      CASE WHEN n % 1000 = 7 THEN 'BOLETO' ELSE 'PIX' END, CASE WHEN n % 10 = 0 THEN '${DOCUMENT}' ELSE n::text END,
      CASE WHEN n % 10 = 0 THEN '${DOCUMENT}' ELSE n::text END, md5(n::text) FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.payments (id, account_id, mode, revision, created_at, amount, status, currency, methods, txid)
    SELECT 'q' || n, 'account-' || n % 9, 'test', 0, ${CREATED}, 1990, 'PAID', 'BRL', 'PIX', md5('q' || n) FROM generate_series(1, 30000) n`,
  `INSERT INTO rm_payments.payments_apart SELECT 'p' || n, 0, '${restOf(paymentAfter(created()))}' FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.search_keys SELECT ${keyOf('reference', "'E' || n")}, ${CREATED}, 'p' || n FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.search_keys SELECT ${keyOf('email', "CASE WHEN n % 10 = 0 THEN 'ana@example.com' ELSE n::text END")}, ${CREATED}, 'p' || n
    FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.search_keys SELECT ${keyOf('customerId', '(n / 5)::text')}, ${CREATED}, 'p' || n FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.search_keys SELECT ${keyOf('document', `'${DOCUMENT}'`)}, ${CREATED}, 'p' || n FROM generate_series(1, ${ROWS}, 100) n`,
  'VACUUM ANALYZE',
];

const HIGHEST: CursorOrder = { by: 'amount', direction: 'desc' };
const LOWEST: CursorOrder = { by: 'amount', direction: 'asc' };
const OLDEST: CursorOrder = { by: 'createdAt', direction: 'asc' };
const found = (...terms: readonly SearchTerm[]): Partial<PaymentFilter> => ({ found: terms });
const CURSOR = { createdAt: parseTimestamp('2026-11-21T05:00:00.000Z'), id: 'p28800' as PaymentId, amount: 1_990 };

describe('a search at 50,000 payments of one account', function suite() {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
    await tables.fresh();
    for (const statement of FILL) await tables.db.query(statement);
  });
  after(() => tables.close());

  const byEmail: SearchTerm = { by: 'email', email: 'Ana@example.com' };
  const byDocument: SearchTerm = { by: 'document', documentKey: DOCUMENT };
  const cases: readonly (readonly [string, number, number, Partial<PaymentFilter>, CursorOrder?])[] = [
    ['an id', 1, 2, found({ by: 'id', id: 'p777' as PaymentId })],
    ['a txid', 1, 2, found({ by: 'txid', txid: createHash('md5').update('777').digest('hex') })],
    ['an end-to-end id', 1, 3, found({ by: 'reference', reference: 'E777' })],
    ['a customer’s id', 5, 15, found({ by: 'customerId', customerId: '777' })],
    ['an unknown reference', 0, 0, found({ by: 'reference', reference: 'E0' })],
    ['an email address of 5,000 payments', LIMIT, 100, found(byEmail)],
    ['a document of 5,500 payments', LIMIT, 160, found(byDocument)],
    ['a document of 5,500 payments, oldest first', LIMIT, 160, found(byDocument), OLDEST],
    ['an amount that a third of the payments have', LIMIT, 160, found({ by: 'amount', amount: 1_990 })],
    [
      'four terms at once',
      LIMIT,
      400,
      found(byDocument, byEmail, { by: 'reference', reference: 'E9' }, { by: 'amount', amount: 1_990 }),
    ],
    ['a customer and an amount', LIMIT, 700, { customer: [byEmail], found: [{ by: 'amount', amount: 1_990 }] }],
    ['the highest amounts', LIMIT, 60, {}, HIGHEST],
    ['the lowest amounts', LIMIT, 60, {}, LOWEST],
    ['the highest amounts of paid payments', LIMIT, 200, { statuses: ['PAID', 'APPROVED'] }, HIGHEST],
    ['the highest amounts of disputed payments', LIMIT, 200, { statuses: ['DISPUTE', 'CHARGEBACK'] }, HIGHEST],
    ['a common range of amounts', LIMIT, 200, { amountFrom: 1_000, amountTo: 50_000 }],
    ['a rare range of amounts', 2, 60, { amountFrom: 50_000, amountTo: 50_020 }],
    ['a rare method', LIMIT, 60, { method: 'BOLETO' }],
    ['the most common method', LIMIT, 60, { method: 'PIX' }],
    ['a day, highest first', LIMIT, 60, { from: parseTimestamp('2026-11-20T03:00:00.000Z'), to: NOW }, HIGHEST],
  ];
  for (const [name, count, atMost, filter, order = NEWEST_FIRST] of cases)
    it(`for ${name} returns ${count} rows and reads at most ${atMost}, by index`, async () => {
      const work = (db: SqlPool) => listAfter(db, TENANT, { ...EVERY_PAYMENT, ...filter }, null, LIMIT, order);
      const nodes = await plansOf(tables.db, work);
      expect(nodes.filter((node) => node['Node Type'].includes('Seq Scan'))).to.deep.equal([]);
      expect(rowsRead(nodes)).to.be.within(0, atMost);
      expect(await work(tables.db as unknown as SqlPool)).to.have.length(count);
    });

  for (const [name, order] of [
    ['newest', NEWEST_FIRST],
    ['highest', HIGHEST],
    ['lowest', LOWEST],
  ] as const)
    it(`continues after a cursor, ${name} first, without reading earlier pages`, async () => {
      const nodes = await plansOf(tables.db, (db) => listAfter(db, TENANT, EVERY_PAYMENT, CURSOR, LIMIT, order));
      expect(nodes.filter((node) => node['Node Type'].includes('Seq Scan'))).to.deep.equal([]);
      expect(rowsRead(nodes)).to.be.within(LIMIT, 100);
    });

  it('reads at most 120 rows to check ten open pages for changes', async () => {
    const watched = [
      ...Array.from({ length: 9 }, (_, n) => ({
        tenant: { ...TENANT, accountId: `account-${n}` as never },
        paymentId: null,
      })),
      { tenant: TENANT, paymentId: 'p9' as PaymentId },
    ];
    const nodes = await plansOf(tables.db, (db) => versionsOf(db, watched));
    expect(nodes.filter((node) => node['Node Type'].includes('Seq Scan'))).to.deep.equal([]);
    expect(rowsRead(nodes)).to.be.within(1, 120);
  });
});
