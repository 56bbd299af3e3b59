// Streams of a category that the product does not have post to the ledger and publish messages, through the seams that payments use. Tips:
// a payer gives one, which the merchant may take out a day later.
import { expect } from 'chai';
import type { Decider } from '../domain/kernel/decider.ts';
import type { Fact, StreamName } from '../domain/kernel/event.ts';
import type { PaymentId } from '../domain/kernel/ids.ts';
import { type Minor, negate, toMinor } from '../domain/kernel/money.ts';
import { addMillis, DAY_MS, type Timestamp } from '../domain/kernel/time.ts';
import { entry, type Postings } from '../domain/ledger/journal.ts';
import { connectionConfig, PgPool } from '../infrastructure/postgres/session.ts';
import { walletOf } from '../projections/wallet/projection.ts';
import { walletViews } from '../projections/wallet/queries.ts';
import { migratedDatabase, type TestDatabase } from './support/postgres.ts';
import { ACCOUNT_ID, at, PAYMENT_ID } from './support/samples.ts';

interface Tip {
  readonly paymentId: PaymentId | null;
  readonly amount: Minor;
  readonly at: Timestamp;
}
type TipEvent = Fact<'TipGiven', Tip> | Fact<'TipReleased', Pick<Tip, 'amount' | 'at'>>;
type TipState = { readonly status: 'absent' } | (Tip & { readonly status: 'held' | 'released' });
const tip: Decider<TipState, TipEvent> = {
  initial: { status: 'absent' },
  evolve: (state, event) => {
    if (event.type === 'TipGiven') return { status: 'held', ...event.data };
    return state.status === 'absent' ? state : { ...state, status: 'released' };
  },
};
const tipPostings: Postings<TipEvent> = {
  entryOf: ({ type, data: { amount, at: when } }) =>
    entry(when, 'BRL', [
      [type === 'TipGiven' ? 'provider_clearing' : 'merchant_pending', negate(amount)],
      [type === 'TipGiven' ? 'merchant_pending' : 'merchant_available', amount],
    ]),
  trancheOf: ({ type, data: { amount, at: when } }) =>
    type === 'TipGiven'
      ? { kind: 'held', currency: 'BRL', amount, releaseAt: addMillis(when, DAY_MS) }
      : { kind: 'released' },
  paymentOf: (_, event) => (event.type === 'TipGiven' ? event.data.paymentId : null),
};

const STREAM = 'tip-7' as StreamName;
const GIVEN_AT = at('13:00:00');
const given = (paymentId: PaymentId | null): TipEvent => ({
  type: 'TipGiven',
  data: { paymentId, amount: toMinor(500), at: GIVEN_AT },
});
const RELEASED: TipEvent = { type: 'TipReleased', data: { amount: toMinor(500), at: addMillis(GIVEN_AT, DAY_MS) } };

describe('a stream of a foreign category', () => {
  describe('in the ledger', () => {
    const tenant = { accountId: ACCOUNT_ID, mode: 'test' } as const;
    const wallet = walletOf({ tip: tipPostings });
    const writer = wallet.writer('rm_wallet');
    let database: TestDatabase;
    let pool: PgPool;
    before(async () => {
      database = await migratedDatabase();
      pool = new PgPool(connectionConfig(database.connectionString, 'test'), 1, () => undefined);
      await pool.query(`CREATE SCHEMA rm_wallet; ${wallet.ddl('rm_wallet')}`);
    });
    after(async () => {
      await pool.close();
      await database.drop();
    });
    const apply = (revision: number, event: TipEvent, category = 'tip') =>
      writer.apply(
        [{ category, stream: STREAM, subject: '7', revision, account: ACCOUNT_ID, mode: 'test', event }],
        pool,
      );

    it('posts, holds and releases, under the payment that it names or none', async () => {
      expect(wallet.categories).to.deep.equal(['tip']);
      await apply(0, given(PAYMENT_ID));
      const held = { currency: 'BRL', available: 0, pending: 500, retained: 0 };
      const nextRelease = { at: addMillis(GIVEN_AT, DAY_MS), amount: 500 };
      expect(await walletViews(pool).balances(tenant)).to.deep.equal([{ ...held, nextRelease }]);
      await apply(1, RELEASED);
      const released = { currency: 'BRL', available: 500, pending: 0, retained: 0, nextRelease: null };
      expect(await walletViews(pool).balances(tenant)).to.deep.equal([released]);
      const { rows } = await pool.query(
        'SELECT stream, payment_id, revision, sum(amount)::bigint AS sum FROM rm_wallet.postings GROUP BY 1, 2, 3 ORDER BY 3',
      );
      expect(rows).to.deep.equal([
        { stream: STREAM, payment_id: PAYMENT_ID, revision: 0, sum: 0 },
        { stream: STREAM, payment_id: null, revision: 1, sum: 0 },
      ]);
    });
    it('moves nothing while its category has no postings', async () => {
      await apply(2, given(null), 'gift');
      const { rows } = await pool.query('SELECT revision FROM rm_wallet.entries WHERE revision = 2');
      expect(rows).to.deep.equal([]);
    });
  });
});
void tip;
