// POST /v1/sandbox/charges/{id}/pay (rule X1) and its effect on the money, both formats and the webhooks (M1, M4, M5, W9).
import { expect } from 'chai';
import { newKey, type Reply, type TestGateway, type TestTenant } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';
import { Receiver, typeOf } from '../../../world/receiver.ts';
import { StoppableClock } from '../../../world/stoppableClock.ts';
import { NO_SCHEDULES } from '../../../world/withoutWorld.ts';

type Body = Record<string, unknown>;
interface Paid {
  readonly end_to_end_id: string | null;
  readonly outcome: string;
  readonly charge: Body;
}
const E2E = /^E99999004\d{12}[A-Za-z0-9]{11}$/;
const CPF = '12345678909';
const ANOTHER = '99992222263';
const LOCK = { expected_payer_tax_id: CPF, customer: { name: 'Ana Souza' } };

describe('sandbox: a payer pays', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let tenant: TestTenant;
  let as: { key: string };

  before(async () => {
    gateway = await openReady();
    receiver = await Receiver.open();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  // Each test has its own account, so its wallet starts empty and its webhooks belong to this test only.
  beforeEach(async () => {
    tenant = await gateway.newTenant();
    as = { key: tenant.testKey };
    const url = `${receiver.url}/${tenant.accountId}`;
    const registered = await gateway.post('/v1/webhooks/endpoints', { url, events: ['*'] }, as);
    expect(registered.status).to.equal(201);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const newCharge = async (body: Body = {}) =>
    (await gateway.charge<Body>({ amount: 10_000, ...body }, as)).body as { id: string } & Body;
  const pay = (id: string, body: unknown = {}): Promise<Reply<Paid>> =>
    gateway.post<Paid>(`/v1/sandbox/charges/${id}/pay`, body, as);
  const paid = async (id: string, body: Body, outcome: string): Promise<Paid> => {
    const reply = await pay(id, body);
    expect([reply.status, reply.body.outcome], reply.text).to.deep.equal([200, outcome]);
    return reply.body;
  };
  const statuses = async (id: string) => [
    (await gateway.get(`/v1/charges/${id}`, as)).body['status'],
    (await gateway.get(`/v1/payments/${rawIdOf(id)}`, as)).body['status'],
  ];
  const available = async () => {
    const { body } = await gateway.get<Body>('/v1/wallets/balance', as);
    expect(body['pending']).to.equal(0);
    return body['available'];
  };
  /** Returns the account’s ledger balances. Expects every event’s postings to sum to zero. */
  const ledger = async (): Promise<Record<string, number>> => {
    expect(await gateway.gateway.projected.caughtUp(20_000)).to.equal(true);
    const unbalanced =
      'SELECT payment_id, revision FROM rm_wallet.postings GROUP BY 1, 2, currency HAVING sum(amount) <> 0';
    expect((await gateway.storage.reads.query(unbalanced)).rows).to.deep.equal([]);
    const { rows } = await gateway.storage.reads.query<{ name: string; amount: number }>(
      'SELECT ledger_account AS name, sum(amount)::bigint AS amount FROM rm_wallet.postings WHERE account_id = $1 GROUP BY 1 HAVING sum(amount) <> 0',
      [tenant.accountId],
    );
    return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]));
  };
  /** Returns the types of all webhooks so far, sorted, after all pending deliveries. */
  const told = async (): Promise<string[]> => {
    expect((await gateway.post('/v1/sandbox/deliveries/flush', {}, as)).body).to.deep.equal({ pending: 0 });
    return mine().map(typeOf).sort();
  };
  const mine = () => receiver.got.filter(({ path }) => path.endsWith(tenant.accountId));
  const CREATED = ['charge.created', 'payment.created'];
  const legacyOf = (type: string) => mine().find((hit) => typeOf(hit) === type)?.body['data'] as Body;

  describe('a settled payment', () => {
    it('appears in both formats, the wallet, the ledger and the webhooks', async () => {
      const charge = await newCharge();
      const { end_to_end_id: endToEndId, charge: shown } = await paid(charge.id, {}, 'settled');
      expect(endToEndId).to.match(E2E);
      expect(shown).to.deep.equal({ ...charge, status: 'paid', settlement: { end_to_end_id: endToEndId } });
      expect((await gateway.get(`/v1/charges/${charge.id}`, as)).body).to.deep.equal(shown);
      const transaction = (await gateway.get(`/v1/payments/${rawIdOf(charge.id)}`, as)).body;
      expect(transaction).to.include({
        status: 'PAID',
        paidWith: 'PIX',
        providerFee: 10,
        platformFee: 100,
        netAmount: 9_890,
      });
      expect(await available()).to.equal(9_890);
      expect(await ledger()).to.deep.equal({
        provider_clearing: -10_000,
        merchant_available: 9_890,
        provider_fees: 10,
        platform_fees: 100,
      });
      expect(await told()).to.deep.equal(
        [...CREATED, 'charge.paid', 'payment.completed', 'payment.status_changed'].sort(),
      );
      const occurredAt = legacyOf('payment.completed')['occurredAt'];
      const settlement = { paidWith: 'PIX', providerFee: 10, platformFee: 100, netAmount: 9_890, occurredAt };
      const completed = {
        transactionId: `tx_${rawIdOf(charge.id)}`,
        amount: 10_000,
        status: 'PAID',
        previousStatus: 'WAITING_PAYMENT',
        ...settlement,
      };
      expect(legacyOf('payment.completed')).to.deep.equal(completed);
      expect(legacyOf('payment.status_changed')).to.deep.equal(completed);
      const canonical = mine().find((hit) => typeOf(hit) === 'charge.paid')?.body as Body;
      expect(canonical['data']).to.deep.equal({ object: shown });
    });
    for (const [amount, providerFee, platformFee, netAmount] of [
      [1, 1, 0, 0],
      [10, 10, 0, 0],
      [11, 10, 0, 1],
      [49, 10, 0, 39],
      [50, 10, 1, 39],
      [150, 10, 2, 138],
      [1_249, 10, 12, 1_227],
      [99_999_999_999, 10, 1_000_000_000, 98_999_999_989],
    ] as const)
      it(`of ${amount} has fees of ${providerFee} and ${platformFee}, net ${netAmount} (M1)`, async () => {
        const { id } = await newCharge({ amount });
        await paid(id, {}, 'settled');
        const { body } = await gateway.get(`/v1/payments/${rawIdOf(id)}`, as);
        expect(body).to.include({ amount, providerFee, platformFee, netAmount });
        expect(await available()).to.equal(netAmount);
      });
    it('may name the raw charge ID, the exact amount, a payer and an end-to-end ID', async () => {
      const { id } = await newCharge();
      const endToEndId = 'E9999900420261121130012345678901';
      const { end_to_end_id } = await paid(
        rawIdOf(id),
        { amount: 10_000, payer: { name: 'X', document: ANOTHER }, end_to_end_id: endToEndId },
        'settled',
      );
      expect(end_to_end_id).to.equal(endToEndId);
    });
    it('is one per charge under concurrency', async () => {
      const [a, b] = [await newCharge(), await newCharge()];
      const outcomes = await Promise.all([pay(a.id), pay(b.id), pay(b.id)]);
      expect(outcomes[0]!.body.outcome).to.equal('settled');
      expect([outcomes[1]!.body.outcome, outcomes[2]!.body.outcome].sort()).to.deep.equal(['returned', 'settled']);
      expect(await available()).to.equal(2 * 9_890);
      expect((await ledger())['payer_returns']).to.equal(undefined);
    });
  });

  describe('a returned payment (M4)', () => {
    for (const amount of [9_999, 10_001, 1, 99_999_999_999])
      it(`of ${amount} instead of 10000 leaves the charge pending`, async () => {
        const { id } = await newCharge();
        const { charge } = await paid(id, { amount }, 'returned');
        expect(charge).to.include({ status: 'pending' });
        expect(charge['settlement']).to.deep.equal({});
        expect(await statuses(id)).to.deep.equal(['pending', 'WAITING_PAYMENT']);
        expect(await available()).to.equal(0);
        expect(await ledger()).to.deep.equal({});
        expect(await told()).to.deep.equal(CREATED);
      });
    it('of a wrong amount lets the right amount settle afterwards', async () => {
      const { id } = await newCharge();
      await paid(id, { amount: 1 }, 'returned');
      await paid(id, {}, 'settled');
      expect(await statuses(id)).to.deep.equal(['paid', 'PAID']);
    });
    it('may be the second payment of a paid charge', async () => {
      const { id } = await newCharge();
      const first = await paid(id, {}, 'settled');
      const second = await paid(id, {}, 'returned');
      expect(second.end_to_end_id).to.not.equal(first.end_to_end_id);
      expect(second.charge).to.deep.equal(first.charge);
      expect(await available()).to.equal(9_890);
      expect(await ledger()).to.deep.equal({
        provider_clearing: -10_000,
        merchant_available: 9_890,
        provider_fees: 10,
        platform_fees: 100,
      });
      expect(await told()).to.deep.equal(
        [...CREATED, 'charge.paid', 'payment.completed', 'payment.status_changed'].sort(),
      );
    });
    it('may be late on a pending charge, which stays pending', async () => {
      const { id } = await newCharge();
      await paid(id, { late: true }, 'returned');
      expect(await statuses(id)).to.deep.equal(['pending', 'WAITING_PAYMENT']);
      expect(await ledger()).to.deep.equal({});
    });
    it('may be late on an expired charge, which stays expired', async () => {
      const { id } = await newCharge({ expires_in: 60 });
      await gateway.post('/v1/sandbox/clock/advance', { seconds: 61 }, as);
      const { charge } = await paid(id, { late: true }, 'returned');
      expect(charge).to.include({ status: 'expired' });
      expect(await statuses(id)).to.deep.equal(['expired', 'EXPIRED']);
      expect(await available()).to.equal(0);
      expect(await ledger()).to.deep.equal({});
      const expired = ['charge.expired', 'payment.expired', 'payment.failed', 'payment.status_changed'];
      expect(await told()).to.deep.equal([...CREATED, ...expired].sort());
      expect((charge['metadata'] as { failure: Body }).failure).to.include({
        providerErrorCode: 'expired',
        ttlSeconds: 60,
      });
    });
  });

  describe('payer lock (M5)', () => {
    it('settles a payment by the right payer', async () => {
      const { id } = await newCharge(LOCK);
      await paid(id, { payer: { document: '123.456.789-09' } }, 'settled');
      expect(await statuses(id)).to.deep.equal(['paid', 'PAID']);
    });
    it('refunds another payer, credits nothing and sends no charge.paid', async () => {
      const { id } = await newCharge(LOCK);
      const { charge } = await paid(id, { payer: { document: ANOTHER } }, 'refunded');
      expect(charge).to.include({ status: 'refunded', expected_payer_tax_id: CPF });
      expect(charge['settlement']).to.deep.equal({});
      expect(JSON.stringify(charge)).to.not.include(ANOTHER);
      expect(await statuses(id)).to.deep.equal(['refunded', 'REFUNDED']);
      expect(await available()).to.equal(0);
      expect(await ledger()).to.deep.equal({});
      const types = await told();
      expect(types.filter((type) => type !== 'payment.status_changed')).to.deep.equal(
        [...CREATED, 'payment.refunded'].sort(),
      );
      const changes = mine()
        .filter((hit) => typeOf(hit) === 'payment.status_changed')
        .map((hit) => hit.body['data'] as Body);
      expect(changes.map((data) => `${data['previousStatus']} ${data['status']}`).sort()).to.deep.equal([
        'PROCESSING REFUNDED',
        'WAITING_PAYMENT PROCESSING',
      ]);
      expect(legacyOf('payment.refunded')).to.include({
        status: 'REFUNDED',
        previousStatus: 'PROCESSING',
        amount: 10_000,
        refundId: null,
        refundedAmount: 10_000,
        refundedTotal: 10_000,
      });
    });
    it('returns a right payment that follows another payer’s', async () => {
      const { id } = await newCharge(LOCK);
      await paid(id, { payer: { document: ANOTHER } }, 'refunded');
      await paid(id, { payer: { document: CPF } }, 'returned');
      expect(await statuses(id)).to.deep.equal(['refunded', 'REFUNDED']);
    });
    it('holds a payment without a document: nothing is credited, and the charge does not expire', async () => {
      const { id } = await newCharge({ ...LOCK, expires_in: 60 });
      const { charge } = await paid(id, { payer: { document: null } }, 'held');
      expect(charge).to.include({ status: 'processing' });
      expect(await ledger()).to.deep.equal({ provider_clearing: -10_000, payer_returns: 10_000 });
      expect(await available()).to.equal(0);
      await gateway.post('/v1/sandbox/clock/advance', { seconds: 100_000 }, as);
      expect(await statuses(id)).to.deep.equal(['processing', 'PROCESSING']);
      expect(await told()).to.deep.equal([...CREATED, 'payment.status_changed'].sort());
      await paid(id, { payer: { document: CPF } }, 'returned');
      expect(await statuses(id)).to.deep.equal(['processing', 'PROCESSING']);
    });
    for (const document of ['***.456.789-**', '', '12345678900'])
      it(`holds a payment whose document identifies no payer (${JSON.stringify(document)})`, async () => {
        await paid((await newCharge(LOCK)).id, { payer: { document } }, 'held');
        expect(await ledger()).to.deep.equal({ provider_clearing: -10_000, payer_returns: 10_000 });
      });
    it('compares documents by their digits and letters', async () => {
      const { id } = await newCharge({ ...LOCK, expected_payer_tax_id: '12ABC34501DE35' });
      await paid(id, { payer: { document: '12.abc.345/01de-35' } }, 'settled');
      await paid((await newCharge(LOCK)).id, { payer: { document: '529.982.247-25' } }, 'refunded');
    });
    it('assumes the customer’s document by default, else the sandbox’s own person', async () => {
      await paid(
        (await newCharge({ ...LOCK, customer: { name: 'Ana', document: '123.456.789-09' } })).id,
        {},
        'settled',
      );
      await paid((await newCharge(LOCK)).id, {}, 'refunded');
      await paid((await newCharge({ ...LOCK, expected_payer_tax_id: '99991111140' })).id, {}, 'settled');
      await paid(
        (await newCharge({ ...LOCK, expected_payer_tax_id: '99991111140' })).id,
        { payer: { name: 'Só nome' } },
        'settled',
      );
    });
    it('is needed to require a document', async () =>
      void (await paid((await newCharge()).id, { payer: { document: null } }, 'settled')));
  });

  describe('a repeated end-to-end ID', () => {
    it('changes nothing on the same charge', async () => {
      const { id } = await newCharge();
      const first = await paid(id, {}, 'settled');
      for (const more of [{}, { amount: 1 }, { payer: { document: null } }, { late: true }]) {
        const again = await paid(id, { end_to_end_id: first.end_to_end_id, ...more }, 'duplicate');
        expect(again).to.deep.equal({ ...first, outcome: 'duplicate' });
      }
      expect(await available()).to.equal(9_890);
    });
    it('leaves another charge pending', async () => {
      const [a, b] = [await newCharge(), await newCharge()];
      const first = await paid(a.id, {}, 'settled');
      const again = await paid(b.id, { end_to_end_id: first.end_to_end_id }, 'duplicate');
      expect(again).to.deep.equal({ end_to_end_id: first.end_to_end_id, outcome: 'duplicate', charge: b });
      expect(await statuses(b.id)).to.deep.equal(['pending', 'WAITING_PAYMENT']);
      expect(await available()).to.equal(9_890);
    });
    it('creates no notification for another charge, even if the first one was deleted', async () => {
      const [a, b] = [await newCharge(), await newCharge()];
      const { end_to_end_id: endToEndId } = await paid(a.id, {}, 'settled');
      const { operations } = gateway.storage;
      const notified = 'operations.provider_notifications WHERE reference = $1';
      await operations.query(`DELETE FROM ${notified}`, [endToEndId]);
      await paid(b.id, { end_to_end_id: endToEndId }, 'duplicate');
      expect((await operations.query(`SELECT FROM ${notified}`, [endToEndId])).rowCount).to.equal(0);
      expect(await available()).to.equal(9_890);
    });
    it('is a duplicate after a return too; 10 concurrent payments settle once', async () => {
      const { id } = await newCharge();
      const back = await paid(id, { amount: 1 }, 'returned');
      await paid(id, { end_to_end_id: back.end_to_end_id }, 'duplicate');
      const endToEndId = 'E99999004202611211300abcdefghijk';
      const replies = await Promise.all(Array.from({ length: 10 }, () => pay(id, { end_to_end_id: endToEndId })));
      const outcomes = replies.map(({ body }) => body.outcome).sort();
      expect(outcomes).to.deep.equal([...Array(9).fill('duplicate'), 'settled']);
      expect(await available()).to.equal(9_890);
    });
    it('is another Pix in another account', async () => {
      const endToEndId = 'E99999004202611211300ABCDEFGHIJK';
      await paid((await newCharge()).id, { end_to_end_id: endToEndId }, 'settled');
      as = { key: (await gateway.newTenant()).testKey };
      await paid((await newCharge()).id, { end_to_end_id: endToEndId }, 'settled');
    });
  });

  describe('refuses a payment', () => {
    it('of an expired charge, after its expiry is recorded', async () => {
      const { id } = await newCharge({ expires_in: 60 });
      await gateway.post('/v1/sandbox/clock/advance', { seconds: 60 }, as);
      const { end_to_end_id, charge } = await paid(id, {}, 'refused');
      expect(end_to_end_id).to.equal(null);
      expect(charge).to.include({ status: 'expired' });
      expect(await ledger()).to.deep.equal({});
    });
    it('of a charge at its expiry, not 1 ms earlier, before the expiry is recorded', async () => {
      const clock = new StoppableClock();
      clock.stop();
      const other = await openReady({ clock, startSchedule: NO_SCHEDULES });
      const shop = await Merchant.open(other);
      const [inTime, late] = [await shop.charge({ expires_in: 60 }), await shop.charge({ expires_in: 60 })];
      clock.pass(59_999);
      await shop.pay(inTime.id);
      clock.pass(1);
      const { body } = await other.post<Paid>(`/v1/sandbox/charges/${late.id}/pay`, {}, shop);
      expect([body.outcome, body.charge['status']]).to.deep.equal(['refused', 'pending']);
      expect(other.faults).to.deep.equal([]);
      await other.close();
    });
    it('of a charge that failed at the provider', async () => {
      const { id } = await newCharge({ metadata: { sandbox_provider: 'rejected' } });
      const { charge } = await paid(id, {}, 'refused');
      expect(charge).to.include({ status: 'failed' });
    });
    it('of a charge without a Pix code', async () => {
      const key = newKey();
      const body = { amount: 5, payment_method: 'pix', metadata: { sandbox_provider: 'unavailable' } };
      expectError(await gateway.post('/v1/charges', body, { ...as, idempotencyKey: key }), 503, 'service_unavailable');
      const { rows } = await gateway.storage.reads.query<{ id: string }>(
        `SELECT replace(stream, 'payment-', '') AS id FROM event_store.events WHERE stream LIKE 'payment-%' ORDER BY position DESC LIMIT 1`,
      );
      await paid(rows[0]!.id, {}, 'refused');
    });
    it('after 100 of one code; a repeat of one of the 100 is a duplicate', async () => {
      const { id } = await newCharge();
      const { end_to_end_id: first } = await paid(id, {}, 'settled');
      await gateway.storage.operations.query(
        `INSERT INTO sandbox_bank.payments (account_id, provider_payment_id, txid, amount, paid_at)
         SELECT p.account_id, n, p.txid, 1, now() FROM sandbox_bank.payments p, generate_series(1, 98) n WHERE provider_payment_id = $1`,
        [first],
      );
      const { end_to_end_id: last } = await paid(id, {}, 'returned');
      await paid(id, {}, 'refused');
      await paid(id, { late: true }, 'refused');
      await paid(id, { end_to_end_id: last as string }, 'duplicate');
    });
  });

  describe('a request', () => {
    const bad: readonly (readonly [unknown, string, string?])[] = [
      [{ amount: 0 }, 'invalid_amount', 'amount'],
      [{ amount: '1' }, 'invalid_amount', 'amount'],
      [{ amount: null }, 'invalid_amount', 'amount'],
      [{ amount: 100_000_000_000 }, 'invalid_amount', 'amount'],
      [{ payer: 'Ana' }, 'invalid_request', 'payer'],
      [{ payer: { name: 5 } }, 'invalid_request', 'payer.name'],
      [{ payer: { name: 'x'.repeat(201) } }, 'invalid_request', 'payer.name'],
      [{ payer: { name: '\u0000' } }, 'invalid_request', 'payer.name'],
      [{ payer: { document: 5 } }, 'invalid_request', 'payer.document'],
      [{ end_to_end_id: 'E1' }, 'invalid_request', 'end_to_end_id'],
      [{ end_to_end_id: 'D99999004202611211300abcdefghijk' }, 'invalid_request', 'end_to_end_id'],
      [{ end_to_end_id: 'E99999004202602301300abcdefghijk' }, 'invalid_request', 'end_to_end_id'],
      [{ end_to_end_id: null }, 'invalid_request', 'end_to_end_id'],
      [{ late: 'yes' }, 'invalid_request', 'late'],
      [[], 'invalid_request'],
      [{ amount: 0, late: 1 }, 'invalid_request'],
    ];
    it('gets 400 for an invalid body and pays nothing', async () => {
      const { id } = await newCharge();
      for (const [body, code, param] of bad) expectError(await pay(id, body), 400, code as 'invalid_request', param);
      expectError(
        await gateway.call('POST', `/v1/sandbox/charges/${id}/pay`, {
          ...as,
          raw: '{',
          headers: { 'content-type': 'application/json' },
        }),
        400,
        'invalid_json',
      );
      expect(await statuses(id)).to.deep.equal(['pending', 'WAITING_PAYMENT']);
      expect((await gateway.call<Paid>('POST', `/v1/sandbox/charges/${id}/pay`, as)).body.outcome).to.equal('settled'); // no body at all
    });
    it('gets 403 with a live key', async () => {
      const { id } = await newCharge();
      expectError(
        await gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, { key: tenant.liveKey }),
        403,
        'mode_not_allowed',
      );
    });
  });
});
