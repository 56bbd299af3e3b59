// Statistics and metrics (contract.md Stats and Metrics, rules T1–T3), and the amount that disputes retain in the wallet.

import { expect } from 'chai';
import { saoPauloDay } from '../../../../domain/kernel/civilDay.ts';
import { bucketOf } from '../../../../projections/stats/buckets.ts';
import { parseTimestamp } from '../../../support/timestamp.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';
import { PayoutDesk } from '../../../world/payoutDesk.ts';

const DAY_SECONDS = 86_400;

interface Stats extends Body {
  readonly dailyVolume: readonly { readonly date: string; readonly currencies: Body }[];
}
type Seen = Pick<PaymentDesk, 'as'>;
interface Metrics extends Body {
  readonly funnel: Body;
  readonly volume: readonly Body[];
  readonly byMethod: readonly Body[];
  readonly timeToPay: Body;
  readonly daily: readonly { readonly date: string; readonly created: number; readonly paid: number }[];
}

describe('statistics and metrics', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const read = async <T>(desk: Seen, path: string): Promise<T> => {
    const { status, body, text } = await gateway.get<T>(path, desk.as);
    expect(status, text).to.equal(200);
    return body;
  };
  const stats = (desk: Seen, query = '') => read<Stats>(desk, `/v1/payments/stats${query}`);
  const metrics = (desk: Seen, query = '') => read<Metrics>(desk, `/v1/payments/metrics${query}`);
  const today = async (desk: Seen): Promise<string> =>
    saoPauloDay(parseTimestamp((await read<{ now: string }>(desk, '/v1/sandbox/clock')).now));
  const charge = async (desk: PaymentDesk, amount: number, body: Body = {}): Promise<string> => {
    const reply = await gateway.charge<{ id: string }>({ amount, ...body }, desk.as);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body.id;
  };
  const pay = async (desk: PaymentDesk, id: string): Promise<void> => {
    const { body, text } = await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, desk.as);
    expect(body['outcome'], text).to.equal('settled');
  };
  /** Returns the civil days up to this one, inclusive. */
  const daysUpTo = (last: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) =>
      new Date(Date.parse(last) - (count - 1 - n) * DAY_SECONDS * 1_000).toISOString().slice(0, 10),
    );
  /** Advances to an hour after the next midnight in São Paulo, so that no midnight falls within a scenario. */
  const toMorning = async (desk: Seen & { advance(seconds: number): Promise<unknown> }): Promise<void> => {
    const { now } = await read<{ now: string }>(desk, '/v1/sandbox/clock');
    const secondOfDay = (Math.floor(Date.parse(now) / 1_000) - 3 * 3_600) % DAY_SECONDS;
    await desk.advance(DAY_SECONDS - secondOfDay + 3_600);
  };

  it('are zeros for every day if an account has no payments', async () => {
    const desk = await PaymentDesk.open(gateway);
    await toMorning(desk);
    const days = daysUpTo(await today(desk), 7);
    expect(await stats(desk)).to.deep.equal({
      totalTransactions: 0,
      paidTransactions: 0,
      todayTransactions: 0,
      successRate: 0,
      volumeByCurrency: [],
      todayVolumeByCurrency: {},
      dailyVolume: days.map((date) => ({ date, currencies: {} })),
      methodBreakdown: [],
    });
    expect(await metrics(desk)).to.deep.equal({
      days: 7,
      currency: null,
      funnel: {
        created: 0,
        awaitingPayment: 0,
        processing: 0,
        paid: 0,
        failed: 0,
        expired: 0,
        cancelled: 0,
        refunded: 0,
        disputed: 0,
        conversionRate: 0,
      },
      volume: [],
      byMethod: [],
      timeToPay: { p50Seconds: null, p90Seconds: null },
      daily: days.map((date) => ({ date, created: 0, paid: 0 })),
    });
  });

  it('count no requested payouts and none of their fees, whatever their outcome (Y4)', async () => {
    const payouts = await PayoutDesk.open(gateway, { available: 0 });
    const { merchant } = payouts;
    const desk = { as: { key: merchant.key }, advance: (seconds: number) => merchant.advance(seconds) };
    await toMorning(desk);
    await payouts.earn(10_000); // by one Pix of 10,111, whose fee is 111
    const date = await today(desk);
    const expected = {
      stats: {
        totalTransactions: 1,
        paidTransactions: 1,
        todayTransactions: 1,
        successRate: 100,
        volumeByCurrency: [{ currency: 'BRL', volume: 10_111, count: 1 }],
        todayVolumeByCurrency: { BRL: 10_111 },
        dailyVolume: [{ date, currencies: { BRL: 10_111 } }],
        methodBreakdown: [{ method: 'PIX', volume: 10_111, count: 1 }],
      },
      metrics: {
        days: 1,
        currency: null,
        funnel: {
          created: 1,
          awaitingPayment: 0,
          processing: 0,
          paid: 1,
          failed: 0,
          expired: 0,
          cancelled: 0,
          refunded: 0,
          disputed: 0,
          conversionRate: 100,
        },
        volume: [
          {
            currency: 'BRL',
            created: 10_111,
            paid: 10_111,
            refunded: 0,
            lost: 0,
            net: 10_000,
            fees: 111,
            averageTicket: 10_111,
          },
        ],
        byMethod: [
          { method: 'PIX', created: 1, paid: 1, conversionRate: 100, volume: [{ currency: 'BRL', volume: 10_111 }] },
        ],
        daily: [{ date, created: 1, paid: 1 }],
      },
    };
    const shown = async () => {
      const { timeToPay, ...rest } = await metrics(desk, '?days=1');
      return { stats: await stats(desk, '?days=1'), metrics: rest };
    };
    expect(await shown()).to.deep.equal(expected);
    const [paid, failed] = [await payouts.payout(), await payouts.payout()];
    expect((await payouts.decide(paid.id, 'confirm')).body.status).to.equal('paid');
    expect((await payouts.decide(failed.id, 'fail')).body.status).to.equal('failed');
    await payouts.payout(); // stays with the bank
    await payouts.settings({ payout_approval_above: 0 });
    const cancelled = await payouts.payout();
    expect((await payouts.post(`/v1/payouts/${cancelled.id}/cancel`)).body['status']).to.equal('cancelled');
    const rejected = await payouts.payout();
    expect((await payouts.review(rejected.id, 'reject')).body.failure_reason).to.equal('rejected');
    await payouts.payout(); // awaits approval
    expect(await payouts.available()).to.equal(10_000 - 3 * 1_050);
    expect(await shown()).to.deep.equal(expected);
  });

  describe('over two days of account time', () => {
    let desk: PaymentDesk;
    let days: string[];

    // Yesterday: one Pix paid, one expired, one card refused. Today: one Pix paid, one card disputed, one Multibanco in euros waiting.
    before(async () => {
      desk = await PaymentDesk.open(gateway);
      await toMorning(desk);
      await pay(desk, await charge(desk, 10_000));
      await charge(desk, 7_000, { expires_in: 60 });
      const refused = await desk.waiting({ ...(ORDERS['CREDIT_CARD'] as Body), amount: 3_000 });
      await desk.act(refused, 'refuse', 'REFUSED');
      await desk.advance(DAY_SECONDS);
      await pay(desk, await charge(desk, 2_501));
      const card = await desk.waiting({ ...(ORDERS['CREDIT_CARD'] as Body), amount: 4_000 });
      await desk.act(card, 'authorize', 'APPROVED');
      await desk.act(card, 'chargeback', 'CHARGEBACK');
      await desk.waiting({ ...(ORDERS['MULTIBANCO'] as Body), amount: 9_000 });
      days = daysUpTo(await today(desk), 7);
    });
    const [PIX_FEES, CARD_FEES] = [110 + 35, 130 + 40];

    it('count created and ever settled payments, and volumes by the day of payment, in stats', async () => {
      const [yesterday, now] = days.slice(-2) as [string, string];
      expect(await stats(desk)).to.deep.equal({
        totalTransactions: 6,
        paidTransactions: 3,
        todayTransactions: 3,
        successRate: 50,
        volumeByCurrency: [{ currency: 'BRL', volume: 16_501, count: 3 }],
        todayVolumeByCurrency: { BRL: 6_501 },
        dailyVolume: days.map((date) => ({
          date,
          currencies: date === yesterday ? { BRL: 10_000 } : date === now ? { BRL: 6_501 } : {},
        })),
        methodBreakdown: [
          { method: 'PIX', volume: 12_501, count: 2 },
          { method: 'CREDIT_CARD', volume: 4_000, count: 1 },
        ],
      });
    });

    it('cover only today in stats of one day; two of three are 67 percent', async () => {
      expect(await stats(desk, '?days=1')).to.deep.equal({
        totalTransactions: 3,
        paidTransactions: 2,
        todayTransactions: 3,
        successRate: 67,
        volumeByCurrency: [{ currency: 'BRL', volume: 6_501, count: 2 }],
        todayVolumeByCurrency: { BRL: 6_501 },
        dailyVolume: [{ date: days.at(-1), currencies: { BRL: 6_501 } }],
        methodBreakdown: [
          { method: 'PIX', volume: 2_501, count: 1 },
          { method: 'CREDIT_CARD', volume: 4_000, count: 1 },
        ],
      });
    });

    it('cover all totals but only the latest 366 days in stats of a longer window', async () => {
      for (const count of [366, 367, 3_650]) {
        const { dailyVolume, ...rest } = await stats(desk, `?days=${count}`);
        expect(dailyVolume.map(({ date }) => date)).to.deep.equal(daysUpTo(days.at(-1) as string, 366));
        expect(rest['totalTransactions']).to.equal(6);
      }
      expect((await metrics(desk, '?days=3650')).daily.length).to.equal(3_650);
    });

    it('include funnel, volumes, methods and days in metrics', async () => {
      const { timeToPay, ...rest } = await metrics(desk);
      expect(rest).to.deep.equal({
        days: 7,
        currency: null,
        funnel: {
          created: 6,
          awaitingPayment: 1,
          processing: 0,
          paid: 3,
          failed: 1,
          expired: 1,
          cancelled: 0,
          refunded: 0,
          disputed: 1,
          conversionRate: 50,
        },
        volume: [
          {
            currency: 'BRL',
            created: 26_501,
            paid: 16_501,
            refunded: 0,
            lost: 0,
            net: 16_501 - PIX_FEES - CARD_FEES,
            fees: PIX_FEES + CARD_FEES,
            averageTicket: 5_500,
          },
          { currency: 'EUR', created: 9_000, paid: 0, refunded: 0, lost: 0, net: 0, fees: 0, averageTicket: 0 },
        ],
        byMethod: [
          { method: 'PIX', created: 3, paid: 2, conversionRate: 67, volume: [{ currency: 'BRL', volume: 12_501 }] },
          {
            method: 'CREDIT_CARD',
            created: 2,
            paid: 1,
            conversionRate: 50,
            volume: [{ currency: 'BRL', volume: 4_000 }],
          },
          { method: 'MULTIBANCO', created: 1, paid: 0, conversionRate: 0, volume: [] },
        ],
        daily: days.map((date, n) => ({ date, created: n >= 5 ? 3 : 0, paid: n === 5 ? 1 : n === 6 ? 2 : 0 })),
      });
      const { p50Seconds, p90Seconds } = timeToPay as { p50Seconds: number; p90Seconds: number };
      expect(p50Seconds).to.be.within(0, 60);
      expect(p90Seconds).to.be.within(p50Seconds, 60);
    });

    it('cover only payments of the given currency in metrics', async () => {
      const euros = await metrics(desk, '?currency=EUR&days=1');
      expect([euros['currency'], euros['days'], euros.funnel, euros.timeToPay]).to.deep.equal([
        'EUR',
        1,
        {
          created: 1,
          awaitingPayment: 1,
          processing: 0,
          paid: 0,
          failed: 0,
          expired: 0,
          cancelled: 0,
          refunded: 0,
          disputed: 0,
          conversionRate: 0,
        },
        { p50Seconds: null, p90Seconds: null },
      ]);
      expect([euros.volume.length, euros.byMethod.length, euros.daily]).to.deep.equal([
        1,
        1,
        [{ date: days.at(-1), created: 1, paid: 0 }],
      ]);
      const unknown = await metrics(desk, '?currency=USD');
      expect([unknown.volume, unknown.byMethod]).to.deep.equal([[], []]);
    });

    it('are zeros for another account and mode', async () => {
      for (const key of [desk.tenant.liveKey, (await gateway.newTenant()).testKey]) {
        const { body } = await gateway.get<Stats>('/v1/payments/stats', { key });
        expect([body['totalTransactions'], body['volumeByCurrency']]).to.deep.equal([0, []]);
        expect((await gateway.get<Metrics>('/v1/payments/metrics', { key })).body.volume).to.deep.equal([]);
      }
    });

    it('leave the disputed card’s amount retained in the wallet', async () => {
      const { body } = await gateway.get('/v1/wallets/balance', desk.as);
      expect([body['retained'], body['currency']]).to.deep.equal([4_000, 'BRL']);
    });
  });

  it('count a later settlement on its own day, and the payment on the day of its creation', async () => {
    const desk = await PaymentDesk.open(gateway);
    await toMorning(desk);
    await desk.advance(DAY_SECONDS / 2);
    const id = await charge(desk, 5_000, { expires_in: 86_400 });
    await desk.advance(DAY_SECONDS - 7_200);
    await pay(desk, id);
    const day = await stats(desk, '?days=1');
    expect([day['totalTransactions'], day['paidTransactions'], day['successRate']]).to.deep.equal([0, 0, 0]);
    expect(day['volumeByCurrency']).to.deep.equal([{ currency: 'BRL', volume: 5_000, count: 1 }]);
    const two = await stats(desk, '?days=2');
    expect([two['totalTransactions'], two['paidTransactions'], two['successRate']]).to.deep.equal([1, 1, 100]);
    const { timeToPay } = await metrics(desk);
    const [from, to] = [DAY_SECONDS - 7_200, DAY_SECONDS - 7_140].map(bucketOf);
    expect(timeToPay['p50Seconds']).to.be.within(from as number, to as number);
  });

  it('deduct refunds from net, not from volume, and Pix-out fees paid by the merchant', async () => {
    const desk = await PaymentDesk.open(gateway);
    await toMorning(desk);
    const [whole, part] = [await charge(desk, 1_000), await charge(desk, 1_000)];
    for (const id of [whole, part]) await pay(desk, id);
    const refund = async (id: string, body: Body): Promise<void> => {
      const idempotencyKey = `refund-of-${id}`;
      const reply = await gateway.post<{ id: string }>(
        `/v1/payments/${id.slice(3)}/refund`,
        { idempotencyKey, ...body },
        desk.as,
      );
      expect(reply.status, reply.text).to.equal(201);
      const done = await gateway.post(`/v1/sandbox/refunds/${reply.body.id}/confirm`, {}, desk.as);
      expect(done.body['status'], done.text).to.equal('REFUNDED');
    };
    await refund(whole, {});
    await refund(part, { amount: 300, passFeeToTenant: true });
    const view = await metrics(desk);
    const fees = 20 + 20 + 50;
    expect(view.volume).to.deep.equal([
      {
        currency: 'BRL',
        created: 2_000,
        paid: 2_000,
        refunded: 1_300,
        lost: 0,
        net: 700 - fees,
        fees,
        averageTicket: 1_000,
      },
    ]);
    expect([view.funnel['paid'], view.funnel['refunded'], view.funnel['conversionRate']]).to.deep.equal([2, 1, 100]);
    expect((await stats(desk))['volumeByCurrency']).to.deep.equal([{ currency: 'BRL', volume: 2_000, count: 2 }]);
    expect((await desk.wallet('BRL'))['available']).to.equal(700 - fees);
  });

  it('deduct only what disputes lost from net, not what is held, won or never held', async () => {
    const desk = await PaymentDesk.open(gateway);
    await toMorning(desk);
    const post = async (path: string, body: Body = {}): Promise<Body> => {
      const reply = await gateway.post<Body>(path, body, desk.as);
      expect(reply.status, reply.text).to.be.oneOf([200, 201]);
      return reply.body;
    };
    const disputed = async (amount?: number): Promise<string> => {
      const id = await charge(desk, 1_000);
      await pay(desk, id);
      return (await post(`/v1/sandbox/charges/${id}/med`, amount === undefined ? {} : { amount }))['id'] as string;
    };
    const decide = (id: string, body: Body) => post(`/v1/sandbox/med/cases/${id}/decide`, body);
    const [lost, accepted, kept, won, , mismatch] = [
      await disputed(),
      await disputed(),
      await disputed(),
      await disputed(),
      await disputed(),
      await disputed(400),
    ];
    // The amount that the bank returned to the payer does not matter.
    await decide(lost, { result: 'agreed', returned_to_payer: 300 });
    await post(`/v1/med/cases/${accepted}/accept`);
    await decide(kept, { result: 'disagreed', returned: false });
    await decide(won, { result: 'disagreed' });
    const [volume] = (await metrics(desk)).volume;
    expect(volume).to.deep.equal({
      currency: 'BRL',
      created: 6_000,
      paid: 6_000,
      refunded: 0,
      lost: 3_000,
      net: 6_000 - 3_000 - 120,
      fees: 120,
      averageTicket: 1_000,
    });
    const headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
    const body = { lost: 250, reason: 'x' };
    const settled = await gateway.post(`/ops/v1/med/cases/${mismatch}/settle`, body, { key: null, headers });
    expect(settled.status, settled.text).to.equal(200);
    expect((await metrics(desk)).volume[0]).to.include({ lost: 3_250, net: 6_000 - 3_250 - 120 });
  });

  for (const route of ['stats', 'metrics'])
    for (const value of ['', '0', '3651', '-1', '1.5', 'week', '99999999999999999999'])
      it(`reject days=${value} for ${route}`, async () => {
        const reply = await gateway.get(`/v1/payments/${route}?days=${value}`);
        expectError(reply, 400, 'invalid_filter', 'days');
      });
  for (const value of ['', 'brl', 'BR', 'ABCDEFGHI', 'B_L', '%00'])
    it(`reject currency=${value} for metrics`, async () => {
      expectError(await gateway.get(`/v1/payments/metrics?currency=${value}`), 400, 'invalid_currency', 'currency');
    });
});
