// Derived ids are promises: computed again tomorrow, or by another version, they must be the same.
// The vectors were computed apart, in Python.
import { expect } from 'chai';
import {
  deliveryIdOf,
  documentTokenOf,
  eventIdOf,
  overrideSecretIdOf,
  paymentIds,
  refundIdOf,
  returnIdOf,
  sandboxPaymentIdOf,
} from '../../../application/core/derivedIds.ts';
import { signatureHeaders } from '../../../application/webhooks/webhookSignature.ts';
import type { EndpointId, EventId } from '../../../domain/kernel/ids.ts';
import { isRawId } from '../../../domain/kernel/ids.ts';
import { ACCOUNT_ID, END_TO_END_ID, PAYMENT_ID } from '../../support/samples.ts';

const SEED = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='; // bytes 0 to 31
const ENDPOINT_ID = '00000000000000000000000003' as EndpointId;

describe('derived ids', () => {
  it('of a payment and its txid, by mode, operation and key', () => {
    const of = (mode: 'test' | 'live', key: string) => paymentIds(SEED, mode, 'charges.create', key);
    expect(of('test', 'order-0001')).to.deep.equal({
      paymentId: '0z5rvywqx931879z366jkvaj3f',
      txid: '45e61be2ac03e24e197d9a0f3b0758d3',
    });
    expect(of('live', 'order-0001')).to.deep.equal({
      paymentId: '77jtfrdp7dt2aray846kkbjyx4',
      txid: '909278b6dcf97b63818423dc99764948',
    });
    expect(of('test', 'order-0002')).to.deep.equal({
      paymentId: '5v9tpdpm2qm0m0tjv1fvxsrqfw',
      txid: 'a5a620cba95172ca478094f76e96d335',
    });
  });
  it('of a payment under another seed are others', () => {
    const other = paymentIds(Buffer.alloc(32).toString('base64'), 'test', 'charges.create', 'order-0001');
    expect(other.paymentId).to.not.equal('0z5rvywqx931879z366jkvaj3f');
    expect(isRawId(other.paymentId)).to.equal(true);
  });
  it('of an event, by stream, revision and name (W2)', () => {
    expect(eventIdOf(`payment-${PAYMENT_ID}`, 1, 'charge.created')).to.equal('3wgz0kyftyewydm7bg99q2jadz');
  });
  it('of a delivery, by event, endpoint and resend (W2)', () => {
    const eventId = '3wgz0kyftyewydm7bg99q2jadz' as EventId;
    expect(deliveryIdOf(eventId, ENDPOINT_ID, 0)).to.equal('6k162t78jbck47kbkxpqszh0q3');
    expect(deliveryIdOf(eventId, ENDPOINT_ID, 1)).to.equal('7e2nnf5tc68wvtt9rczcebrx3d');
    expect(deliveryIdOf(eventId, 'webhookUrl', 0)).to.equal('4gzt2wrwk6fg23adtatpt84x79');
  });
  it('of an override secret, by account and mode (W7)', () => {
    expect(overrideSecretIdOf(ACCOUNT_ID, 'test')).to.equal('7aaqkdkbm58tt6zbpevjrqjcgg');
    expect(overrideSecretIdOf(ACCOUNT_ID, 'live')).to.equal('4abak0qvn4fcrgpm0tkzgvzcha');
  });
  it('of a return, by payment and Pix', () => {
    expect(returnIdOf(PAYMENT_ID, END_TO_END_ID)).to.equal('aba7b444fc55b57ff09e2dddca64b6aa');
  });
  it('of a return that was refused before, by the number of refusals too', () => {
    expect(returnIdOf(PAYMENT_ID, END_TO_END_ID, 1)).to.equal('2b6ebfc896b969f46bf2d5efdeb3ab68');
    expect(returnIdOf(PAYMENT_ID, END_TO_END_ID, 2)).to.equal('96e9e3d04a6c524da7ca0cb9a86edd18');
  });
  it('of a payment of the other creation route are others', () => {
    const { paymentId } = paymentIds(SEED, 'test', 'payments.create', 'order-0001');
    expect(paymentId).to.equal('1mp20wt69nwqgzkkxvd1cvphq6');
  });
  it('of a refund, by mode, payment and key (K1)', () => {
    expect(refundIdOf(SEED, 'test', PAYMENT_ID, 'refund-0001')).to.equal('515pbq3nxa3mqjm7v2wv2y4gs0');
    expect(refundIdOf(SEED, 'live', PAYMENT_ID, 'refund-0001')).to.equal('4e1srrd4aa7abnr4mnewz3qbp8');
  });
  it('of what opens a payment’s document, by payment', () => {
    expect(documentTokenOf(SEED, PAYMENT_ID)).to.equal('7dq4gn857tzph96xp51gawd447');
  });
  it('of the sandbox acquirer’s payment, by payment and method (X2)', () => {
    expect(sandboxPaymentIdOf(PAYMENT_ID, 'PIX')).to.equal('sbx_pay_50b5ec40f639096ff675793ffa2b9003');
    expect(sandboxPaymentIdOf(PAYMENT_ID, 'BOLETO')).to.equal('sbx_pay_6ab6868cc8956ccfde82344289be88a7');
  });
});

describe('signatureHeaders (W1)', () => {
  const base = {
    secret: 'ab'.repeat(32),
    body: '{"a":"é"}',
    id: 'evt_00000000000000000000000005',
    atMs: 1_795_266_000_999,
  };
  const standard = {
    'webhook-id': 'evt_00000000000000000000000005',
    'webhook-timestamp': '1795266000',
    'webhook-signature': 'v1,GF3kudxsYGy/+BOpXbyVQDYYumIYjxq8WQR+hR81T0M=',
  };
  it('of the canonical family: t and v1 over `t.body`', () => {
    expect(signatureHeaders({ ...base, family: 'canonical' })).to.deep.equal({
      'x-acme-signature': 't=1795266000,v1=ee49308ec99a2b79dbbd69a9a034c52886c34d70e439b7c03d862126bcc9efd6',
      ...standard,
    });
  });
  it('of the legacy family: sha256 over the body', () => {
    expect(signatureHeaders({ ...base, family: 'legacy' })).to.deep.equal({
      'x-acme-signature': 'sha256=67ced25b98558898af9b382e89fdf5c211db2cc6ccaa6c049f508a80861f5b30',
      ...standard,
    });
  });
});
