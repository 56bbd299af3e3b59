// Whatever moves money has words (`ledger show`).

import { expect } from 'chai';
import fc from 'fast-check';
import { whatMoved } from '../../../application/operations/ledger.ts';
import { AGGREGATES, type EventOf, LEDGER_ACCOUNTS, postingsOf } from '../../../domain/aggregates.ts';
import { anyEventOf } from '../../support/arbitraries.ts';

describe('words of the ledger', () => {
  for (const { category, serde } of AGGREGATES) {
    const postings = postingsOf(AGGREGATES).get(category);
    if (postings === undefined) continue;
    for (const type of serde.types)
      it(`${type} has some exactly when it moves money`, () => {
        const [event] = fc.sample(anyEventOf<keyof EventOf>([type]), { numRuns: 1, seed: 1 });
        if (event === undefined) throw new Error(`no sample of ${type}`);
        expect(typeof postings.whyOf?.(event) === 'string').to.equal(postings.entryOf(event) !== null);
      });
  }
  it('of a credit are others than of a debit, and of each account others', () => {
    const all = LEDGER_ACCOUNTS.flatMap((account) => [whatMoved(account, 1), whatMoved(account, -1)]);
    expect(new Set(all).size).to.equal(2 * LEDGER_ACCOUNTS.length);
  });
});
