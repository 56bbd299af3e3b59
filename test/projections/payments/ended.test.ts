// Charges that free their places in the velocity guard (rule E6).
import { expect } from 'chai';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { park, unpark } from '../../../projections/engine/parkedStreams.ts';
import { endedPayments } from '../../../projections/payments/queries.ts';
import {
  ACCOUNT_ID,
  cancelled,
  created,
  expired,
  failed,
  incoming,
  issued,
  LOCKED_TO,
  processing,
  sentBack,
  settled,
} from '../../support/samples.ts';
import { logged, PaymentTables } from './paymentTables.ts';

const ODD = 'NUL \u0000 and half a pair \ud800';
const PAYMENTS: readonly (readonly PaymentEvent[])[] = [
  [issued(), expired()],
  [issued(), processing(), cancelled()],
  [failed()],
  [issued(), expired(), settled()],
  [issued()],
  [issued(), settled({ incoming: incoming({ payer: { name: ODD, document: LOCKED_TO } }) })],
  [issued(), expired(), sentBack('charge_ended')],
];

describe('the query for charges that have ended', () => {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
    const writer = await tables.fresh();
    const steps = PAYMENTS.flatMap((events, n) => {
      const paymentId = `p${n}` as PaymentId;
      return [created({ paymentId, metadata: { odd: ODD } }), ...events].map((event, revision) => ({
        paymentId,
        revision,
        event,
      }));
    });
    await writer.apply(logged({ accountId: ACCOUNT_ID, mode: 'test' }, steps), tables.db);
  });
  after(() => tables.close());

  const among = async (...numbers: number[]) => {
    const { ended, unknown } = await endedPayments(tables.db, numbers.map((n) => `p${n}`) as PaymentId[]);
    return { ended: ended.toSorted(), unknown };
  };

  it('returns those that ended unpaid', async () => {
    const ended = ['p0', 'p1', 'p2', 'p6'];
    expect(await among(0, 1, 2, 3, 4, 5, 6)).to.deep.equal({ ended, unknown: [] });
  });

  it('reports charges unknown to the read model separately', async () => {
    expect(await among(4, 0, 99)).to.deep.equal({ ended: ['p0'], unknown: ['p99'] });
    expect(await among()).to.deep.equal({ ended: [], unknown: [] });
  });

  it('omits charges whose stream is parked, because their state is incomplete', async () => {
    const parked = [0, 98].map((n) => ({
      ...{ consumer: 'payments', stream: PAYMENT.stream(`p${n}` as PaymentId), account: ACCOUNT_ID, mode: 'live' },
      ...{ revision: 2, eventId: 'e', eventType: 'ChargePaid', error: 'x' },
    }));
    await park(tables.db, parked);
    await park(tables.db, [{ ...parked[0]!, consumer: 'wallet', stream: PAYMENT.stream('p1' as PaymentId) }]);
    expect(await among(0, 1, 98, 99)).to.deep.equal({ ended: ['p1'], unknown: ['p99'] });
    for (const { consumer, stream } of parked) await unpark(tables.db, consumer, stream);
    expect(await among(0, 1, 98, 99)).to.deep.equal({ ended: ['p0', 'p1'], unknown: ['p98', 'p99'] });
  });
});
