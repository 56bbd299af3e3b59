// A log written in bulk (`npm run soak -- bulk`) is one that the program could have written.
import { expect } from 'chai';
import { bulk } from '../bench/bulk.ts';

describe('a log written in bulk', () => {
  it('has the requested events, agrees with read models and ledger, and lets every GET answer', async () => {
    const report = await bulk({ events: 1_000, tenants: 2, verified: null, say: () => undefined });
    expect(report.events).to.be.within(1_000, 2_100);
    expect([report.differences, report.ledgerSum]).to.deep.equal([[], 0]);
    const answered = report.gets.filter(({ status }) => status === 200).map(({ path }) => path);
    expect(answered).to.include.members([
      '/v1/charges',
      '/v1/charges/{id}',
      '/v1/webhooks/deliveries/{id}',
      '/v1/wallets',
    ]);
    expect(report.gets.filter(({ status }) => status !== 200 && status !== 404)).to.deep.equal([]);
  });
});
