import { expect } from 'chai';
import { EVENT_CATALOGUE, isCatalogued } from '../../../domain/presentation/catalogue.ts';

const CURRENT = [
  'charge.created',
  'charge.paid',
  'charge.failed',
  'charge.expired',
  'payout.created',
  'payout.paid',
  'payout.failed',
  'med_case.created',
  'med_case.updated',
  'med.resolved',
];
const LEGACY = [
  'payment.created',
  'payment.completed',
  'payment.failed',
  'payment.expired',
  'payment.refunded',
  'payment.status_changed',
  'withdrawal.created',
  'withdrawal.completed',
  'withdrawal.failed',
  'withdrawal.status_changed',
];

describe('the event catalogue', () => {
  it('contains the event names of the interface and marks the legacy ones', () => {
    expect(EVENT_CATALOGUE.map(({ event, legacy }) => [event, legacy])).to.deep.equal([
      ...CURRENT.map((event) => [event, undefined]),
      ...LEGACY.map((event) => [event, true]),
    ]);
  });
  it('describes each event in a sentence and has no other fields', () => {
    for (const entry of EVENT_CATALOGUE) {
      expect(Object.keys(entry)).to.deep.equal(
        entry.legacy ? ['event', 'description', 'legacy'] : ['event', 'description'],
      );
      expect(entry.description).to.match(/^[A-Z].*\.$/);
    }
  });
  it('contains its own names and no others', () => {
    for (const event of [...CURRENT, ...LEGACY]) expect(isCatalogued(event), event).to.equal(true);
    for (const event of ['charge.refunded', 'charge', '*', '', 'CHARGE.PAID', 'toString'])
      expect(isCatalogued(event), event).to.equal(false);
  });
});
