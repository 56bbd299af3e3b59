// 10,000 interleavings of a cancellation, a payment and an expiry (`npm run soak -- cancelRaces`). RACES changes the number.
process.env['RACES'] ??= '10000';
await import('../application/payments/cancelRaces.test.ts');
