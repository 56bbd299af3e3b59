import { expect } from 'chai';
import { canonicalText } from '../../../application/core/derivedIds.ts';
import {
  type PaymentBody,
  paymentFingerprintFields,
  paymentProblems,
  paymentRequest,
} from '../../../domain/charge/request.ts';

const body = (over: object = {}): PaymentBody =>
  ({ amount: 1_000, paymentMethods: ['PIX'], idempotencyKey: 'key-1234', ...over }) as PaymentBody;
const problems = (over: object) => paymentProblems(body(over)).map(({ code, param }) => [code, param]);
const canonical = (over: object, version = 1) =>
  canonicalText(version, paymentFingerprintFields(paymentRequest(body(over))));

describe('a payment request', () => {
  it('accepts the required fields alone', () => {
    expect(problems({})).to.deep.equal([]);
    expect(paymentRequest(body())).to.deep.equal({
      sent: body(),
      amount: 1_000,
      currency: 'BRL',
      methods: ['PIX'],
      customer: { name: null, document: null, email: null, phone: null },
      customerId: null,
      metadata: {},
      webhookUrl: null,
    });
  });
  it('accepts every field', () => {
    const customer = { customerId: 'u', customerName: 'Ana', customerDocument: 'x', customerEmail: 'a@b.co' };
    const metadata = { phone: '+351912345678', returnUrl: 'https://x.co', _x: 1, description: 'kept' };
    const most = body({
      ...customer,
      currency: 'EUR',
      paymentMethods: ['MBWAY'],
      metadata,
      webhookUrl: 'https://y.co',
    });
    expect(paymentProblems(most)).to.deep.equal([]);
    expect(paymentRequest(most)).to.deep.equal({
      sent: most,
      amount: 1_000,
      currency: 'EUR',
      methods: ['MBWAY'],
      customer: { name: 'Ana', document: 'x', email: 'a@b.co', phone: null },
      customerId: 'u',
      metadata: { phone: '+351912345678', returnUrl: 'https://x.co', description: 'kept' },
      webhookUrl: 'https://y.co',
    });
  });
  it('reports problems in a fixed order', () => {
    const everything = {
      amount: 100_000_000,
      paymentMethods: ['MULTIBANCO', 'MBWAY'],
      customerEmail: 'x',
      metadata: { returnUrl: 'x', phone: 'x', big: 'x'.repeat(9_000) },
    };
    expect(problems(everything)).to.deep.equal([
      ['invalid_amount', 'amount'],
      ['invalid_currency', 'currency'],
      ['invalid_customer', 'customerEmail'],
      ['invalid_url', 'metadata.returnUrl'],
      ['invalid_metadata', 'metadata.phone'],
      ['invalid_metadata', 'metadata'],
    ]);
  });
  it('has a fingerprint of its known fields as sent, in any order, without the idempotency key (K2)', () => {
    const metadata = { b: [2, 1], a: { d: 1, c: 2 }, _stripped: 1 };
    const turned = { metadata: { _stripped: 1, a: { c: 2, d: 1 }, b: [2, 1] }, currency: 'BRL', unknown: 1 };
    expect(canonical({ currency: 'BRL', metadata })).to.equal(canonical(turned));
    const changes = [
      { amount: 1_001 },
      { currency: 'BRL' },
      { paymentMethods: ['PIX', 'BOLETO'] },
      { paymentMethods: ['BOLETO', 'PIX'] },
      { metadata: {} },
      { metadata: { _stripped: 1 } },
      { webhookUrl: 'https://y.co' },
      { customerId: 'x' },
      { customerName: 'x' },
      { customerDocument: 'x' },
      { customerEmail: 'x' },
    ];
    expect(new Set([{}, ...changes].map((change) => canonical(change))).size).to.equal(changes.length + 1);
    expect(canonical({ idempotencyKey: 'another-key' })).to.equal(canonical({}));
    expect(canonical({}, 2)).to.not.equal(canonical({}));
  });
});
