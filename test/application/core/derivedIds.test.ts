// Derived ids must never change: any later computation and any later version must derive the same ids. The expected values were computed
// independently in Python.
import { expect } from 'chai';
import fc from 'fast-check';
import { keyOf } from '../../../application/accounts/manageKeys.ts';
import {
  createdIdOf,
  deliveryIdOf,
  documentTokenOf,
  eventIdOf,
  heldPayoutIdOf,
  medCaseIdOf,
  newAccountId,
  overrideSecretIdOf,
  paymentIds,
  refundIdOf,
  returnIdOf,
  sandboxPaymentIdOf,
} from '../../../application/core/derivedIds.ts';
import { signatureHeaders } from '../../../application/webhooks/webhookSignature.ts';
import {
  type AccountId,
  type EndpointId,
  type EventId,
  encodeRawId,
  idIn,
  idInPartition,
  isRawId,
  type PaymentId,
  partitionOf,
} from '../../../domain/kernel/ids.ts';
import { rawId } from '../../support/arbitraryValues.ts';
import { CREATED_AT, END_TO_END_ID, PAYMENT_ID } from '../../support/samples.ts';

const SEED = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='; // bytes 0 to 31
/** Derived from the bytes 0 to 15, in partition 680. */
const accountId = '5a041061050r3gg28a1c60t3gf' as AccountId;
const SEEDED = { accountId, idSeed: SEED };
const ENDPOINT_ID = '00000000000000000000000003' as EndpointId;

describe('derived ids', () => {
  it('of a payment and its txid depend on mode, operation and key', () => {
    const of = (mode: 'test' | 'live', key: string) => paymentIds(SEEDED, mode, 'charges.create', key);
    expect(of('test', 'order-0001')).to.deep.equal({
      paymentId: '5a5rvywqx931879z366jkvaj3f',
      txid: '45e61be2ac03e24e197d9a0f3b0758d3',
    });
    expect(of('live', 'order-0001')).to.deep.equal({
      paymentId: '5a2tfrdp7dt2aray846kkbjyx4',
      txid: '909278b6dcf97b63818423dc99764948',
    });
    expect(of('test', 'order-0002')).to.deep.equal({
      paymentId: '5a1tpdpm2qm0m0tjv1fvxsrqfw',
      txid: 'a5a620cba95172ca478094f76e96d335',
    });
  });
  it('of a payment depend on the account’s seed', () => {
    const other = paymentIds(
      { accountId, idSeed: Buffer.alloc(32).toString('base64') },
      'test',
      'charges.create',
      'order-0001',
    );
    expect(other.paymentId).to.not.equal('5a5rvywqx931879z366jkvaj3f');
    expect(isRawId(other.paymentId)).to.equal(true);
  });
  it('of an event depend on stream, revision and name (W2)', () => {
    expect(eventIdOf(accountId, `payment-${PAYMENT_ID}`, 1, 'charge.created')).to.equal('5a0z0kyftyewydm7bg99q2jadz');
  });
  it('of a delivery depend on event, endpoint and resend (W2)', () => {
    const eventId = '5a0z0kyftyewydm7bg99q2jadz' as EventId;
    expect(deliveryIdOf(accountId, eventId, ENDPOINT_ID, 0)).to.equal('5a3b2ndtv9e4vndafzrfss0pkr');
    expect(deliveryIdOf(accountId, eventId, ENDPOINT_ID, 1)).to.equal('5a7ac9ed1etesqe910fs4raxa7');
    expect(deliveryIdOf(accountId, eventId, 'webhookUrl', 0)).to.equal('5a3b9a7ydg5mgzxt3njeaxpmfj');
  });
  it('of an override secret depend on account and mode (W7)', () => {
    expect(overrideSecretIdOf(accountId, 'test')).to.equal('5a5a1rb2xebw2dm32y8rnrdvrn');
    expect(overrideSecretIdOf(accountId, 'live')).to.equal('5a6qwndntf16h7j9rm5fva8gmx');
  });
  it('of a return depend on payment and Pix', () => {
    expect(returnIdOf(PAYMENT_ID, END_TO_END_ID)).to.equal('aba7b444fc55b57ff09e2dddca64b6aa');
  });
  it('of a retried return also depend on the number of refusals', () => {
    expect(returnIdOf(PAYMENT_ID, END_TO_END_ID, 1)).to.equal('2b6ebfc896b969f46bf2d5efdeb3ab68');
    expect(returnIdOf(PAYMENT_ID, END_TO_END_ID, 2)).to.equal('96e9e3d04a6c524da7ca0cb9a86edd18');
  });
  it('of a payment depend on the creation route', () => {
    const { paymentId } = paymentIds(SEEDED, 'test', 'payments.create', 'order-0001');
    expect(paymentId).to.equal('5a620wt69nwqgzkkxvd1cvphq6');
  });
  it('of a refund depend on mode, payment and key (K1)', () => {
    expect(refundIdOf(SEEDED, 'test', PAYMENT_ID, 'refund-0001')).to.equal('5a5pbq3nxa3mqjm7v2wv2y4gs0');
    expect(refundIdOf(SEEDED, 'live', PAYMENT_ID, 'refund-0001')).to.equal('5a1srrd4aa7abnr4mnewz3qbp8');
  });
  it('of a payout depend on mode and key', () => {
    expect(createdIdOf(SEEDED, 'test', 'payouts.create', 'payout-0001')).to.equal('5a5s66tgy8p736xbsrgrjq9s1a');
    expect(createdIdOf(SEEDED, 'live', 'payouts.create', 'payout-0001')).to.equal('5a52560sahgf8khjyn8dnc8wzw');
  });
  it('of a case depend on mode, payment and the provider’s case id', () => {
    expect(medCaseIdOf(SEEDED, 'test', PAYMENT_ID, 'bank-1')).to.equal('5a1ztd5z6n7247b90spys3fhf0');
  });
  it('of a Pix-out that replaces a return depend on payment, Pix and number of refusals', () => {
    expect(heldPayoutIdOf(accountId, PAYMENT_ID, 'E1', 2)).to.equal('5a5c9byanz70d67h2yx3xvz7qm');
  });
  it('of a payment’s document token depend on the payment', () => {
    expect(documentTokenOf(SEED, PAYMENT_ID)).to.equal('7dq4gn857tzph96xp51gawd447');
  });
  it('of a payment at the sandbox acquirer depend on payment and method (X2)', () => {
    expect(sandboxPaymentIdOf(PAYMENT_ID, 'PIX')).to.equal('sbx_pay_50b5ec40f639096ff675793ffa2b9003');
    expect(sandboxPaymentIdOf(PAYMENT_ID, 'BOLETO')).to.equal('sbx_pay_6ab6868cc8956ccfde82344289be88a7');
  });
});

describe('the id of a new account (I1a)', () => {
  for (const [hex, id] of [
    ['000102030405060708090a0b0c0d0e0f', accountId],
    ['00000000000000000000000000000000', '2q800000000000000000000000'],
    ['ffffffffffffffffffffffffffffffff', '2zzzzzzzzzzzzzzzzzzzzzzzzz'],
  ] as const)
    it(`is ${id} for the bytes ${hex}`, () => void expect(newAccountId(Buffer.from(hex, 'hex'))).to.equal(id));
});

describe('the partition of an account (I1a)', () => {
  const text = fc.string();
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const accounts = fc.oneof(bytes.map(newAccountId), rawId<AccountId>());

  it('is shared by every id that belongs to the account', () => {
    fc.assert(
      fc.property(accounts, bytes, rawId<PaymentId>(), text, fc.nat(), (account, random, paymentId, name, n) => {
        const seeded = { accountId: account, idSeed: Buffer.from(random).toString('base64') };
        const eventId = eventIdOf(account, name, n, name);
        const ids = [
          idIn<EndpointId>(account, random),
          paymentIds(seeded, 'live', 'charges.create', name).paymentId,
          refundIdOf(seeded, 'live', paymentId, name),
          medCaseIdOf(seeded, 'live', paymentId, name),
          heldPayoutIdOf(account, paymentId, name, n),
          overrideSecretIdOf(account, 'live'),
          eventId,
          deliveryIdOf(account, eventId, 'webhookUrl', n),
          keyOf(name, { accountId: account, mode: 'live', at: CREATED_AT }).keyId,
        ];
        expect(ids.filter((id) => !isRawId(id) || partitionOf(id) !== partitionOf(account))).to.deep.equal([]);
      }),
    );
  });
  it('is derived from the other bits of the account’s id, which are unchanged', () => {
    fc.assert(
      fc.property(bytes, bytes, (given, [first = 0, second = 0]) => {
        const other = Uint8Array.from([first, (second & 0xc0) | ((given[1] as number) & 0x3f), ...given.slice(2)]);
        const id = newAccountId(given);
        expect(newAccountId(other)).to.equal(id);
        expect(id).to.equal(idInPartition(partitionOf(id), given));
        expect(id.slice(3)).to.equal(encodeRawId(given).slice(3));
      }),
    );
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
  it('signs `t.body` for the canonical family, as t and v1', () => {
    expect(signatureHeaders({ ...base, family: 'canonical' })).to.deep.equal({
      'x-acme-signature': 't=1795266000,v1=ee49308ec99a2b79dbbd69a9a034c52886c34d70e439b7c03d862126bcc9efd6',
      ...standard,
    });
  });
  it('signs the body for the legacy family, as sha256', () => {
    expect(signatureHeaders({ ...base, family: 'legacy' })).to.deep.equal({
      'x-acme-signature': 'sha256=67ced25b98558898af9b382e89fdf5c211db2cc6ccaa6c049f508a80861f5b30',
      ...standard,
    });
  });
});
