import { expect } from 'chai';
import { canonicalText } from '../../../application/core/derivedIds.ts';
import {
  type RefundBody,
  refundFingerprintFields,
  refundProblems,
  refundRequest,
} from '../../../domain/refund/request.ts';

const KEY = { idempotencyKey: 'refund-key' };
const textOf = (body: RefundBody): string => canonicalText(1, refundFingerprintFields(body));

describe('a refund request', () => {
  it('without optional fields requests the refundable rest by the default strategy', () => {
    expect(refundProblems(KEY)).to.deep.equal([]);
    expect(refundRequest(KEY)).to.deep.equal({
      amount: null,
      reason: null,
      strategy: null,
      passFeeToTenant: false,
      destinationKey: null,
    });
  });

  it('with all fields keeps them as sent', () => {
    const body: RefundBody = {
      ...KEY,
      amount: 100,
      reason: 'why',
      strategy: 'cashout',
      passFeeToTenant: true,
      destinationKey: 'maria@example.com',
    };
    const { idempotencyKey: _, ...rest } = body;
    expect(refundProblems(body)).to.deep.equal([]);
    expect(refundRequest(body)).to.deep.equal(rest);
  });

  for (const [what, body] of [
    ['that is not a Pix key', { destinationKey: 'nobody' }],
    ['with a devolution', { destinationKey: '99991111140', strategy: 'devolution' }],
  ] as const)
    it(`rejects a destinationKey ${what}`, () => {
      const problems = refundProblems({ ...KEY, ...body });
      expect(problems.map(({ code, param }) => [code, param])).to.deep.equal([['invalid_request', 'destinationKey']]);
    });

  it('has a fingerprint of its known fields except the key, in any order', () => {
    const bodies: readonly Omit<RefundBody, 'idempotencyKey'>[] = [
      {},
      { amount: 1 },
      { amount: 2 },
      { reason: '' },
      { reason: '1' },
      { strategy: 'cashout' },
      { strategy: 'devolution' },
      { passFeeToTenant: false },
      { passFeeToTenant: true },
      { destinationKey: '99991111140' },
      { amount: 1, reason: '1' },
    ];
    const texts = bodies.map((body) => textOf({ ...KEY, ...body }));
    expect(new Set(texts).size).to.equal(bodies.length);
    const again = bodies.map((body) => {
      const turned = Object.fromEntries(Object.entries(body).toReversed());
      return textOf({ unknown: 1, ...turned, idempotencyKey: 'another-key' } as RefundBody);
    });
    expect(again).to.deep.equal(texts);
  });
});
