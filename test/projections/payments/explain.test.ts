// Lists, totals and statistics read little more than they return, for an account with 100,000 payments (architecture §6).

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { PaymentFilter } from '../../../application/ports/readModels/payments.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { TRANSACTION_STATUSES, transactionStatusesOf } from '../../../domain/presentation/status.ts';
import { countPayments, listAfter, listPage } from '../../../projections/payments/lists.ts';
import { findPaymentsByTxid } from '../../../projections/payments/queries.ts';
import { restOf } from '../../../projections/payments/rest.ts';
import { DAY_COUNTS } from '../../../projections/stats/dayCounts.ts';
import { statsViews } from '../../../projections/stats/queries.ts';
import { ACCOUNT_ID, created, paymentAfter } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { plansOf as plansOfWork, rowsRead } from '../engine/plans.ts';
import { PaymentTables } from './paymentTables.ts';
import { daysUpTo } from './recomputed.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');
const LATER = parseTimestamp('2026-11-21T14:00:00.000Z');
const ROWS = 100_000;
const DOCUMENT = '52998224725';

/** One payment per second. One in a thousand has each status but PAID, and every tenth is by the same customer. */
const FILL = [
  `INSERT INTO rm_payments.payments (id, account_id, mode, revision, created_at, amount, status, currency, methods, customer_document, customer_key, txid)
    SELECT 'p' || n, '${ACCOUNT_ID}', 'test', 0, timestamptz '${NOW}' - n * interval '1 second', n * 7919 % 10007,
      coalesce((ARRAY['${TRANSACTION_STATUSES.filter((one) => one !== 'PAID').join("','")}'])[n % 1000 + 1], 'PAID'), 'BRL', 'PIX',
      CASE WHEN n % 10 = 0 THEN '${DOCUMENT}' ELSE n::text END,
      CASE WHEN n % 10 = 0 THEN '${DOCUMENT}' ELSE n::text END, md5(n::text) FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.payments_apart SELECT 'p' || n, 0, '${restOf(paymentAfter(created()))}' FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.day_counts SELECT 'account-' || n % 100, 'test', (date '2026-11-21' - n / 100)::text, 'BRL', 'PIX', '',
    ${DAY_COUNTS.map(() => 1)} FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_payments.time_to_pay SELECT 'account-' || n % 100, 'test', (date '2026-11-21' - n / 1000)::text, 'BRL', (n / 100 % 10)::text, 1 FROM generate_series(1, ${ROWS}) n`,
  'ANALYZE',
];

const txidOf = (n: number): string => createHash('md5').update(`${n}`).digest('hex');

describe('queries at 100,000 payments of one account', function suite() {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
    await tables.fresh();
    for (const statement of FILL) await tables.db.query(statement);
  });
  after(() => tables.close());

  const plansOf = (work: (db: SqlPool) => Promise<unknown>) => plansOfWork(tables.db, work);

  const ALL: PaymentFilter = { statuses: null, from: null, to: null, documentKey: null };
  const newest = { by: 'createdAt', direction: 'desc' } as const;
  const cursor = { createdAt: parseTimestamp('2026-11-21T05:00:00.000Z'), id: 'p28800' as PaymentId, amount: 0 };
  // Bounds: the 100 rows of the page and their separate parts. Numbered pages read their rows twice and the rows before them once.
  for (const [name, atMost, work] of [
    ['the first page', 220, (db) => listAfter(db, TENANT, ALL, null, 101)],
    ['a page after a cursor', 220, (db) => listAfter(db, TENANT, ALL, cursor, 101)],
    [
      'a page of payments with a rare status',
      220,
      (db) => listAfter(db, TENANT, { ...ALL, statuses: ['EXPIRED'] }, cursor, 101),
    ],
    [
      'a page of payments with a rare public status',
      440,
      (db) => listAfter(db, TENANT, { ...ALL, statuses: transactionStatusesOf('pending') }, cursor, 101),
    ],
    [
      'a page of payments with the most common public status',
      440,
      (db) => listAfter(db, TENANT, { ...ALL, statuses: transactionStatusesOf('paid') }, null, 101),
    ],
    [
      'a page of a customer’s payments',
      320,
      (db) => listAfter(db, TENANT, { ...ALL, documentKey: DOCUMENT }, cursor, 101),
    ],
    [
      'a page of payments between two instants',
      220,
      (db) => listAfter(db, TENANT, { ...ALL, from: cursor.createdAt, to: NOW }, null, 101),
    ],
    ['the hundredth page', 10_400, (db) => listPage(db, TENANT, ALL, newest, { page: 100, limit: 100 })],
    [
      'the hundredth page, oldest first',
      10_400,
      (db) => listPage(db, TENANT, ALL, { by: 'createdAt', direction: 'asc' }, { page: 100, limit: 100 }),
    ],
    [
      'the hundredth page of payments with a common status',
      10_400,
      (db) => listPage(db, TENANT, { ...ALL, statuses: ['PAID'] }, newest, { page: 100, limit: 100 }),
    ],
    ['a payment by its txid', 1, (db) => findPaymentsByTxid(db, TENANT, [txidOf(77_777)])],
    [
      'a thousand payments by their txids',
      2_000,
      (db) =>
        findPaymentsByTxid(
          db,
          TENANT,
          Array.from({ length: 1_000 }, (_, n) => txidOf(n * 100 + 1)),
        ),
    ],
    // One row for each of 1,000 days.
    ['the total', 1_000, (db) => countPayments(db, { ...TENANT, accountId: 'account-7' as never }, ALL)],
    [
      'the total of a status',
      1_000,
      (db) => countPayments(db, { ...TENANT, accountId: 'account-7' as never }, { ...ALL, statuses: ['PAID'] }),
    ],
    [
      'the total between two instants of a day',
      3_700,
      (db) => countPayments(db, TENANT, { ...ALL, from: parseTimestamp('2026-11-21T12:00:00.000Z'), to: LATER }),
    ],
    [
      'the statistics of a week',
      20,
      (db) =>
        statsViews(db).dayRows(
          { ...TENANT, accountId: 'account-7' as never },
          { days: daysUpTo('2026-11-21', 7), currency: null },
        ),
    ],
    [
      'the times to pay of a month and a week',
      400,
      (db) =>
        statsViews(db).timeToPay(
          { ...TENANT, accountId: 'account-7' as never },
          { days: daysUpTo('2026-11-21', 37), currency: null },
        ),
    ],
  ] satisfies readonly (readonly [string, number, (db: SqlPool) => Promise<unknown>])[])
    it(`read at most ${atMost} rows, by index, for ${name}`, async () => {
      const nodes = await plansOf(work);
      expect(nodes.filter((node) => node['Node Type'].includes('Seq Scan'))).to.deep.equal([]);
      expect(rowsRead(nodes)).to.be.within(1, atMost);
    });

  it('read each row once for a sort by another field beyond the newest rows, and full states only for the page', async () => {
    const nodes = await plansOf((db) =>
      listPage(db, TENANT, ALL, { by: 'customerDocument', direction: 'asc' }, { page: 1, limit: 100 }),
    );
    const scans = nodes.filter((node) => node['Node Type'].includes('Seq Scan'));
    expect(rowsRead(scans)).to.be.within(ROWS - 1, ROWS + 1); // Parallel workers share the scan, and the averages are rounded.
    const states = nodes.filter((node) => node['Index Name'] === 'payments_pkey');
    expect(rowsRead(states)).to.equal(100);
  });

  it('sort amounts numerically, also beyond the newest rows', async () => {
    const amountOf = (n: number): number => (n * 7_919) % 10_007;
    const newest = Array.from({ length: ROWS }, (_, n) => n + 1);
    for (const [direction, sign] of [
      ['asc', 1],
      ['desc', -1],
    ] as const) {
      const expected = newest.toSorted((a, b) => sign * (amountOf(a) - amountOf(b)) || a - b).slice(9_900, 10_000);
      const page = await listPage(tables.db, TENANT, ALL, { by: 'amount', direction }, { page: 100, limit: 100 });
      expect(page.map(({ charge }) => Number(charge.terms.paymentId.slice(1)))).to.deep.equal(expected);
    }
  });

  it('sort only the newest rows by a field in which nearly all are equal', async () => {
    for (const by of ['currency', 'paymentMethods', 'paidWith', 'cryptoNetwork'] as const)
      for (const direction of ['asc', 'desc'] as const) {
        const nodes = await plansOf((db) => listPage(db, TENANT, ALL, { by, direction }, { page: 1, limit: 100 }));
        // Few payments offer a method other than Pix, so an index finds them.
        const scanned = nodes.filter(({ 'Node Type': type }) => /Seq Scan|Bitmap Heap Scan/.test(type)).at(-1);
        const sorted = (scanned?.['Actual Rows'] ?? 0) * (scanned?.['Actual Loops'] ?? 0);
        expect(sorted, `${by} ${direction}`).to.equal(10_000);
      }
  });
});
