// The law of payouts in 2,000 random histories (`npm run soak -- payoutsLaw`). HISTORIES changes the number.
process.env['HISTORIES'] ??= '2000';
await import('../laws/payouts.test.ts');
