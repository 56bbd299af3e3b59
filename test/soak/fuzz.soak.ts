// 20,000 hostile requests over every declared route (test/http/kernel/fuzz.test.ts). REQUESTS and SEED change the run.
process.env['REQUESTS'] ??= '20000';
await import('../http/kernel/fuzz.test.ts');
