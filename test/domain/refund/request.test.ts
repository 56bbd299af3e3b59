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

describe('a refund’s body', () => {
  it('with nothing but its key asks for all that is left, by the method’s own way', () => {
    expect(refundProblems(KEY)).to.deep.equal([]);
    expect(refundRequest(KEY)).to.deep.equal({
      amount: null,
      reason: null,
      strategy: null,
      passFeeToTenant: false,
      destinationKey: null,
    });
  });

  it('with everything is taken as it is', () => {
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
    ['that is no Pix key', { destinationKey: 'nobody' }],
    ['with a devolution', { destinationKey: '99991111140', strategy: 'devolution' }],
  ] as const)
    it(`is refused for a destinationKey ${what}`, () => {
      const problems = refundProblems({ ...KEY, ...body });
      expect(problems.map(({ code, param }) => [code, param])).to.deep.equal([['invalid_request', 'destinationKey']]);
    });

  it('is the same request whatever its key, its order and what is unknown; another with every known field', () => {
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
