// Hundreds of interleavings of each pair of payout steps (`npm run soak -- payouts`). RUNS changes the number.
import '../application/payouts/payoutRaces.test.ts';
