// The columns of a payment’s row and its separate rest together hold the whole state.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import { type PaymentState, payment } from '../../../domain/payment/payment.ts';
import type { ColumnValues } from '../../../projections/engine/aggregateTable.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { PAYMENT_COLUMNS, paymentOf, paymentState, selectPayment } from '../../../projections/payments/row.ts';
import { ACCOUNT_ID, created, expired, issued, PAYMENT_ID, settled } from '../../support/samples.ts';
import { statesOf } from '../storedShape.ts';
import { mixtures } from './mixedPayments.ts';
import { logged, PaymentTables } from './paymentTables.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };

/** Returns the row that stores this state, as queries read it. */
const rowOf = (state: PaymentState): ColumnValues => {
  const told = PAYMENT_COLUMNS.filter(({ isDerived }) => !isDerived).map(({ name, of }) => [name, of(state)]);
  const terms = state.charge.status === 'absent' ? null : state.charge.terms;
  const identity = { id: terms?.paymentId ?? null, account_id: terms?.accountId ?? null, mode: terms?.mode ?? null };
  return { ...identity, ...Object.fromEntries(told) };
};
const readAgain = (state: PaymentState): PaymentState => paymentState(rowOf(state));

describe('a payment’s row', () => {
  it('stores every kind of state that events can lead to, in any order', () => {
    const [rows] = paymentsProjection.aggregates ?? [];
    if (rows === undefined) throw new Error('payments are kept as states');
    let states = 0;
    for (const state of statesOf(rows) as Generator<PaymentState>) {
      expect(readAgain(state)).to.deep.equal(state);
      states += 1;
    }
    expect(states).to.be.above(20);
  });

  it('stores a payment whose creation event is missing', () => {
    for (const events of [[issued()], [settled()], [expired(), settled()]]) {
      const state = events.reduce(payment.evolve, payment.initial);
      expect(state.charge).to.deep.equal({ status: 'absent' });
      expect(readAgain(state)).to.deep.equal(state);
    }
  });

  it('stores the provider’s own txid as well as the requested one', () => {
    for (const txid of ['0'.repeat(32), undefined]) {
      const events = [created(), issued(txid === undefined ? {} : { txid })];
      const state = events.reduce(payment.evolve, payment.initial);
      expect(readAgain(state)).to.deep.equal(state);
    }
  });

  describe('in PostgreSQL', () => {
    let tables: PaymentTables;
    before(async () => {
      tables = await PaymentTables.open();
    });
    after(() => tables.close());

    const written = async () =>
      (await tables.db.query<ColumnValues>(`SELECT ${selectPayment('p')} FROM rm_payments.payments p ORDER BY id`))
        .rows;

    it('restores each payment as its events made it', () =>
      fc.assert(
        fc.asyncProperty(mixtures, async ({ payments, batches }) => {
          const writer = await tables.fresh();
          for (const batch of batches) {
            writer.reset();
            await writer.apply(logged(TENANT, batch), tables.db);
          }
          expect((await written()).map(paymentOf)).to.deep.equal(payments.map(({ state }) => state));
        }),
        { numRuns: 15 },
      ));

    it('restores unusual texts, and stores no value twice', async () => {
      const odd = 'NUL \u0000, "quotes", half a pair \ud800, a whole one \u{1f600}';
      const customer = { name: '"É\u2028', document: '1,2', email: null, phone: '\\' };
      const events = [created({ metadata: { odd, [odd]: odd }, customer }), issued(), settled()];
      const writer = await tables.fresh();
      const steps = events.map((event, revision) => ({ paymentId: PAYMENT_ID, revision, event }));
      await writer.apply(logged(TENANT, steps), tables.db);
      const [row] = await written();
      if (row === undefined) throw new Error('it was written');
      const state = events.reduce(payment.evolve, payment.initial);
      for (const told of [PAYMENT_ID, ACCOUNT_ID, customer.name, row.pix_copy_paste, row.txid])
        expect(row.rest).to.not.include(told);
      expect(paymentOf(row)).to.deep.equal(state);
    });
  });
});
