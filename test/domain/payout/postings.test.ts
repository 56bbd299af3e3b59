import { expect } from 'chai';
import type { PayoutEvent } from '../../../domain/payout/payout.ts';
import { payoutPostings } from '../../../domain/payout/postings.ts';
import { HISTORIES, type History } from './samples.ts';

const balances = (events: readonly PayoutEvent[]) => {
  const sums: { [account: string]: number } = {};
  for (const event of events)
    for (const { account, currency, amount } of payoutPostings.entryOf(event)?.postings ?? []) {
      expect(currency).to.equal('BRL');
      sums[account] = (sums[account] ?? 0) + amount;
    }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0));
};

const TAKEN = { merchant_available: -1_050, payouts_in_transit: 1_050 };
const GONE = { merchant_available: -1_050, provider_clearing: 1_000, provider_fees: 50 };
const BALANCES: { readonly [name in History]: object } = {
  absent: {},
  abandoned: {},
  awaitingApproval: TAKEN,
  ready: TAKEN,
  approved: TAKEN,
  submitted: TAKEN,
  unknown: TAKEN,
  paid: GONE,
  failed: {},
  paidLate: GONE,
  rejected: {},
  cancelled: {},
};

describe('postings of payouts (Y4)', () => {
  for (const [name, expected] of Object.entries(BALANCES))
    it(`leave ${JSON.stringify(expected)}: ${name}`, () => {
      expect(balances(HISTORIES[name as History])).to.deep.equal(expected);
    });
  it('sum to zero for each event and are dated by it', () => {
    for (const events of Object.values(HISTORIES))
      for (const event of events) {
        const entry = payoutPostings.entryOf(event);
        expect(entry?.postings.reduce((sum, { amount }) => sum + amount, 0) ?? 0, event.type).to.equal(0);
        if (entry !== null) expect(entry.at).to.equal(event.data.at);
      }
  });
});
