import { expect } from 'chai';
import {
  type PayoutBody,
  payoutFingerprintFields,
  payoutProblems,
  payoutRequest,
} from '../../../domain/payout/request.ts';

const KEY = 'ana@example.com';
const BODY: PayoutBody = { amount: 1_000, destination: { pix_key: KEY } };

describe('payoutProblems (Y3)', () => {
  for (const key of [
    '12345678909',
    '11222333000181',
    '12ABC34501DE35',
    '+5511987654321',
    '+551133334444',
    KEY,
    '123e4567-e89b-12d3-a456-426614174000',
  ])
    it(`accepts ${key}`, () => expect(payoutProblems({ ...BODY, destination: { pix_key: key } })).to.deep.equal([]));
  for (const key of [
    '',
    '12345678900',
    '123.456.789-09',
    '11222333000180',
    '5511987654321',
    '+5501987654321',
    'Ana@example.com',
    'ana@example',
    '123E4567-E89B-12D3-A456-426614174000',
    ' ana@example.com',
  ])
    it(`rejects ${JSON.stringify(key)}`, () => {
      const [problem] = payoutProblems({ ...BODY, destination: { pix_key: key } });
      expect([problem?.code, problem?.param]).to.deep.equal(['invalid_pix_key', 'destination.pix_key']);
    });
  it('rejects metadata by the same limits as for charges (I11)', () => {
    const metadata = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 1]));
    expect(payoutProblems({ ...BODY, metadata }).map(({ code, param }) => [code, param])).to.deep.equal([
      ['invalid_metadata', 'metadata'],
    ]);
  });
  it('ignores missing fields', () => expect(payoutProblems({})).to.deep.equal([]));
});

describe('payoutRequest', () => {
  it('fills in omitted fields', () => {
    expect(payoutRequest(BODY)).to.deep.equal({
      amount: 1_000,
      currency: 'BRL',
      destination: KEY,
      description: null,
      metadata: {},
    });
  });
  it('removes reserved metadata keys', () => {
    const metadata = { order: 1, med: {}, _mine: 1, description: 'mine' };
    expect(payoutRequest({ ...BODY, metadata }).metadata).to.deep.equal({ order: 1, description: 'mine' });
  });
  it('replaces the description in the metadata by that of the body, whatever its length (I11)', () => {
    const body = { ...BODY, description: 'Repasse', metadata: { order: 1, description: 'x'.repeat(501) } };
    expect(payoutProblems(body)).to.deep.equal([]);
    expect(payoutRequest(body)).to.deep.include({ description: 'Repasse', metadata: { order: 1 } });
    const { description: _, ...without } = body;
    expect(payoutProblems(without)).to.have.length(1);
  });
});

describe('payoutFingerprintFields (K2)', () => {
  const fields = (over: Partial<PayoutBody>) => JSON.stringify(payoutFingerprintFields({ ...BODY, ...over }));
  it('covers every field as sent', () => {
    const others: readonly Partial<PayoutBody>[] = [
      {},
      { amount: 1 },
      { currency: 'BRL' },
      { destination: { pix_key: '12345678909' } },
      { description: 'x' },
      { metadata: {} },
      { metadata: { _mine: 1 } },
    ];
    expect(new Set(others.map(fields)).size).to.equal(others.length);
  });
});
