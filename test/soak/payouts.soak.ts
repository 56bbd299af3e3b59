// Hundreds of interleavings of each pair of steps of a payout (`npm run soak -- payouts`); RUNS changes how many.
import '../application/payouts/payoutRaces.test.ts';
