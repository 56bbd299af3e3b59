// Invariants of the ledger.
import { expect } from 'chai';
import type { TestGateway } from './gateway.ts';

/** Expects that every entry sums to zero per currency, and that balances are the sums of their postings. */
export const expectLedgerBalances = async ({ gateway, storage }: TestGateway): Promise<void> => {
  expect(await gateway.projected.caughtUp(20_000)).to.equal(true);
  const crooked = await storage.reads.query(
    'SELECT payment_id, revision FROM rm_wallet.postings GROUP BY payment_id, revision, currency HAVING sum(amount) <> 0',
  );
  expect(crooked.rows).to.deep.equal([]);
  const wrong = await storage.reads.query(
    `SELECT * FROM (SELECT account_id, mode, currency, ledger_account, sum(amount)::bigint AS posted FROM rm_wallet.postings
       GROUP BY 1, 2, 3, 4) p FULL JOIN rm_wallet.balances b USING (account_id, mode, currency, ledger_account)
     WHERE posted IS DISTINCT FROM amount`,
  );
  expect(wrong.rows).to.deep.equal([]);
};
