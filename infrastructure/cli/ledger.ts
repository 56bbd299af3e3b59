// The ledger.
import type { CliCommand } from './command.ts';
import { ledgerShow } from './ledgerShow.ts';

const check: CliCommand = {
  name: 'ledger check',
  summary: 'Every entry, and the ledger as a whole, must sum to zero; every balance must be the sum of its postings',
  args: [],
  options: {},
  run: async ({ storage: { reads } }) => {
    const { rows: sums } = await reads.query<{ currency: string; sum: number; postings: number }>(
      'SELECT currency, sum(amount)::bigint AS sum, count(*) AS postings FROM rm_wallet.postings GROUP BY currency ORDER BY currency',
    );
    const { rows: entries } = await reads.query<{ payment_id: string; revision: number; sum: number }>(
      'SELECT payment_id, revision, sum(amount)::bigint AS sum FROM rm_wallet.postings GROUP BY payment_id, revision, currency HAVING sum(amount) <> 0 LIMIT 100',
    );
    const { rows: balances } = await reads.query<{
      account_id: string;
      mode: string;
      currency: string;
      ledger_account: string;
      balance: number;
      postings: number;
    }>(
      `SELECT account_id, mode, currency, ledger_account, coalesce(b.amount, 0)::bigint AS balance, coalesce(p.amount, 0)::bigint AS postings
       FROM rm_wallet.balances b FULL JOIN (
         SELECT account_id, mode, currency, ledger_account, sum(amount) AS amount FROM rm_wallet.postings GROUP BY 1, 2, 3, 4) p
       USING (account_id, mode, currency, ledger_account) WHERE b.amount IS DISTINCT FROM p.amount LIMIT 100`,
    );
    const isBad = entries.length > 0 || balances.length > 0 || sums.some(({ sum }) => sum !== 0);
    const lines = [
      ...sums.map(({ currency, sum, postings }) => `${currency}: ${postings} postings sum to ${sum}`),
      ...entries.map((entry) => `payment-${entry.payment_id}@${entry.revision} sums to ${entry.sum}`),
      ...balances.map(
        (b) =>
          `${b.account_id} ${b.mode} ${b.currency} ${b.ledger_account}: balance ${b.balance}, postings ${b.postings}`,
      ),
      isBad ? 'the ledger does not balance' : 'the ledger balances',
    ];
    return { json: { sums, entries, balances }, text: lines.join('\n'), isBad };
  },
};

export const ledgerCommands: readonly CliCommand[] = [check, ledgerShow];
