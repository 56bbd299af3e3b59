// The same as test/faults/kill9.test.ts, with more kills: SOAK_KILLS (default 50).
import { expect } from 'chai';
import { killRounds } from '../support/killRounds.ts';

describe('repeated kill -9', () => {
  it('loses and duplicates nothing', async function run() {
    this.timeout(0);
    const { otherReplays, unpaid, undelivered, wallet, verify, ledger } = await killRounds(
      Number(process.env['SOAK_KILLS'] ?? 50),
      200,
    );
    expect({
      otherReplays,
      unpaid,
      undelivered,
      differences: verify.differences,
      sums: ledger.sums.map(({ sum }) => sum),
    }).to.deep.equal({
      otherReplays: [],
      unpaid: [],
      undelivered: [],
      differences: [],
      sums: [0],
    });
    expect(wallet.available).to.equal(wallet.expected);
  });
});
