// The aggregate of payouts.
import { aggregate } from '../kernel/aggregate.ts';
import { PREFIX } from '../kernel/ids.ts';
import { PAYOUT_ERRORS } from './errors.ts';
import { PAYOUT_GROUPS, type PayoutId, payout, payoutSerde } from './payout.ts';
import { payoutPostings } from './postings.ts';
import { payoutPublisher } from './presentation.ts';

export const PAYOUT = aggregate<PayoutId>()({
  category: 'payout',
  idPrefix: PREFIX.payout,
  decider: payout,
  serde: payoutSerde,
  isSealed: true,
  groups: PAYOUT_GROUPS,
  postings: payoutPostings,
  publisher: payoutPublisher,
  errors: PAYOUT_ERRORS,
});
