// Every category of streams whose events move money.
import type { Category, EventOf } from './aggregates.ts';
import type { Postings } from './ledger/journal.ts';
import { paymentPostings } from './payment/postings.ts';
import { payoutPostings } from './payout/postings.ts';

export const LEDGER = {
  payment: paymentPostings,
  payout: payoutPostings,
} satisfies { readonly [C in Category]?: Postings<EventOf[C]> };
