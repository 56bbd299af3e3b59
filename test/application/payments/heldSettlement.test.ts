// How an operator settles held money (M10).
import { expect } from 'chai';
import { heldSettlementOf } from '../../../application/payments/heldPayments.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';

const KEY = 'tesouraria@example.com';

describe('heldSettlementOf', () => {
  for (const [name, sent, param] of [
    ['neither pixOut nor writtenOff', { reason: 'x' }, 'pixOut'],
    ['both pixOut and writtenOff', { pixOut: KEY, writtenOff: true, reason: 'x' }, 'pixOut'],
    ['writtenOff: false', { writtenOff: false, reason: 'x' }, 'pixOut'],
    ['an invalid Pix key', { pixOut: '123', reason: 'x' }, 'pixOut'],
    ['a blank reason', { writtenOff: true, reason: ' ' }, 'reason'],
    ['a reason of 501 characters', { writtenOff: true, reason: 'x'.repeat(501) }, 'reason'],
  ] as const)
    it(`rejects with invalid_request: ${name}`, () => {
      const judged = heldSettlementOf(sent);
      expect(isRejection(judged) && [judged.code, judged.param]).to.deep.equal(['invalid_request', param]);
    });
  it('accepts exactly one way with a reason', () => {
    expect(heldSettlementOf({ pixOut: KEY, reason: 'x' })).to.deep.equal({ pixOut: KEY, reason: 'x' });
    expect(heldSettlementOf({ writtenOff: true, reason: 'x' })).to.deep.equal({ pixOut: null, reason: 'x' });
  });
});
