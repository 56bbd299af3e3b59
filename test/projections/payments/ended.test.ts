// Which charges free their places at the velocity guard (rule E6).
import { expect } from 'chai';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { endedPayments } from '../../../projections/payments/queries.ts';
import { PaymentTables } from './paymentTables.ts';

const PAYMENTS: readonly (readonly [charge: string, transaction: string, name?: string])[] = [
  ['expired', 'none'],
  ['cancelled', 'processing'],
  ['failed', 'none'],
  ['expired', 'settled'],
  ['open', 'none'],
  ['open', 'settled', 'NUL \u0000 and half a pair \ud800'],
  ['expired', 'none', '\udc00'],
];

describe('charges that can bring no money any more', () => {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
    await tables.fresh();
    for (const [n, [charge, transaction, name]] of PAYMENTS.entries())
      await tables.db.query(
        `INSERT INTO rm_payments.payments (id, account_id, mode, revision, state) VALUES ($1, 'a', 'test', 0, $2)`,
        [`p${n}`, JSON.stringify({ charge: { status: charge }, transaction: { status: transaction, name } })],
      );
  });
  after(() => tables.close());

  const among = async (...numbers: number[]) => {
    const { ended, unknown } = await endedPayments(tables.db, numbers.map((n) => `p${n}`) as PaymentId[]);
    return { ended: ended.toSorted(), unknown };
  };

  it('are those that ended unpaid, whatever else their rows hold', async () => {
    const ended = ['p0', 'p1', 'p2', 'p6'];
    expect(await among(0, 1, 2, 3, 4, 5, 6)).to.deep.equal({ ended, unknown: [] });
  });

  it('are told apart from those that the read model has never seen', async () => {
    expect(await among(4, 0, 99)).to.deep.equal({ ended: ['p0'], unknown: ['p99'] });
    expect(await among()).to.deep.equal({ ended: [], unknown: [] });
  });
});
