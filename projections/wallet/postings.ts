// The postings of one payment, for whoever wants its numbers explained.
import type { Sql } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { LedgerAccount } from '../../domain/ledger/postings.ts';

export interface KeptPosting {
  /** Of the event in the payment's stream. */
  readonly revision: number;
  readonly line: number;
  readonly account: LedgerAccount;
  readonly currency: string;
  readonly amount: number;
}

/** In the order of their events. */
export const findPostings = async (db: Sql, id: PaymentId): Promise<readonly KeptPosting[]> => {
  const { rows } = await db.query<KeptPosting>(
    `SELECT revision, line, ledger_account AS account, currency, amount FROM rm_wallet.postings
     WHERE payment_id = $1 ORDER BY revision, line`,
    [id],
  );
  return rows;
};
