// Every event that moves money has an explanation (`ledger show`, `audit explain`).

import { expect } from 'chai';
import fc from 'fast-check';
import { AGGREGATES, type EventOf, LEDGER_ACCOUNTS, postingsOf } from '../../../domain/aggregates.ts';
import { LANGUAGES } from '../../../domain/presentation/amount.ts';
import { wordsOfPosting } from '../../../domain/presentation/postingWords.ts';
import { anyEventOf } from '../../support/arbitraries.ts';

describe('ledger explanations', () => {
  for (const { category, serde } of AGGREGATES) {
    const postings = postingsOf(AGGREGATES).get(category);
    if (postings === undefined) continue;
    for (const type of serde.types)
      it(`exist for ${type} if and only if it moves money`, () => {
        const [event] = fc.sample(anyEventOf<keyof EventOf>([type]), { numRuns: 1, seed: 1 });
        if (event === undefined) throw new Error(`no sample of ${type}`);
        expect(typeof postings.whyOf?.(event) === 'string').to.equal(postings.entryOf(event) !== null);
      });
  }
  it('differ between credit and debit, between accounts and between languages', () => {
    const all = LEDGER_ACCOUNTS.flatMap((account) => [wordsOfPosting(account, 1), wordsOfPosting(account, -1)]);
    const texts = all.flatMap((words) => LANGUAGES.map((language) => words[language]));
    expect(new Set(texts).size).to.equal(2 * LEDGER_ACCOUNTS.length * LANGUAGES.length);
  });
});
