// Dispute cases with 100 rounds of each pair of answers at once (`npm run soak -- disputes`); ROUNDS changes how many.
process.env['ROUNDS'] ??= '100';
await import('../http/api/disputes/disputes.test.ts');
