// Documents that payers can open from the payment page: boleto, receipt, QR code of an address; and which of them show names (I7, P3).
import { expect } from 'chai';
import { renderQrPng } from '../../../../http/site/qrPng.ts';
import { pdfText } from '../../../support/pdfText.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { type Payment, PaymentDesk } from '../../../world/paymentDesk.ts';

const PAYER = { customerName: 'João da Conceição', customerDocument: '123.456.789-09' };

describe('documents for payers', () => {
  let gateway: TestGateway;
  let desk: PaymentDesk;
  before(async () => {
    gateway = await openReady();
    desk = await PaymentDesk.open(gateway);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const open = (path: string) => gateway.get(path, { key: null });
  const bytesOf = async (path: string): Promise<Buffer> => {
    const reply = await fetch(new URL(path, gateway.baseUrl));
    expect([path, reply.status]).to.deep.equal([path, 200]);
    return Buffer.from(await reply.arrayBuffer());
  };
  /** Creates a payment and waits until the acquirer has accepted it. */
  const payment = async (order: Body): Promise<Payment> => desk.read(await desk.waiting({ ...PAYER, ...order }));

  describe('boleto', () => {
    let boleto: Payment;
    const pdfUrl = () => new URL(boleto['boletoPdfUrl'] as string);
    beforeEach(async () => {
      boleto = await payment({ amount: 10_000, paymentMethods: ['BOLETO'] });
    });

    it('names the payer in the PDF behind the merchant’s link', async () => {
      const text = pdfText(await bytesOf(pdfUrl().href)).join('\n');
      expect(text).to.include('João da Conceição · CPF/CNPJ ***.456.789-**');
    });
    it('gets 404 without its token or with another one', async () => {
      const { pathname } = pdfUrl();
      const other = await payment({ amount: 10_000, paymentMethods: ['BOLETO'] });
      const { search } = new URL(other['boletoPdfUrl'] as string);
      for (const query of ['', '?token=', '?token=x', search, `${pdfUrl().search}0`, '?token=a&token=b', '?token[a]=b'])
        expectError(await open(pathname + query), 404, 'not_found');
    });
    it('is linked from the page without the payer’s data, with everything needed to pay', async () => {
      const page = (await open(`/pay/${boleto.id}`)).text;
      const [, link] = /href="([^"]*boleto\.pdf[^"]*)"/.exec(page)!;
      expect(link).to.equal(`/pay/${boleto.id}/public/boleto.pdf`);
      const lines = pdfText(await bytesOf(link!));
      expect(lines).to.include('R$ 100,00').and.include('Não informado');
      expect(lines.join('').replace(/\D/g, '')).to.include(boleto['boletoLine']);
      expect(lines.join('\n')).to.not.match(/Conceição|456\.789/);
      expect(page).to.not.include('token=');
    });
    it('gets 404 once it is paid', async () => {
      await desk.act(boleto.id, 'authorize', 'PAID');
      for (const path of [pdfUrl().pathname + pdfUrl().search, `/pay/${boleto.id}/public/boleto.pdf`])
        expectError(await open(path), 404, 'not_found');
    });
    it('gets 404 once it is canceled', async () => {
      expect((await gateway.post(`/v1/payments/${boleto.id}/cancel`, undefined, desk.as)).status).to.equal(200);
      for (const path of [pdfUrl().pathname + pdfUrl().search, `/pay/${boleto.id}/public/boleto.pdf`])
        expectError(await open(path), 404, 'not_found');
    });
  });

  it('include a QR image of a crypto payment’s address', async () => {
    const { id, cryptoAddress } = await payment({ amount: 10_000, currency: 'USDT', paymentMethods: ['CRYPTO'] });
    const image = await bytesOf(`/pay/${id}/crypto.png`);
    expect(image.equals(await renderQrPng(cryptoAddress as string))).to.equal(true);
  });

  it('include a receipt from the settlement on, also after a refund, without the payer’s name and document', async () => {
    const shop = await Merchant.open(gateway);
    const customer = { name: 'Ana Souza', document: '123.456.789-09' };
    const { id } = await shop.charge({
      amount: 4_321,
      customer,
      metadata: { returnUrl: 'https://loja.example/volta' },
    });
    const path = `/pay/${rawIdOf(id)}/receipt.pdf`;
    expectError(await open(path), 404, 'not_found');
    await shop.pay(id); // the customer is the payer
    const page = (await open(`/pay/${rawIdOf(id)}`)).text;
    expect(page).to.include(`href="${path}"`).and.include('href="https://loja.example/volta"');
    const lines = pdfText(await bytesOf(path));
    expect(lines)
      .to.include('Pagamento confirmado')
      .and.include(`tx_${rawIdOf(id)}`);
    expect(lines.join('\n')).to.not.match(/Ana Souza|456\.789/);
    const refund = await gateway.post(
      `/v1/payments/${id}/refund`,
      { amount: 321, idempotencyKey: `refund-${rawIdOf(id)}` },
      shop,
    );
    expect(refund.status, refund.text).to.equal(201);
    const confirmed = await gateway.post(`/v1/sandbox/refunds/${refund.body['id']}/confirm`, undefined, shop);
    expect(confirmed.status, confirmed.text).to.equal(200);
    expect(pdfText(await bytesOf(path))).to.include('Pagamento confirmado e devolvido parcialmente');
    expect((await open(`/pay/${rawIdOf(id)}`)).text).to.include('Foram devolvidos R$ 3,21 de R$ 43,21.');
  });
});
