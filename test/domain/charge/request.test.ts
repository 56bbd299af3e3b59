import { expect } from 'chai';
import { canonicalText } from '../../../application/core/derivedIds.ts';
import {
  type ChargeBody,
  chargeFingerprintFields,
  chargeProblems,
  chargeRequest,
  METADATA_BYTES_MAX,
} from '../../../domain/charge/request.ts';
import type { Json } from '../../../domain/kernel/json.ts';

const CPF = '99991111140';
const OTHER_CPF = '99992222263';
const body = (over: Partial<ChargeBody> = {}): ChargeBody => ({ amount: 1_000, payment_method: 'pix', ...over });
const codes = (over: Partial<ChargeBody>): readonly (readonly [string, string])[] =>
  chargeProblems(body(over)).map(({ code, param }) => [code, param] as const);
const parsed = (json: string) => JSON.parse(json) as { [key: string]: Json };
const nested = (levels: number): { [key: string]: Json } => parsed(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));
/** Returns `{"a":"…"}` with this size in bytes. */
const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) });

describe('chargeProblems', () => {
  it('accepts the smallest and the fullest request', () => {
    expect(codes({})).to.deep.equal([]);
    const customer = { name: 'Maria', document: '999.911.111-40' };
    expect(
      codes({ customer, expected_payer_tax_id: CPF, metadata: { a: 1 }, description: 'x', expires_in: 60 }),
    ).to.deep.equal([]);
  });

  describe('the payer lock (E3)', () => {
    const name = 'Maria';
    const rows: readonly (readonly [string, Partial<ChargeBody>, readonly (readonly [string, string])[]])[] = [
      ['a CPF', { expected_payer_tax_id: CPF, customer: { name } }, []],
      ['a CNPJ', { expected_payer_tax_id: '11222333000181', customer: { name } }, []],
      ['an alphanumeric CNPJ', { expected_payer_tax_id: '12ABC34501DE35', customer: { name } }, []],
      [
        'a formatted CPF',
        { expected_payer_tax_id: '999.911.111-40', customer: { name } },
        [['invalid_payer_tax_id', 'expected_payer_tax_id']],
      ],
      [
        'wrong check digits',
        { expected_payer_tax_id: '99991111141', customer: { name } },
        [['invalid_payer_tax_id', 'expected_payer_tax_id']],
      ],
      [
        'a CNPJ in lower case',
        { expected_payer_tax_id: '12abc34501de35', customer: { name } },
        [['invalid_payer_tax_id', 'expected_payer_tax_id']],
      ],
      [
        'an empty tax id',
        { expected_payer_tax_id: '', customer: { name } },
        [['invalid_payer_tax_id', 'expected_payer_tax_id']],
      ],
      [
        'a CPF that equals the formatted document',
        { expected_payer_tax_id: CPF, customer: { name, document: '999.911.111-40' } },
        [],
      ],
      [
        'a CPF that differs from the document',
        { expected_payer_tax_id: CPF, customer: { name, document: OTHER_CPF } },
        [['payer_tax_id_mismatch', 'expected_payer_tax_id']],
      ],
      ['a CPF without a customer', { expected_payer_tax_id: CPF }, [['customer_name_required', 'customer.name']]],
      [
        'a CPF with an empty customer name',
        { expected_payer_tax_id: CPF, customer: { name: '' } },
        [['customer_name_required', 'customer.name']],
      ],
    ];
    for (const [name, over, problems] of rows)
      it(`${problems.length === 0 ? 'accepts' : 'rejects'} ${name}`, () => expect(codes(over)).to.deep.equal(problems));
  });

  it('validates the digits and letters of the document, not its punctuation', () => {
    for (const document of ['99991111140', '999.911.111-40', '11.222.333/0001-81', '12.abc.345/01de-35'])
      expect(codes({ customer: { document } }), document).to.deep.equal([]);
    for (const document of ['99991111141', '1', '', '99999999999', 'abc'])
      expect(codes({ customer: { document } }), document).to.deep.equal([['invalid_customer', 'customer.document']]);
  });

  it('reports every problem, in order', () => {
    const over = { customer: { document: '1' }, metadata: keys(51), expected_payer_tax_id: '1' };
    expect(codes(over)).to.deep.equal([
      ['invalid_customer', 'customer.document'],
      ['invalid_metadata', 'metadata'],
      ['invalid_payer_tax_id', 'expected_payer_tax_id'],
      ['customer_name_required', 'customer.name'],
    ]);
  });

  describe('the bounds of metadata (I11)', () => {
    const bad = [['invalid_metadata', 'metadata']];
    const rows: readonly (readonly [string, { [key: string]: Json }, readonly unknown[]])[] = [
      ['50 keys', keys(50), []],
      ['51 keys', keys(51), bad],
      ['50 keys and further reserved ones', { ...keys(50), med: 1, _own: 2, description: 'x' }, []],
      ['8,192 bytes', ofBytes(METADATA_BYTES_MAX), []],
      ['8,193 bytes', ofBytes(METADATA_BYTES_MAX + 1), bad],
      ['8,192 bytes and a long description', { ...ofBytes(METADATA_BYTES_MAX), description: 'y'.repeat(500) }, []],
      ['8,192 characters of two bytes', { a: 'é'.repeat(METADATA_BYTES_MAX - 8) }, bad],
      ['4,096 bytes of two-byte characters', { a: 'é'.repeat((METADATA_BYTES_MAX - 8) / 2) }, []],
      ['8,196 bytes of four-byte characters', { a: '💸'.repeat((METADATA_BYTES_MAX - 8) / 4 + 1) }, bad],
      ['20 levels', nested(20), []],
      ['21 levels', nested(21), bad],
      ['an infinite number', parsed('{"a":{"b":[1e999]}}'), bad],
    ];
    for (const [name, metadata, problems] of rows)
      it(`${problems.length === 0 ? 'accept' : 'reject'} ${name}`, () =>
        expect(codes({ metadata })).to.deep.equal(problems));
  });
});

describe('chargeRequest', () => {
  it('fills in omitted fields', () => {
    expect(chargeRequest(body())).to.deep.equal({
      sent: body(),
      amount: 1_000,
      currency: 'BRL',
      customer: { name: null, document: null, email: null, phone: null },
      expiresInSeconds: null,
      metadata: {},
      expectedPayerTaxId: null,
    });
  });
  it('keeps the fields that were sent', () => {
    const customer = { name: 'Maria', document: '999.911.111-40', email: 'm@example.com', phone: '+55' };
    const sent = body({
      customer,
      expires_in: 60,
      expected_payer_tax_id: CPF,
      description: 'Two coffees',
      metadata: { order: 7 },
    });
    expect(chargeRequest(sent)).to.deep.equal({
      sent,
      amount: 1_000,
      currency: 'BRL',
      customer,
      expiresInSeconds: 60,
      metadata: { order: 7, description: 'Two coffees' },
      expectedPayerTaxId: CPF,
    });
  });
  it('caps expires_in at one day', () => {
    expect(chargeRequest(body({ expires_in: 86_400 })).expiresInSeconds).to.equal(86_400);
    expect(chargeRequest(body({ expires_in: 86_401 })).expiresInSeconds).to.equal(86_400);
  });
  it('removes reserved keys at the top level and prototype keys at every level (I11)', () => {
    const metadata = parsed(`{"med":1,"failure":1,"settlement":1,"provider":1,"fees":1,"_x":1,"_":1,"__proto__":{"a":1},
      "constructor":1,"prototype":1,"a":{"med":2,"_x":3,"__proto__":{"b":1},"list":[{"constructor":1,"kept":4}]},"b":null}`);
    expect(chargeRequest(body({ metadata })).metadata).to.deep.equal({
      a: { med: 2, _x: 3, list: [{ kept: 4 }] },
      b: null,
    });
  });
  it('keeps a description from the metadata unless the request has one', () => {
    expect(chargeRequest(body({ metadata: { description: 'mine' } })).metadata).to.deep.equal({ description: 'mine' });
    expect(chargeRequest(body({ metadata: { description: 'mine' }, description: 'sent' })).metadata).to.deep.equal({
      description: 'sent',
    });
    expect(chargeRequest(body({ metadata: { description: 'mine' }, description: '' })).metadata).to.deep.equal({
      description: '',
    });
  });
});

describe('the fingerprint of a charge (K2)', () => {
  const text = (json: string, version = 1) =>
    canonicalText(version, chargeFingerprintFields(chargeRequest(parsed(json) as unknown as ChargeBody)));
  const plain =
    '{"amount":1000,"payment_method":"pix","customer":{"name":"A","email":"e"},"metadata":{"b":1,"a":{"d":2,"c":3}}}';

  it('has exactly this text; any change would reject repeats of older requests', () => {
    expect(text(plain)).to.equal(
      '1\n{"amount":1000,"customer":{"email":"e","name":"A"},"metadata":{"a":{"c":3,"d":2},"b":1},"payment_method":"pix"}',
    );
  });
  const same: Readonly<Record<string, string>> = {
    'key order, at every level':
      '{"metadata":{"a":{"c":3,"d":2},"b":1},"customer":{"email":"e","name":"A"},"payment_method":"pix","amount":1000}',
    whitespace: plain.replaceAll(':', ' : ').replaceAll(',', ',\n'),
    'unknown fields': plain
      .replace('{"amount"', '{"unknown":1,"object":"charge","amount"')
      .replace('"name"', '"vip":true,"name"'),
  };
  for (const [name, json] of Object.entries(same))
    it(`ignores ${name}`, () => expect(text(json)).to.equal(text(plain)));

  const other: Readonly<Record<string, string>> = {
    'another amount': plain.replace('1000', '1001'),
    'a default that was sent': plain.replace('{"amount"', '{"currency":"BRL","amount"'),
    'a description': plain.replace('{"amount"', '{"description":"","amount"'),
    'an expiry': plain.replace('{"amount"', '{"expires_in":3600,"amount"'),
    'a payer lock': plain.replace('{"amount"', `{"expected_payer_tax_id":"${CPF}","amount"`),
    'a field of the customer less': plain.replace(',"email":"e"', ''),
    'reserved metadata, before stripping': plain.replace('"b":1', '"_b":1'),
    'metadata with another value': plain.replace('"d":2', '"d":"2"'),
    'another order in a list': plain.replace('"b":1', '"b":[1,2]'),
  };
  describe('includes every known field', () => {
    const full: ChargeBody = {
      amount: 1_000,
      currency: 'BRL',
      payment_method: 'pix',
      description: 'd',
      expires_in: 3_600,
      customer: { name: 'A', document: CPF, email: 'e', phone: 'p' },
      expected_payer_tax_id: CPF,
      metadata: { a: 1 },
    };
    const textOf = (sent: object) => text(JSON.stringify(sent));
    for (const field of Object.keys(full))
      it(`${field}`, () => {
        const less = field === 'amount' ? { amount: 999 } : { [field]: undefined };
        expect(textOf({ ...full, ...less })).not.to.equal(textOf(full));
      });
    for (const field of Object.keys(full.customer ?? {}))
      it(`customer.${field}`, () => {
        const without = { ...full, customer: { ...full.customer, [field]: undefined } };
        const changed = { ...full, customer: { ...full.customer, [field]: 'another' } };
        expect(new Set([full, without, changed].map(textOf)).size).to.equal(3);
      });
  });

  for (const [name, json] of Object.entries(other))
    it(`includes ${name}`, () => expect(text(json)).not.to.equal(text(plain)));
  it('includes the order of a list', () => {
    expect(text(plain.replace('"b":1', '"b":[1,2]'))).not.to.equal(text(plain.replace('"b":1', '"b":[2,1]')));
  });
  it('includes an empty object that was sent', () => {
    const least = '{"amount":1000,"payment_method":"pix"}';
    expect(text(least.replace('}', ',"customer":{}}'))).not.to.equal(text(least));
    expect(text(least.replace('}', ',"metadata":{}}'))).not.to.equal(text(least));
  });
  it('distinguishes expires_in values above the cap', () => {
    const least = '{"amount":1000,"payment_method":"pix","expires_in":86400}';
    expect(text(least)).not.to.equal(text(least.replace('86400', '90000')));
  });
  it('depends on the rule version', () => expect(text(plain, 2)).not.to.equal(text(plain, 1)));
});
