// Filtering, searching and sorting payments in the database equals doing so in memory, page by page. The search index follows every event
// and keeps no personal data after an erasure.

import { expect } from 'chai';
import fc from 'fast-check';
import { searchTermsOf } from '../../../application/payments/searchTerms.ts';
import {
  type Cursor,
  type CursorOrder,
  cursorAt,
  EVERY_PAYMENT,
  type PaymentFilter,
  type SearchTerm,
} from '../../../application/ports/readModels/payments.ts';
import { fold } from '../../../domain/kernel/decider.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';
import { assertExists, type ExistingPayment, type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { documentKeyOf, payerTaxIdOf } from '../../../domain/pix/taxId.ts';
import { PUBLIC_STATUSES, transactionStatus, transactionStatusesOf } from '../../../domain/presentation/status.ts';
import { listAfter } from '../../../projections/payments/lists.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';
import { type Mixture, mixtures } from './mixedPayments.ts';
import { logged, PaymentTables, type Step } from './paymentTables.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const AMOUNTS = [12_345, 12_345, 1_990, 100_000].map(toMinor);
const EMAILS = ['ana@example.com', 'Ana@Example.com', 'bia@example.com', null];
const CUSTOMERS = ['order 7', '52998224725', 'a\0b', '', null];

interface Terms {
  readonly amount: Minor;
  readonly email: string | null;
  readonly customerId: string | null;
}
const terms: fc.Arbitrary<Terms> = fc.record({
  amount: fc.constantFrom(...AMOUNTS),
  email: fc.constantFrom(...EMAILS),
  customerId: fc.constantFrom(...CUSTOMERS),
});

/** Gives the payments other terms, with amounts in common and with texts that a search looks for. */
const withTerms = ({ payments, batches }: Mixture, all: readonly Terms[]) => {
  const termsOf = new Map(payments.map(({ id }, n) => [id, all[n % all.length] as Terms]));
  const changed = ({ paymentId, event }: Pick<Step, 'paymentId' | 'event'>): PaymentEvent => {
    if (event.type !== 'ChargeCreated') return event;
    const { amount, email, customerId } = termsOf.get(paymentId) as Terms;
    const customer = { ...event.data.customer, email };
    return { ...event, data: { ...event.data, amount, customerId, customer } };
  };
  return {
    payments: payments.map(({ id, events }) => {
      const own = events.map((event) => changed({ paymentId: id, event }));
      return { id, events: own, state: assertExists(fold(payment, own)) };
    }),
    batches: batches.map((batch) => batch.map((step) => ({ ...step, event: changed(step) }))),
  };
};
const searched = fc
  .tuple(mixtures, fc.array(terms, { minLength: 1, maxLength: 8 }))
  .map(([mixture, all]) => withTerms(mixture, all));

const idsOf = (payments: readonly ExistingPayment[]): string[] => payments.map(({ charge }) => charge.terms.paymentId);

/** Searches in memory, in the slow and simple way. */
const isFoundBy = (term: SearchTerm, { charge, transaction }: ExistingPayment): boolean => {
  const { terms: own, instruments } = charge;
  const settled = transaction.status === 'settled' ? transaction : null;
  const incoming = settled?.settlement.incoming ?? ('incoming' in transaction ? transaction.incoming : null);
  switch (term.by) {
    case 'id':
      return own.paymentId === term.id;
    case 'txid':
      return own.txid === term.txid;
    case 'amount':
      return own.amount === term.amount;
    case 'customerId':
      return own.customerId === term.customerId;
    case 'email':
      return own.customer.email?.toLowerCase() === term.email.toLowerCase();
    case 'document':
      return [documentKeyOf(own.customer.document ?? ''), payerTaxIdOf(incoming?.payer.document ?? null)].includes(
        term.documentKey,
      );
    case 'reference':
      return [
        instruments.pix?.txid === own.txid ? undefined : instruments.pix?.txid,
        ...transaction.incomingPayments.flatMap(({ providerPaymentId, returnId, outside = [] }) => [
          providerPaymentId,
          returnId,
          ...outside.map(({ id }) => id),
        ]),
        ...(settled?.refunds ?? []).map(({ outcome }) => (outcome.status === 'completed' ? outcome.endToEndId : null)),
      ].includes(term.reference);
    default:
      return term satisfies never;
  }
};
const isFound = (terms_: readonly SearchTerm[] | null | undefined, one: ExistingPayment): boolean =>
  terms_ == null || terms_.some((term) => isFoundBy(term, one));
const matches = (filter: PaymentFilter, one: ExistingPayment): boolean => {
  const { statuses, from, to, amountFrom = null, amountTo = null, method = null, found, customer } = filter;
  const { charge, transaction } = one;
  const methods = transaction.status === 'settled' ? [transaction.settlement.method] : charge.terms.methods;
  return (
    (statuses === null || statuses.includes(transactionStatus(one))) &&
    (from === null || charge.terms.createdAt >= from) &&
    (to === null || charge.terms.createdAt <= to) &&
    (amountFrom === null || charge.terms.amount >= amountFrom) &&
    (amountTo === null || charge.terms.amount <= amountTo) &&
    (method === null || methods.includes(method)) &&
    isFound(found, one) &&
    isFound(customer, one)
  );
};
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const inOrder =
  ({ by, direction }: CursorOrder) =>
  ({ charge: { terms: a } }: ExistingPayment, { charge: { terms: b } }: ExistingPayment): number => {
    const up =
      (by === 'amount' ? a.amount - b.amount : 0) ||
      compare(a.createdAt, b.createdAt) ||
      compare(b.paymentId, a.paymentId);
    return direction === 'asc' ? up : -up;
  };

const order: fc.Arbitrary<CursorOrder> = fc.record({
  by: fc.constantFrom('createdAt', 'amount'),
  direction: fc.constantFrom('asc', 'desc'),
});
const ofAny = <Value>(...values: readonly Value[]) => fc.option(fc.constantFrom(...values), { freq: 2 });
const TEXTS = [
  '12,345',
  '123.45',
  '1990',
  'R$ 1.000,00',
  'ana@EXAMPLE.com',
  '529.982.247-25',
  '12.ABC.345/01DE-35',
  'E1',
  'E2',
  'order 7',
];

describe('a search for payments', function suite() {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
  });
  after(() => tables.close());

  const applied = async ({ batches }: Pick<ReturnType<typeof withTerms>, 'batches'>): Promise<void> => {
    const writer = await tables.fresh();
    for (const batch of batches) await writer.apply(logged(TENANT, batch), tables.db);
  };

  const walked = async (filter: PaymentFilter, by: CursorOrder, limit: number): Promise<string[]> => {
    const found: ExistingPayment[] = [];
    for (let after: Cursor | null = null; ; ) {
      const page: readonly ExistingPayment[] = await listAfter(tables.db, TENANT, filter, after, limit, by);
      found.push(...page);
      const last = page.at(-1);
      if (page.length < limit || last === undefined) return idsOf(found);
      after = cursorAt(last);
    }
  };

  it('filters and sorts as in memory, for any page size', () =>
    fc.assert(
      fc.asyncProperty(
        searched,
        fc.array(
          fc.tuple(
            fc.record({
              status: ofAny(...PUBLIC_STATUSES),
              method: ofAny('PIX', 'CREDIT_CARD', 'BOLETO', 'CRYPTO'),
              amountFrom: ofAny(1, 1_990, 12_345, 12_346),
              amountTo: ofAny(1_990, 12_345, 99_999, 100_000),
              since: ofAny(0, 1, 2),
              until: ofAny(0, 1, 2),
              found: ofAny(...TEXTS),
              customer: ofAny('ana@example.com', '52998224725', 'order 7'),
            }),
            order,
            fc.constantFrom(1, 2, 3, 100),
          ),
          { minLength: 12, maxLength: 12 },
        ),
        async (mixture, questions) => {
          await applied(mixture);
          const all = mixture.payments.map(({ state }) => state);
          const instants = all.map(({ charge }) => charge.terms.createdAt);
          for (const [
            { status, method, amountFrom, amountTo, since, until, found, customer },
            by,
            limit,
          ] of questions) {
            const filter: PaymentFilter = {
              ...EVERY_PAYMENT,
              ...{ method: method as never, amountFrom, amountTo },
              statuses: status === null ? null : transactionStatusesOf(status),
              from: since === null ? null : (instants[since] ?? null),
              to: until === null ? null : (instants[until] ?? null),
              found: found === null ? null : searchTermsOf(found),
              customer: customer === null ? null : searchTermsOf(customer),
            };
            const expected = idsOf(all.filter((one) => matches(filter, one)).toSorted(inOrder(by)));
            expect(await walked(filter, by, limit), JSON.stringify([filter, by, limit])).to.deep.equal(expected);
          }
        },
      ),
      { numRuns: 25 },
    ));

  it('finds a payment once by each of its ids, and never for another tenant', () =>
    fc.assert(
      fc.asyncProperty(searched, async (mixture) => {
        await applied(mixture);
        for (const { id, state } of mixture.payments) {
          const { incomingPayments } = state.transaction;
          const texts = [
            `ch_${id}`,
            `tx_${id}`,
            id,
            ...incomingPayments.map(({ providerPaymentId }) => providerPaymentId),
          ];
          for (const text of texts) {
            const filter = { ...EVERY_PAYMENT, found: searchTermsOf(text) };
            const found = idsOf(await listAfter(tables.db, TENANT, filter, null, 100));
            expect(
              found.filter((one) => one === id),
              text,
            ).to.deep.equal([id]);
            for (const other of [
              { ...TENANT, mode: 'live' as const },
              { ...TENANT, accountId: 'x' as never },
            ])
              expect(await listAfter(tables.db, other, filter, null, 100)).to.deep.equal([]);
          }
        }
      }),
      { numRuns: 8 },
    ));

  it('indexes the same rows for any batches of events', () =>
    fc.assert(
      fc.asyncProperty(searched, async ({ payments, batches }) => {
        await applied({ batches });
        const inBatches = (await tables.rows())['search_keys'];
        const steps = payments.flatMap(({ id, events }) =>
          events.map((event, revision): Step => ({ paymentId: id, revision, event })),
        );
        await applied({ batches: steps.map((step) => [step]) });
        expect((await tables.rows())['search_keys']).to.deep.equal(inBatches);
        await applied({ batches: [steps] });
        expect((await tables.rows())['search_keys']).to.deep.equal(inBatches);
      }),
      { numRuns: 8 },
    ));

  it('finds nothing by the data of an erased person, but still finds the payments by end-to-end id', () =>
    fc.assert(
      fc.asyncProperty(searched, async ({ payments, batches }) => {
        const writer = await tables.fresh();
        for (const batch of batches) await writer.apply(logged(TENANT, batch), tables.db);
        const data = { by: 'operator:ana', reason: 'request 17', despiteRetention: true, at: at('20:00:00') };
        const event: PaymentEvent = { type: 'PaymentPersonalDataErased', data };
        const erasures = payments.map(({ id, events }): Step => ({ paymentId: id, revision: events.length, event }));
        await writer.apply(logged(TENANT, erasures), tables.db);
        for (const text of [...EMAILS, ...CUSTOMERS, '529.982.247-25', '12.ABC.345/01DE-35', '12345678909'])
          if (text !== null && searchTermsOf(text).length > 0) {
            const filter = { ...EVERY_PAYMENT, found: searchTermsOf(text) };
            expect(await listAfter(tables.db, TENANT, filter, null, 100), text).to.deep.equal([]);
          }
        const references = payments.flatMap(({ id, state }) =>
          new Set(
            state.transaction.incomingPayments.flatMap(({ providerPaymentId, returnId }) => [
              providerPaymentId,
              returnId,
            ]),
          ).has('E1')
            ? [id]
            : [],
        );
        const found = await listAfter(tables.db, TENANT, { ...EVERY_PAYMENT, found: searchTermsOf('E1') }, null, 100);
        expect(idsOf(found).toSorted()).to.deep.equal(references.toSorted());
      }),
      { numRuns: 8 },
    ));
});
