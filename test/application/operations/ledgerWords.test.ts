// Whatever moves money has words (`ledger show`).

import { expect } from 'chai';
import fc from 'fast-check';
import { whatMoved } from '../../../application/operations/ledger.ts';
import { LEDGER_ACCOUNTS } from '../../../domain/aggregates.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { journalEntry, whyMoved } from '../../../domain/payment/postings.ts';
import { anyEventOf } from '../../support/arbitraries.ts';

describe('words of the ledger', () => {
  for (const type of Object.keys(PAYMENT.serde.table))
    it(`${type} has some exactly when it moves money`, () => {
      const [event] = fc.sample(anyEventOf<'payment'>([type]), { numRuns: 1, seed: 1 });
      if (event === undefined) throw new Error(`no sample of ${type}`);
      expect(whyMoved(event) !== null).to.equal(journalEntry(event) !== null);
    });
  it('of a credit are others than of a debit, and of each account others', () => {
    const all = LEDGER_ACCOUNTS.flatMap((account) => [whatMoved(account, 1), whatMoved(account, -1)]);
    expect(new Set(all).size).to.equal(2 * LEDGER_ACCOUNTS.length);
  });
});
