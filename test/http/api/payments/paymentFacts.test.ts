import { expect } from 'chai';
import type { ChargeTerms } from '../../../../domain/charge/charge.ts';
import type { AccountId, PaymentId } from '../../../../domain/kernel/ids.ts';
import type { Json } from '../../../../domain/kernel/json.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { boletoFactsOf, returnUrlOf } from '../../../../http/site/paymentFacts.ts';
import { parseTimestamp } from '../../../support/timestamp.ts';
import { OTHERS } from '../../site/checkoutView.ts';

const termsOf = (metadata: ChargeTerms['metadata'] = {}): ChargeTerms => ({
  paymentId: '01hzy3v7q9k2m4n6p8r0s2t4v6' as PaymentId,
  accountId: '0'.repeat(26) as AccountId,
  mode: 'test',
  connectionId: null,
  amount: toMinor(100),
  currency: 'BRL',
  methods: ['BOLETO'],
  customer: { name: 'Ana Souza', document: '123.456.789-09', email: null, phone: null },
  customerId: null,
  metadata,
  expectedPayerTaxId: null,
  expiresInSeconds: 3_600,
  txid: '0'.repeat(32),
  baseUrl: 'https://pay.example',
  api: 'charges',
  webhookUrl: null,
  createdAt: parseTimestamp('2026-11-21T13:00:00.000Z'),
});

describe('data for the payer’s pages', () => {
  it('takes a boleto’s numbers and due time from the boleto, the rest from the charge', () => {
    expect(
      boletoFactsOf(termsOf(), OTHERS.boleto, { merchantName: 'Padaria São João', taxId: '12ABC34501DE35' }),
    ).to.deep.equal({
      mode: 'test',
      line: OTHERS.boleto.line,
      barcode: OTHERS.boleto.barcode,
      amount: 100,
      issuedAt: '2026-11-21T13:00:00.000Z',
      dueAt: OTHERS.boleto.expiresAt,
      merchantName: 'Padaria São João',
      merchantTaxId: '12ABC34501DE35',
      payerName: 'Ana Souza',
      payerDocument: '123.456.789-09',
      transactionId: 'tx_01hzy3v7q9k2m4n6p8r0s2t4v6',
    });
  });

  const urls: [Json, string | null][] = [
    ['https://loja.example/volta?a=1', 'https://loja.example/volta?a=1'],
    ['http://localhost:3000', 'http://localhost:3000/'],
    ['HTTPS://LOJA.example/ç', 'https://loja.example/%C3%A7'],
    ['https://loja.example@evil.example/', null],
    ['https://evil.example/\u202ea', null],
    ['javascript:alert(1)', null],
    [' javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['//loja.example', null],
    ['loja.example', null],
    ['', null],
    [null, null],
    [7, null],
    [{ href: 'https://loja.example' }, null],
  ];
  for (const [url, expected] of urls)
    it(`has the return URL ${expected} for ${JSON.stringify(url)}`, () => {
      expect(returnUrlOf(termsOf({ returnUrl: url }))).to.equal(expected);
    });
  it('has no return URL if none was sent', () => expect(returnUrlOf(termsOf())).to.equal(null));
});
