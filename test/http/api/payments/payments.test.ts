// POST /v1/payments (contract.md Payments, rules I8, I8a, P3–P5, W9, W10): the intent is stored at once, the fields of each method after
// acquirers have accepted it.

import { expect } from 'chai';
import { type CivilZone, endOfCivilDay, saoPauloDay } from '../../../../domain/kernel/civilDay.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import type { Minor } from '../../../../domain/kernel/money.ts';
import { addMillis, HOUR_MS, MINUTE_MS, type Timestamp } from '../../../../domain/kernel/time.ts';
import { dueFactor, isBoletoBarcode } from '../../../../domain/methods/boleto.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { barcodeOfLine, isBoletoLine } from '../../../support/boletoLine.ts';
import { isMultibancoReference } from '../../../support/multibancoReference.ts';
import { parseBrCode } from '../../../support/pix/brCodeParse.ts';
import { parseTimestamp } from '../../../support/timestamp.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { ORDERS, type Payment, PaymentDesk, PHONE } from '../../../world/paymentDesk.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { Receiver, typeOf } from '../../../world/receiver.ts';

/** Fields that depend on the method, as null. */
const NO_FIELDS = {
  pixQrCode: null,
  pixCopyPaste: null,
  pixExpiresAt: null,
  cardRedirectUrl: null,
  mbEntity: null,
  mbReference: null,
  mbExpiresAt: null,
  boletoBarcode: null,
  boletoLine: null,
  boletoPdfUrl: null,
  boletoExpiresAt: null,
  cryptoAddress: null,
  cryptoAmount: null,
  cryptoNetwork: null,
  cryptoCurrency: null,
};
const UNPAID = {
  paidWith: null,
  providerFee: null,
  platformFee: null,
  netAmount: null,
  amountRefunded: 0,
  paidAt: null,
};

describe('payments', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let desk: PaymentDesk;
  before(async () => {
    gateway = await openReady();
    receiver = await Receiver.open();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  beforeEach(async () => {
    desk = await PaymentDesk.open(gateway);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const typesOf = (id: string) => eventTypes(gateway, PAYMENT.stream(id as PaymentId));
  const plus = (createdAt: unknown, ms: number): string => addMillis(parseTimestamp(createdAt as string)!, ms);
  /** Returns the end of the third civil day after creation. */
  const dueDayEnd = (createdAt: unknown, zone: CivilZone): string => endOfCivilDay(createdAt as Timestamp, 3, zone);

  describe('creation', () => {
    it('returns the creation fields only, with status PENDING', async () => {
      const sent = {
        amount: 12_345,
        currency: 'BRL',
        paymentMethods: ['BOLETO', 'PIX'],
        customerId: 'user-1',
        customerName: 'Ana Souza',
        customerDocument: '123.456.789-00',
        customerEmail: 'ana@example.com',
        metadata: { order: { n: 1 }, _hidden: 1 },
        webhookUrl: 'https://example.com/only-this',
      };
      const created = await desk.create(sent);
      const { id, createdAt } = created;
      expect(id).to.match(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(created).to.deep.equal({
        id,
        status: 'PENDING',
        amount: 12_345,
        currency: 'BRL',
        paymentMethods: ['BOLETO', 'PIX'],
        customerName: 'Ana Souza',
        customerDocument: '123.456.789-00',
        customerEmail: 'ana@example.com',
        metadata: { order: { n: 1 } },
        createdAt,
      });
      const read = await desk.until(id, 'WAITING_PAYMENT');
      expect(read).to.include({
        ...created,
        status: 'WAITING_PAYMENT',
        metadata: read['metadata'],
        paymentMethods: read['paymentMethods'],
      });
      expect(Object.keys(read).sort()).to.deep.equal(
        [...Object.keys(created), ...Object.keys(NO_FIELDS), ...Object.keys(UNPAID)].sort(),
      );
    });
    it('returns null for fields that were not sent', async () => {
      const { id, createdAt, ...created } = await desk.create({ amount: 1, paymentMethods: ['CREDIT_CARD'] });
      expect(created).to.deep.equal({
        status: 'PENDING',
        amount: 1,
        currency: 'BRL',
        paymentMethods: ['CREDIT_CARD'],
        customerName: null,
        customerDocument: null,
        customerEmail: null,
        metadata: {},
      });
    });
    it('sends webhooks once the payment can be paid, with the merchant’s customer ID (K7, W10)', async () => {
      await desk.listen(receiver);
      const id = await desk.waiting({ ...ORDERS['BOLETO'], customerId: 'user-7' });
      await receiver.until((hit) => desk.hits(receiver).includes(hit) && typeOf(hit) === 'payment.created');
      expect(await desk.told(receiver)).to.deep.equal(['charge.created', 'payment.created']);
      const dataOf = (type: string) => desk.hits(receiver).find((hit) => typeOf(hit) === type)?.body['data'] as Body;
      const { createdAt } = await desk.read(id);
      const { occurredAt, ...told } = dataOf('payment.created');
      expect(Date.parse(occurredAt as string)).to.be.at.least(Date.parse(createdAt as string));
      expect(told).to.deep.equal({
        transactionId: `tx_${id}`,
        amount: 10_000,
        status: 'WAITING_PAYMENT',
        previousStatus: 'WAITING_PAYMENT',
        customerId: 'user-7',
      });
      expect(dataOf('charge.created')).to.deep.equal({
        object: (await gateway.get(`/v1/charges/${id}`, desk.as)).body,
      });
    });
    it('returns 422 in live mode without a provider and leaves the key free', async () => {
      const body = { ...ORDERS['CREDIT_CARD'], idempotencyKey: newKey() };
      for (let i = 0; i < 2; i++)
        expectError(
          await gateway.post('/v1/payments', body, { key: desk.tenant.liveKey }),
          422,
          'unprocessable_entity',
        );
      expect((await desk.ask(body)).headers.get('idempotent-replayed')).to.equal(null);
    });
  });

  describe('the fields of a method (P3, P5)', () => {
    const read = async (method: string, more: Body = {}): Promise<Payment> =>
      desk.read(await desk.waiting({ ...ORDERS[method], ...more }));
    const fieldsOf = (payment: Payment) =>
      Object.fromEntries(Object.entries(payment).filter(([name]) => name in NO_FIELDS));

    it('are a BR code, its image, and the account’s expiry for PIX', async () => {
      const payment = await read('PIX');
      const parsed = parseBrCode(payment['pixCopyPaste'] as string);
      expect(parsed.ok && parsed.brCode).to.include({ amount: 10_000 });
      expect(payment['pixQrCode']).to.match(/^data:image\/png;base64,[A-Za-z0-9+/]+=*$/);
      expect(fieldsOf(payment)).to.deep.equal({
        ...NO_FIELDS,
        pixCopyPaste: payment['pixCopyPaste'],
        pixQrCode: payment['pixQrCode'],
        pixExpiresAt: plus(payment['createdAt'], HOUR_MS),
      });
    });
    it('are a redirect URL for CREDIT_CARD', async () => {
      const payment = await read('CREDIT_CARD');
      const cardRedirectUrl = `${gateway.baseUrl}/pay/${payment.id}/card`;
      expect(fieldsOf(payment)).to.deep.equal({ ...NO_FIELDS, cardRedirectUrl });
    });
    it('are all null for MBWAY', async () => expect(fieldsOf(await read('MBWAY'))).to.deep.equal(NO_FIELDS));
    it('are entity, amount-bound reference and the end of the due day in Lisbon for MULTIBANCO', async () => {
      const payment = await read('MULTIBANCO', { amount: 99_999_999 });
      const { mbEntity, mbReference } = payment as unknown as { mbEntity: string; mbReference: string };
      expect([mbEntity, mbReference]).to.satisfy(() =>
        isMultibancoReference(mbEntity, mbReference, 99_999_999 as Minor),
      );
      expect(isMultibancoReference(mbEntity, mbReference, 99_999_998 as Minor)).to.equal(false);
      const mbExpiresAt = dueDayEnd(payment['createdAt'], 'Europe/Lisbon');
      expect(fieldsOf(payment)).to.deep.equal({ ...NO_FIELDS, mbEntity, mbReference, mbExpiresAt });
    });
    it('are line, barcode with the amount, PDF URL and the end of the due day in São Paulo for BOLETO', async () => {
      const payment = await read('BOLETO', { amount: 9_999_999_999 });
      const { boletoLine, boletoBarcode, boletoPdfUrl } = payment as unknown as { [name: string]: string };
      expect([isBoletoLine(boletoLine!), isBoletoBarcode(boletoBarcode!)]).to.deep.equal([true, true]);
      const [address, token] = boletoPdfUrl!.split('?token=');
      expect(address).to.equal(`${gateway.baseUrl}/pay/${payment.id}/boleto.pdf`);
      expect(token).to.match(/^[0-9a-z]{26}$/);
      expect(barcodeOfLine(boletoLine!)).to.equal(boletoBarcode);
      expect(boletoBarcode!.slice(9, 19)).to.equal('9999999999');
      expect(fieldsOf(payment)).to.deep.equal({
        ...NO_FIELDS,
        boletoLine,
        boletoBarcode,
        boletoPdfUrl,
        boletoExpiresAt: dueDayEnd(payment['createdAt'], 'America/Sao_Paulo'),
      });
      const dueDay = saoPauloDay(payment['boletoExpiresAt'] as Timestamp);
      expect(boletoBarcode!.slice(5, 9)).to.equal(String(dueFactor(dueDay)));
    });
    for (const [cryptoCurrency, cryptoNetwork, address, cryptoAmount] of [
      ['USDT', 'TRON', /^T[1-9A-HJ-NP-Za-km-z]{33}$/, '0.010000'],
      ['USDC', 'SOLANA', /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, '0.010000'],
      ['BTC', 'BITCOIN', /^bc1q[02-9ac-hj-np-z]{38}$/, '0.00010000'],
    ] as const)
      it(`are an address and an amount of ${cryptoCurrency} for CRYPTO`, async () => {
        const payment = await read('CRYPTO', { currency: cryptoCurrency });
        const { cryptoAddress } = payment as unknown as { cryptoAddress: string };
        expect(cryptoAddress).to.match(address);
        const crypto = { cryptoAddress, cryptoAmount, cryptoNetwork, cryptoCurrency };
        expect(fieldsOf(payment)).to.deep.equal({ ...NO_FIELDS, ...crypto });
      });
    it('are filled for each of several methods; charge routes show the first method (I8)', async () => {
      const brl = await read('PIX', { paymentMethods: ['BOLETO', 'CREDIT_CARD', 'PIX'] });
      const filled = Object.keys(NO_FIELDS).filter((name) => /^(pix|card|boleto)/.test(name));
      for (const name of Object.keys(NO_FIELDS)) expect(brl[name] !== null, name).to.equal(filled.includes(name));
      const eur = await read('MULTIBANCO', { paymentMethods: ['MBWAY', 'MULTIBANCO'], metadata: { phone: PHONE } });
      expect([eur['mbEntity'] !== null, eur['pixCopyPaste']]).to.deep.equal([true, null]);
      const charge = (await gateway.get<Body>(`/v1/charges/${brl.id}`, desk.as)).body;
      expect(charge).to.deep.include({ id: `ch_${brl.id}`, status: 'pending', payment_method: 'boleto', metadata: {} });
      expect(charge['pix']).to.deep.include({ br_code: brl['pixCopyPaste'], expires_at: brl['pixExpiresAt'] });
      const other = (await gateway.get<Body>(`/v1/charges/${eur.id}`, desk.as)).body;
      expect(other).to.include({ payment_method: 'mbway', currency: 'EUR' });
      expect(other).to.not.have.property('pix');
    });
  });

  describe('a payment expires with its last instrument (I8a, P5)', () => {
    const LIFETIMES: readonly (readonly [Body, number])[] = [
      [ORDERS['CREDIT_CARD'] as Body, 30 * MINUTE_MS],
      [ORDERS['MBWAY'] as Body, 30 * MINUTE_MS],
      [ORDERS['CRYPTO'] as Body, HOUR_MS],
      [ORDERS['PIX'] as Body, HOUR_MS],
    ];
    const DUE_DAYS: readonly (readonly [Body, CivilZone])[] = [
      [ORDERS['MULTIBANCO'] as Body, 'Europe/Lisbon'],
      [{ ...ORDERS['BOLETO'], paymentMethods: ['BOLETO', 'PIX'] }, 'America/Sao_Paulo'],
    ];
    it('after each method’s own lifetime', async () => {
      const ids = await Promise.all(LIFETIMES.map(([order]) => desk.waiting(order)));
      let passedMs = 0;
      for (const untilMs of [30 * MINUTE_MS, HOUR_MS]) {
        await desk.advance((untilMs - passedMs) / 1_000 - 30);
        const statuses = async () => Promise.all(ids.map(async (id) => (await desk.read(id)).status));
        const expected = (isAfter: boolean) =>
          LIFETIMES.map(([, ms]) => (ms < untilMs || (isAfter && ms === untilMs) ? 'EXPIRED' : 'WAITING_PAYMENT'));
        expect(await statuses()).to.deep.equal(expected(false));
        await desk.advance(30);
        passedMs = untilMs;
        expect(await statuses()).to.deep.equal(expected(true));
      }
    });
    for (const [order, zone] of DUE_DAYS)
      it(`at the end of its due day in ${zone} and not before`, async () => {
        const id = await desk.waiting(order);
        const end = dueDayEnd((await desk.read(id))['createdAt'], zone);
        const { now } = (await gateway.get<{ now: string }>('/v1/sandbox/clock', desk.as)).body;
        await desk.advance(Math.floor((Date.parse(end) - Date.parse(now)) / 1_000) - 30);
        expect((await desk.read(id)).status).to.equal('WAITING_PAYMENT');
        await desk.advance(31);
        expect((await desk.read(id)).status).to.equal('EXPIRED');
      });
  });

  describe('with provider failures (X6)', () => {
    const troubled = (kind: string, paymentMethods = ['BOLETO', 'PIX']): Body => ({
      amount: 500,
      paymentMethods,
      metadata: { sandbox_provider: kind },
    });
    it('slow, timeout: goes from PENDING to WAITING_PAYMENT without a repeat, with one instrument each', async () => {
      const goesOn = async (kind: string) => {
        const { id } = await desk.create(troubled(kind));
        expect((await desk.read(id)).status).to.equal('PENDING');
        const { boletoBarcode, boletoExpiresAt, pixCopyPaste } = await desk.until(id, 'WAITING_PAYMENT');
        expect(pixCopyPaste).to.be.a('string');
        // The spare time requested from a provider does not move the due day.
        const dueDay = saoPauloDay(boletoExpiresAt as Timestamp);
        expect(String(boletoBarcode).slice(5, 9)).to.equal(String(dueFactor(dueDay)));
        expect(await typesOf(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued', 'ChargeInstrumentIssued']);
      };
      await Promise.all(['slow', 'timeout'].map(goesOn));
    });
    it('rejected: becomes REFUSED, sends charge.failed and payment.failed, never charge.created', async () => {
      await desk.listen(receiver);
      const { id } = await desk.create(troubled('rejected'));
      await desk.until(id, 'REFUSED');
      await receiver.until((hit) => desk.hits(receiver).includes(hit) && typeOf(hit) === 'payment.failed');
      expect(await desk.told(receiver)).to.deep.equal(['charge.failed', 'payment.failed', 'payment.status_changed']);
      const { body } = await gateway.get<Body>(`/v1/charges/${id}`, desk.as);
      expect([body['status'], (body['metadata'] as { failure: Body }).failure['providerErrorCode']]).to.deep.equal([
        'failed',
        'rejected',
      ]);
    });
    it('unavailable: stays PENDING without blocking the clock, then REFUSED within 10 minutes of account time (K7)', async () => {
      const { id } = await desk.create(troubled('unavailable', ['CREDIT_CARD']));
      await desk.advance(500);
      expect(await desk.read(id)).to.include({ status: 'PENDING', cardRedirectUrl: null });
      await desk.advance(100);
      const { status, createdAt } = await desk.read(id);
      const { body } = await gateway.get<Body>(`/v1/charges/${id}`, desk.as);
      const { failure } = body['metadata'] as { failure: Body };
      expect([status, failure['providerErrorCode'], failure['at']]).to.deep.equal([
        'REFUSED',
        'not_confirmed',
        plus(createdAt, 9 * MINUTE_MS),
      ]);
    });
  });

  it('are finalized promptly, also 20 concurrent ones', async () => {
    const created = await Promise.all(Array.from({ length: 20 }, () => desk.create(ORDERS['BOLETO'] as Body)));
    const all = async () => {
      const seen = await Promise.all(created.map(({ id }) => desk.read(id)));
      return seen.every(({ status }) => status === 'WAITING_PAYMENT') ? true : null;
    };
    expect(await pollUntil(gateway.gateway.projected, 20_000, all)).to.equal(true);
  });
});
