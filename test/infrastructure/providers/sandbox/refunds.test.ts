// The sandbox bank's decisions on refunds, and their IDs in the form of the network (pix.md, Ids; rules M6, X3).

import { expect } from 'chai';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { isEndToEndId } from '../../../../domain/pix/ids.ts';
import type { RefundOrder } from '../../../../domain/refund/refund.ts';
import { connectionConfig, PgSession } from '../../../../infrastructure/postgres/session.ts';
import {
  decidedStatus,
  decideRefund,
  findRefund,
  takeRefund,
} from '../../../../infrastructure/providers/sandbox/refunds.ts';
import { isReturnId } from '../../../support/pix/endToEndId.ts';
import { ACCOUNT_ID, at, END_TO_END_ID, OTHER_REFUND_ID, PAYMENT_ID, REFUND_ID } from '../../../support/samples.ts';
import { migratedDatabase, type TestDatabase } from '../../../world/postgres.ts';

const NOON = at('12:00:59');
const ORDER: RefundOrder = {
  refundId: REFUND_ID,
  paymentId: PAYMENT_ID,
  accountId: ACCOUNT_ID,
  mode: 'test',
  amount: toMinor(400),
  currency: 'BRL',
  method: 'PIX',
  strategy: 'cashout',
  destination: '99992222263',
  providerPaymentId: END_TO_END_ID,
};

describe('refunds in the books of the sandbox bank', () => {
  let database: TestDatabase;
  let db: PgSession;
  beforeEach(async () => {
    database = await migratedDatabase();
    db = await PgSession.open(connectionConfig(database.connectionString, 'test'));
  });
  afterEach(async () => {
    await db.close();
    await database.drop();
  });

  /** Returns the ID under which the refund was paid. */
  const paidAs = async (over: Partial<RefundOrder>): Promise<string | null> => {
    const order = { ...ORDER, ...over };
    await takeRefund(db, order);
    const found = await findRefund(db, order, NOON);
    if (found.kind !== 'known' || found.value?.kind !== 'confirmed') throw new Error('not confirmed');
    return found.value.endToEndId;
  };

  it('a Pix-out gets an end-to-end ID with the minute of the decision', async () => {
    const id = await paidAs({});
    expect(id)
      .to.satisfy(isEndToEndId)
      .and.match(/^E99999004202611211200/);
    expect(await paidAs({ refundId: OTHER_REFUND_ID }))
      .to.satisfy(isEndToEndId)
      .and.not.equal(id);
  });
  it('a devolution gets a return ID', async () => {
    const id = await paidAs({ strategy: 'devolution', destination: null });
    expect(id)
      .to.satisfy(isReturnId)
      .and.match(/^D99999004202611211200/);
  });
  it('a card reversal gets no such ID', async () => {
    expect(await paidAs({ method: 'CREDIT_CARD', strategy: 'reversal', destination: null })).to.equal(null);
  });
  it('a refund is processing until it is decided', async () => {
    expect(await takeRefund(db, ORDER)).to.deep.equal({ kind: 'processing' });
    expect(await takeRefund(db, ORDER)).to.deep.equal({ kind: 'processing' });
    expect(await findRefund(db, ORDER, null)).to.deep.equal({ kind: 'known', value: { kind: 'processing' } });
    expect(await decidedStatus(db, ACCOUNT_ID, REFUND_ID)).to.equal(null);
  });
  it('a refund is decided once', async () => {
    expect(await decideRefund(db, ORDER, null, NOON)).to.equal(false);
    await takeRefund(db, ORDER);
    expect(await decideRefund(db, ORDER, 'account closed', NOON)).to.equal(true);
    expect(await decideRefund(db, ORDER, null, NOON)).to.equal(false);
    expect(await findRefund(db, ORDER, NOON)).to.deep.equal({
      kind: 'known',
      value: { kind: 'refused', reason: 'account closed' },
    });
    expect(await decidedStatus(db, ACCOUNT_ID, REFUND_ID)).to.equal('refused');
  });
});
