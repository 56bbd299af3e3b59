// What a timer's job is told (W3): of a delivery, at which instant it was due, and whether that was its turn as a probe.
import { expect } from 'chai';
import { itemOf, parseDeliveryItem, type Timer } from '../../../application/ports/timers.ts';
import { at } from '../../support/samples.ts';

const timer = (more: Partial<Timer>) =>
  ({ kind: 'deliver', key: '2delivery', dueAt: at('13:00:00'), ...more }) as Timer;

describe('the item of a timer’s job', () => {
  it('of a delivery says when it was due, and whether it was held back', () => {
    for (const held of [undefined, true] as const) {
      const item = itemOf(timer(held ? { held } : {}));
      expect(parseDeliveryItem(item)).to.deep.equal({
        id: '2delivery',
        dueAt: at('13:00:00'),
        isProbe: held === true,
      });
    }
  });
  it('of anything else is its key', () =>
    expect(itemOf(timer({ kind: 'expire', key: 'p:BOLETO' }))).to.equal('p:BOLETO'));
  it('a delivery without a timer is its id alone', () =>
    expect(parseDeliveryItem('2delivery')).to.deep.equal({ id: '2delivery', dueAt: null, isProbe: false }));
  it('one whose instant is none is refused', () =>
    expect(() => parseDeliveryItem('2delivery@soon')).to.throw(RangeError));
});
