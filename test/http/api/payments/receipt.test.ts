// GET /v1/payments/{id}/receipt (contract.md Payments): a PDF of a settled payment.
import { expect } from 'chai';
import { pdfText } from '../../../support/pdfText.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';

describe('receipt', () => {
  let gateway: TestGateway;
  let shop: Merchant;
  before(async () => {
    gateway = await openReady();
    shop = await Merchant.open(gateway);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const receiptOf = (id: string) => shop.get<{ contentType: string; base64: string }>(`/v1/payments/${id}/receipt`);
  const pdfOf = async (id: string): Promise<Buffer> => {
    const { status, body, text } = await receiptOf(id);
    expect([status, Object.keys(body), body.contentType], text).to.deep.equal([
      200,
      ['contentType', 'base64'],
      'application/pdf',
    ]);
    const pdf = Buffer.from(body.base64, 'base64');
    expect(pdf.toString('base64')).to.equal(body.base64);
    return pdf;
  };

  it('shows amount, payer, IDs and link of a settled payment, for every form of its ID', async () => {
    const { id } = await shop.charge({ amount: 4_321 });
    await shop.pay(id);
    const pdfs = [await pdfOf(rawIdOf(id)), await pdfOf(id), await pdfOf(`tx_${rawIdOf(id)}`)];
    for (const pdf of pdfs) {
      expect(pdf.subarray(0, 5).toString()).to.equal('%PDF-');
      expect(pdf.toString('latin1').trimEnd().endsWith('%%EOF')).to.equal(true);
      const lines = pdfText(pdf);
      expect(lines).to.include.members([`tx_${rawIdOf(id)}`, 'PAGADOR DE TESTE', 'Pagamento confirmado']);
      expect(lines.join(' '))
        .to.include('43,21')
        .and.include(`/pay/${rawIdOf(id)}`);
      expect(lines.some((line) => /^E99999004\d{12}[A-Za-z0-9]{11}$/.test(line))).to.equal(true);
    }
  });

  it('is available after a refund and shows it', async () => {
    const { id } = await shop.charge();
    await shop.pay(id);
    const path = `/v1/payments/${rawIdOf(id)}/refund`;
    expect((await gateway.post(path, { idempotencyKey: newKey() }, shop)).status).to.equal(201);
    await receiptShowing(id, 'Pagamento devolvido');
  });

  /** Waits until the receipt contains the line. */
  const receiptShowing = async (id: string, line: string) => {
    const look = async () => (pdfText(await pdfOf(id)).includes(line) ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.equal(true);
  };

  it('gets 404 for unsettled and unknown payments and those of another account', async () => {
    const { id } = await shop.charge();
    expectError(await receiptOf(id), 404, 'not_found');
    await gateway.post(`/v1/payments/${rawIdOf(id)}/cancel`, {}, shop);
    expectError(await receiptOf(id), 404, 'not_found');
    for (const bad of ['nonsense', '0'.repeat(26)]) expectError(await receiptOf(bad), 404, 'not_found');
    const paid = await shop.charge();
    await shop.pay(paid.id);
    const { tenant } = await Merchant.open(gateway);
    const reply = await gateway.get<Body>(`/v1/payments/${rawIdOf(paid.id)}/receipt`, { key: tenant.testKey });
    expectError(reply, 404, 'not_found');
  });
});
