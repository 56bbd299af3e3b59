// Lists, statistics and wallet reads of one account with 1,000,000 payments: the longest of many reads, against the bounds of the issue
// "All of charges, payments, refunds, cancellation, wallets, statistics". The reads run the routes’ code from query to JSON.

import { type Cursor, cursorAt, type PaymentFilter, SORT_FIELDS } from '../../application/ports/readModels/payments.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { lastBusinessDays, saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import { chargeView } from '../../domain/presentation/charge.ts';
import { metricsView } from '../../domain/presentation/metrics.ts';
import { statsView } from '../../domain/presentation/stats.ts';
import { TRANSACTION_STATUSES } from '../../domain/presentation/status.ts';
import { transactionView } from '../../domain/presentation/transaction.ts';
import { PARALLEL_SORTS } from '../../infrastructure/boot/storage.ts';
import { connectionConfig, PgSession } from '../../infrastructure/postgres/session.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { countPayments, listAfter, listPage } from '../../projections/payments/lists.ts';
import { paymentsProjection } from '../../projections/payments/projection.ts';
import { statsViews } from '../../projections/stats/queries.ts';
import { walletProjection } from '../../projections/wallet/projection.ts';
import { findBalances } from '../../projections/wallet/queries.ts';
import { migratedDatabase } from '../world/postgres.ts';
import { HISTORY_ACCOUNT, paymentHistory } from './paymentHistory.ts';
import type { BenchRow, Row } from './row.ts';
import { quantile } from './statistics.ts';

const PAYMENTS = 1_000_000;
const PAYMENTS_QUICK = 50_000;
const BATCH_PAYMENTS = 1_500;
const LIST_GOAL_MS = 20;
const SORT_GOAL_MS = 500;
const PAGES = 100;
/** Step between measured pages, among the first hundred that are read by number. */
const PAGE_STEP = 9;

const TENANT: Tenant = { accountId: HISTORY_ACCOUNT, mode: 'test' };
const ALL: PaymentFilter = { statuses: null, from: null, to: null, documentKey: null };

const fill = async (session: PgSession, payments: number, until: Timestamp): Promise<number> => {
  const projections = [paymentsProjection, walletProjection];
  for (const projection of projections) await createSchema(session, projection, liveSchema(projection.name));
  const writers = projections.map((projection) => projection.writer(liveSchema(projection.name)));
  let events = 0;
  const beganAt = performance.now();
  for (const batch of paymentHistory(payments, until, BATCH_PAYMENTS)) {
    await session.transaction(async (tx) => {
      for (const writer of writers) await writer.apply(batch, tx);
    });
    events += batch.length;
  }
  const perSecond = (events * 1_000) / (performance.now() - beganAt);
  await session.query('VACUUM ANALYZE');
  return perSecond;
};

type Read = () => Promise<unknown>;
const msOf = async (read: Read): Promise<number> => {
  const beganAt = performance.now();
  JSON.stringify(await read());
  return performance.now() - beganAt;
};

/** Returns the duration of each read in each round, after a warm-up. */
export const timesOf = async (reads: readonly Read[], rounds: number): Promise<number[]> => {
  for (const read of reads.slice(0, 3)) await msOf(read);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) for (const read of reads) times.push(await msOf(read));
  return times;
};

export const rowOf = (what: string, times: readonly number[], goalMs: number): Row => {
  const p95 = quantile(times, 0.95);
  return {
    name: 'lists',
    what: `${what}, p95`,
    against: 'its bound',
    unit: 'ms',
    ours: p95,
    counterpart: null,
    goal: { text: `< ${goalMs} ms`, met: p95 < goalMs },
    details: { 'p50 (ms):': quantile(times, 0.5), 'longest (ms):': Math.max(...times), 'reads:': times.length },
  };
};

/** Returns the duration of each of the first hundred pages, read by cursor one after the other. */
const walkedCharges = async (db: Sql, filter: PaymentFilter, limit: number): Promise<number[]> => {
  const times: number[] = [];
  let after: Cursor | null = null;
  for (let page = 0; page < PAGES; page++) {
    let last: Cursor | null = null;
    const ms = await msOf(async () => {
      const found = await listAfter(db, TENANT, filter, after, limit + 1);
      const payment = found.at(-2);
      last = payment === undefined ? null : cursorAt(payment);
      return found.map(chargeView);
    });
    times.push(ms);
    after = last;
    if (after === null) break;
  }
  return times;
};

const paymentPage = (db: SqlPool, filter: PaymentFilter, order: Parameters<typeof listPage>[3], page: number): Read => {
  const part = { page, limit: 100 };
  return async () => {
    const [payments, total] = await Promise.all([
      listPage(db, TENANT, filter, order, part),
      countPayments(db, TENANT, filter),
    ]);
    return { data: payments.map(transactionView), total };
  };
};

const NEWEST = { by: 'createdAt', direction: 'desc' } as const;
const pageNumbers = Array.from({ length: Math.ceil(PAGES / PAGE_STEP) }, (_, n) => n * PAGE_STEP + 1);

const listRows = async (db: SqlPool): Promise<Row[]> => {
  const ofStatus = (status: (typeof TRANSACTION_STATUSES)[number]) => ({ ...ALL, statuses: [status] });
  const byStatus: number[] = [];
  for (const status of TRANSACTION_STATUSES) byStatus.push(...(await walkedCharges(db, ofStatus(status), 25)));
  const customer = { ...ALL, documentKey: '52998224725' };
  const oldest = { by: 'createdAt', direction: 'asc' } as const;
  return [
    rowOf('charges, first 100 pages of 100', await walkedCharges(db, ALL, 100), LIST_GOAL_MS),
    rowOf('charges of each status, first 100 pages of 25', byStatus, LIST_GOAL_MS),
    rowOf('charges of a customer', await timesOf([() => listAfter(db, TENANT, customer, null, 26)], 20), LIST_GOAL_MS),
    rowOf(
      'payments with total, first 100 pages of 100',
      await timesOf(
        pageNumbers.map((page) => paymentPage(db, ALL, NEWEST, page)),
        3,
      ),
      LIST_GOAL_MS,
    ),
    rowOf(
      'payments with total, oldest first',
      await timesOf(
        pageNumbers.map((page) => paymentPage(db, ALL, oldest, page)),
        3,
      ),
      LIST_GOAL_MS,
    ),
    rowOf(
      'payments of each status with total, first page and hundredth',
      await timesOf(
        TRANSACTION_STATUSES.flatMap((one) => [1, PAGES].map((page) => paymentPage(db, ofStatus(one), NEWEST, page))),
        2,
      ),
      LIST_GOAL_MS,
    ),
  ];
};

const reportRows = async (db: Sql, today: string): Promise<Row[]> => {
  const windows = [1, 7, 30, 59, 365, 3_650].map((days) => ({ days: lastBusinessDays(today, days), currency: null }));
  const stats = windows.map(
    (window): Read =>
      async () =>
        statsView(window.days, await statsViews(db).dayRows(TENANT, window)),
  );
  const metrics = windows.map(
    (window): Read =>
      async () => {
        const [rows, timeToPay] = await Promise.all([
          statsViews(db).dayRows(TENANT, window),
          statsViews(db).timeToPay(TENANT, window),
        ]);
        return metricsView(window, rows, timeToPay);
      },
  );
  const balance: Read = () => findBalances(db, TENANT);
  return [
    rowOf('stats of 1 to 3,650 days', await timesOf(stats, 10), LIST_GOAL_MS),
    rowOf('metrics of 1 to 3,650 days', await timesOf(metrics, 10), LIST_GOAL_MS),
    rowOf('balances', await timesOf([balance], 50), LIST_GOAL_MS),
  ];
};

const sortRows = async (db: SqlPool, say: (line: string) => void): Promise<Row[]> => {
  const all: number[] = [];
  const slowest = { name: '', ms: 0 };
  for (const by of SORT_FIELDS.filter((field) => field !== 'createdAt')) {
    const reads = (['asc', 'desc'] as const).map((direction) => paymentPage(db, ALL, { by, direction }, 1));
    const times = await timesOf(reads, 1);
    const longest = Math.max(...times);
    say(`lists: sorted by ${by}: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
    if (longest > slowest.ms) Object.assign(slowest, { name: by, ms: longest });
    all.push(...times);
  }
  const row = rowOf('payments sorted by each other field', all, SORT_GOAL_MS);
  return [{ ...row, details: { ...row.details, 'slowest field:': slowest.name } }];
};

export const lists: BenchRow = async ({ quick, say }) => {
  const payments = quick ? PAYMENTS_QUICK : PAYMENTS;
  const database = await migratedDatabase();
  const config = { ...connectionConfig(database.connectionString, 'quita bench'), options: PARALLEL_SORTS };
  const session = await PgSession.open(config);
  await session.query('SET statement_timeout = 0');
  const until = fromMillis(Date.now());
  say(`lists: projecting ${payments} payments of one account`);
  const perSecond = await fill(session, payments, until);
  say(`lists: ${perSecond.toFixed(0)} events a second`);
  const rows = [
    ...(await listRows(session)),
    ...(await reportRows(session, saoPauloDay(until))),
    ...(await sortRows(session, say)),
  ];
  await session.close();
  await database.drop();
  return rows.map((row) => ({ ...row, what: `${row.what}, ${payments} payments` }));
};
