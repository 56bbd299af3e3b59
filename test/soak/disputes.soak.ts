// The tests of dispute cases, with 100 rounds of each pair of concurrent responses (`npm run soak -- disputes`). ROUNDS changes the
// number.
process.env['ROUNDS'] ??= '100';
await import('../http/api/disputes/disputes.test.ts');
