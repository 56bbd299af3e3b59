// Requirements of every payment provider, whether the sandbox bank or an institution with the central bank’s API.
import { expect } from 'chai';
import type { InstrumentRequest, Issued, Known, PaymentProvider } from '../../../application/ports/paymentProvider.ts';
import type { PaymentId, RefundId, Tenant } from '../../../domain/kernel/ids.ts';
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';
import { addSeconds, fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import type { RefundOrder } from '../../../domain/refund/refund.ts';

export interface ProviderUnderTest {
  readonly provider: PaymentProvider;
  readonly tenant: Tenant;
  readonly sandbox: InstrumentRequest['sandbox'];
  /** Pays the charge as its payer. Returns the end-to-end id. */
  pay(request: InstrumentRequest, payment: { readonly amount: Minor; readonly paidAt: Timestamp }): Promise<string>;
  /** The payer’s data according to the payer’s bank. */
  readonly payer: { readonly name: string; readonly document: string };
  /** Returns how often a return or refund with this id was made. */
  returnsOf(id: string): Promise<number>;
  close(): Promise<unknown>;
}

const AMOUNT = toMinor(3_700);
const LIFETIME_S = 3_600;
const OTHER_PERSON = '99992222263';

let made = 0;
const newId = (): string => `c${String(++made).padStart(25, '0')}`;

const answerOf = <T>(known: Known<T>): T => {
  if (known.kind === 'unknown') throw new Error('the provider gave no answer');
  return known.value;
};

export const paymentProviderConformance = (name: string, open: () => Promise<ProviderUnderTest>): void => {
  describe(`payment provider: ${name}`, () => {
    let bank: ProviderUnderTest;
    let provider: PaymentProvider;
    before(async () => {
      bank = await open();
      ({ provider } = bank);
    });
    after(() => bank.close());

    const requestOf = (change: Partial<InstrumentRequest> = {}): InstrumentRequest => {
      const now = fromMillis(Date.now());
      return {
        ...bank.tenant,
        txid: newId(),
        method: 'PIX',
        paymentId: newId() as PaymentId,
        amount: AMOUNT,
        currency: 'BRL',
        createdAt: now,
        expiresAt: addSeconds(now, LIFETIME_S),
        lifetimeSeconds: LIFETIME_S,
        debtor: null,
        note: null,
        sandbox: bank.sandbox,
        ...change,
      };
    };
    const issue = async (request: InstrumentRequest): Promise<Issued> => {
      const outcome = await provider.issue(request);
      if (outcome.kind !== 'issued') throw new Error(`the provider says ${outcome.kind}`);
      return outcome.issued;
    };
    const paid = async (amount = AMOUNT) => {
      const request = requestOf();
      await issue(request);
      const paidAt = fromMillis(Date.now());
      return { request, paidAt, endToEndId: await bank.pay(request, { amount, paidAt }) };
    };
    const refundOf = ({ request, endToEndId }: Awaited<ReturnType<typeof paid>>): RefundOrder => ({
      ...bank.tenant,
      refundId: newId() as RefundId,
      paymentId: request.paymentId,
      amount: toMinor(1_200),
      currency: 'BRL',
      method: 'PIX',
      strategy: 'devolution',
      destination: null,
      providerPaymentId: endToEndId,
    });

    it('issues an instrument with the txid, a code for the amount and the full lifetime', async () => {
      const request = requestOf();
      const { instrument, method } = await issue(request);
      if (method !== 'PIX') throw new Error(method);
      expect(instrument).to.include({ provider: provider.name, txid: request.txid });
      expect(instrument.brCode).to.match(/^000201.*540537\.00.*6304[0-9A-F]{4}$/);
      const missing = Date.parse(request.expiresAt) - Date.parse(instrument.expiresAt);
      expect(Math.abs(missing)).to.be.below(60_000);
    });

    it('issues the same instrument again', async () => {
      const request = requestOf();
      const first = await issue(request);
      expect(await issue(request)).to.deep.equal(first);
      expect(answerOf(await provider.findInstrument(request))).to.deep.equal(first);
    });

    it('finds no instrument or payment of a charge that was never issued', async () => {
      const request = requestOf();
      expect(answerOf(await provider.findInstrument(request))).to.equal(null);
      expect(answerOf(await provider.paymentsOf(bank.tenant, request.txid))).to.deep.equal([]);
      expect(answerOf(await provider.findPayment(bank.tenant, 'E99999004202611240100nenhumpixx1'))).to.equal(null);
    });

    it('extends an instrument under its txid, and never shortens it', async () => {
      const request = requestOf();
      const { instrument } = await issue(request);
      const longer = { ...request, expiresAt: addSeconds(instrument.expiresAt, 600) };
      const outcome = await provider.prolong(longer);
      if (outcome.kind !== 'issued') throw new Error(outcome.kind);
      const gained = Date.parse(outcome.issued.instrument.expiresAt) - Date.parse(instrument.expiresAt);
      expect(Math.round(gained / 1_000)).to.equal(600);
      expect(await provider.prolong(longer)).to.deep.equal(outcome);
      expect(await provider.prolong(request)).to.deep.equal(outcome);
    });

    it('cancels an instrument idempotently, and one that never existed', async () => {
      const request = requestOf();
      await issue(request);
      expect(await provider.cancel(request)).to.equal('cancelled');
      expect(await provider.cancel(request)).to.equal('cancelled');
      expect(await provider.cancel(requestOf())).to.equal('cancelled');
    });

    it('returns its own status of an instrument', async () => {
      const request = requestOf();
      await issue(request);
      expect(answerOf(await provider.statusOf(request))?.status).to.equal('ATIVA');
      await bank.pay(request, { amount: AMOUNT, paidAt: fromMillis(Date.now()) });
      expect(answerOf(await provider.statusOf(request))?.status).to.equal('CONCLUIDA');
      expect(await provider.cancel(request)).to.equal('paid');
    });

    it('reports a payment of any amount with its actual time, once', async () => {
      const { request, endToEndId, paidAt } = await paid(toMinor(3_701));
      const found = answerOf(await provider.findPayment(bank.tenant, endToEndId));
      expect(found?.txid).to.equal(request.txid);
      expect(found?.incoming).to.deep.equal({
        method: 'PIX',
        providerPaymentId: endToEndId,
        amount: 3_701,
        payer: bank.payer,
        paidAt,
      });
      expect(found?.isPlain).to.equal(true);
      expect(answerOf(await provider.paymentsOf(bank.tenant, request.txid))).to.deep.equal([found]);
    });

    it('compares the payer with the expected document', async () => {
      const { request, endToEndId, paidAt } = await paid();
      const pix = { txid: request.txid, endToEndId, paidAt };
      const check = async (expectedTaxId: string) =>
        answerOf(await provider.checkPayer(bank.tenant, { ...pix, expectedTaxId }));
      expect(await check(bank.payer.document)).to.equal('match');
      expect(await check(OTHER_PERSON)).to.equal('mismatch');
    });

    it('returns a payment in full, once', async () => {
      const { endToEndId } = await paid();
      const returnId = newId();
      const back = { method: 'PIX', providerPaymentId: endToEndId, returnId, amount: AMOUNT, metadata: null } as const;
      for (let i = 0; i < 3; i++)
        expect((await provider.returnPayment(bank.tenant, back)).kind).to.be.oneOf(['done', 'processing']);
      expect(await bank.returnsOf(returnId)).to.equal(1);
    });

    it('refunds by devolution, once, and reports the outcome', async () => {
      const order = refundOf(await paid());
      expect(answerOf(await provider.findRefund(order))).to.equal(null);
      for (let i = 0; i < 3; i++) expect((await provider.refund(order)).kind).to.be.oneOf(['confirmed', 'processing']);
      const outcome = answerOf(await provider.findRefund(order));
      expect(outcome?.kind).to.equal('confirmed');
      expect(await bank.returnsOf(order.refundId)).to.equal(1);
    });

    it('pays out by Pix if and only if `paysOut` is true', async () => {
      const order: RefundOrder = { ...refundOf(await paid()), strategy: 'cashout', destination: OTHER_PERSON };
      const { kind } = await provider.refund(order);
      expect(kind === 'refused').to.equal(!provider.paysOut);
      const outcome = answerOf(await provider.findRefund(order));
      expect(outcome?.kind ?? 'none').to.equal(provider.paysOut ? 'confirmed' : 'none');
    });

    it('claims a payment for its charge, idempotently', async () => {
      const { request, endToEndId } = await paid();
      expect(await provider.claim(endToEndId, request.paymentId)).to.equal(true);
      expect(await provider.claim(endToEndId, request.paymentId)).to.equal(true);
    });
  });
};
