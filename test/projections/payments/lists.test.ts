// Lists of payments are consistent across pages, for any filter, sort order and page size.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Cursor,
  type PaymentFilter,
  SORT_FIELDS,
  type SortField,
} from '../../../application/ports/readModels/payments.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { PUBLIC_STATUSES, publicStatus, transactionStatusesOf } from '../../../domain/presentation/status.ts';
import { type TransactionView, transactionView } from '../../../domain/presentation/transaction.ts';
import { listAfter, listPage, SORT_EXPRESSION, sortedPage } from '../../../projections/payments/lists.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';
import { mixtures } from './mixedPayments.ts';
import { logged, PaymentTables } from './paymentTables.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const EVERYTHING: PaymentFilter = { statuses: null, from: null, to: null, documentKey: null };

const idsOf = (payments: readonly ExistingPayment[]): string[] => payments.map(({ charge }) => charge.terms.paymentId);
const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const newestFirst = (a: ExistingPayment, b: ExistingPayment): number =>
  byCodePoint(b.charge.terms.createdAt, a.charge.terms.createdAt) ||
  byCodePoint(a.charge.terms.paymentId, b.charge.terms.paymentId);

/** Returns the value that a sort by this field compares. */
const sortValue = (view: TransactionView, field: SortField): string | number | null => {
  if (field === 'paymentMethods') return view.paymentMethods.join();
  if (field === 'metadata') return JSON.stringify(view.metadata).slice(0, 64);
  if (field === 'cryptoAmount') return view.cryptoAmount === null ? null : Number(view.cryptoAmount);
  return view[field];
};

const bySort = (field: SortField, direction: 'asc' | 'desc') => (a: ExistingPayment, b: ExistingPayment) => {
  if (field === 'createdAt') return direction === 'desc' ? newestFirst(a, b) : newestFirst(b, a);
  const [left, right] = [sortValue(transactionView(a), field), sortValue(transactionView(b), field)];
  if (left === null || right === null)
    return left === right ? newestFirst(a, b) : Number(left === null) - Number(right === null);
  const order = typeof left === 'number' ? left - (right as number) : byCodePoint(left, right as string);
  return (direction === 'asc' ? order : -order) || newestFirst(a, b);
};

describe('lists of payments', function suite() {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
  });
  after(() => tables.close());

  const forAll = (runs: number, property: (payments: readonly ExistingPayment[]) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(mixtures, async ({ payments, batches }) => {
        const writer = await tables.fresh();
        for (const batch of batches) await writer.apply(logged(TENANT, batch), tables.db);
        await property(payments.map(({ state }) => state));
      }),
      { numRuns: runs },
    );

  /** Returns the ids of all pages, each starting after the last payment of the one before. */
  const walked = async (filter: PaymentFilter, limit: number): Promise<string[]> => {
    const found: ExistingPayment[] = [];
    for (let after: Cursor | null = null; ; ) {
      const page: readonly ExistingPayment[] = await listAfter(tables.db, TENANT, filter, after, limit);
      found.push(...page);
      const last = page.at(-1)?.charge.terms;
      if (page.length < limit || last === undefined) return idsOf(found);
      after = { createdAt: last.createdAt, id: last.paymentId, amount: last.amount };
    }
  };

  it('return each payment once by cursor, newest first, then by id', () =>
    forAll(10, async (payments) => {
      const expected = payments.toSorted(newestFirst);
      for (const limit of [1, 2, 3, 100]) expect(await walked(EVERYTHING, limit)).to.deep.equal(idsOf(expected));
    }));

  it('filter by status, dates and document together, by cursor', () =>
    forAll(10, async (payments) => {
      const sorted = payments.toSorted(newestFirst);
      const [to, from] = [sorted[0], sorted.at(-1)].map((one) => one?.charge.terms.createdAt ?? null);
      for (const status of PUBLIC_STATUSES)
        for (const documentKey of [null, '52998224725', '12ABC34501DE35', '1'])
          for (const bounds of [
            { from: null, to: null },
            { from: from ?? null, to: from ?? null },
            { from: from ?? null, to: to ?? null },
          ]) {
            const expected = sorted.filter((one) => {
              const { createdAt, customer } = one.charge.terms;
              const isOfCustomer = documentKey === null || customer.document?.replaceAll(/[./-]/g, '') === documentKey;
              const isWithin = bounds.from === null || (createdAt >= bounds.from && createdAt <= (bounds.to ?? ''));
              return publicStatus(one) === status && isOfCustomer && isWithin;
            });
            const filter = { statuses: transactionStatusesOf(status), documentKey, ...bounds };
            expect(await walked(filter, 2)).to.deep.equal(idsOf(expected));
          }
    }));

  it('sort by every field of a transaction, nulls last, ties newest first', () =>
    forAll(6, async (payments) => {
      for (const by of SORT_FIELDS)
        for (const direction of ['asc', 'desc'] as const) {
          const expected = idsOf(payments.toSorted(bySort(by, direction)));
          const all = await listPage(tables.db, TENANT, EVERYTHING, { by, direction }, { page: 1, limit: 100 });
          expect(idsOf(all), `${by} ${direction}`).to.deep.equal(expected);
          const second = await listPage(tables.db, TENANT, EVERYTHING, { by, direction }, { page: 2, limit: 2 });
          expect(idsOf(second), `${by} ${direction}, page 2`).to.deep.equal(expected.slice(2, 4));
        }
    }));

  it('are sorted the same whatever number of newest rows is tried first', () =>
    forAll(6, async (payments) => {
      for (const by of SORT_FIELDS) {
        const field = SORT_EXPRESSION[by];
        if (by === 'createdAt' || field === null) continue;
        for (const direction of ['asc', 'desc'] as const) {
          const expected = idsOf(payments.toSorted(bySort(by, direction)));
          for (const part of [
            { page: 1, limit: 1 },
            { page: 2, limit: 1 },
            { page: 1, limit: 3 },
            { page: 4, limit: 2 },
          ])
            for (const more of [0, 1, 5]) {
              const page = await sortedPage(
                tables.db,
                TENANT,
                EVERYTHING,
                { field, direction },
                part,
                (last) => last + more,
              );
              const first = (part.page - 1) * part.limit;
              const what = `${by} ${direction}, ${JSON.stringify(part)} and ${more}`;
              expect(idsOf(page), what).to.deep.equal(expected.slice(first, first + part.limit));
            }
        }
      }
    }));

  it('can be sorted by exactly the fields of a transaction', () =>
    forAll(1, async ([first]) => {
      expect(SORT_FIELDS.toSorted()).to.deep.equal(Object.keys(transactionView(first as ExistingPayment)).toSorted());
    }));

  it('are empty for another account or mode', () =>
    forAll(2, async () => {
      for (const other of [
        { ...TENANT, mode: 'live' as const },
        { ...TENANT, accountId: 'x' as never },
      ]) {
        expect(await listAfter(tables.db, other, EVERYTHING, null, 100)).to.deep.equal([]);
        expect(
          await listPage(tables.db, other, EVERYTHING, { by: 'amount', direction: 'asc' }, { page: 1, limit: 100 }),
        ).to.deep.equal([]);
      }
    }));
});
