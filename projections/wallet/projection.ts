// The ledger and what follows from it: every posting, the balances they sum to, and the tranches still held.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { isOf } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { journalEntry, type LedgerAccount, trancheChange } from '../../domain/ledger/postings.ts';
import type { Projection, ProjectionWriter } from '../engine/projection.ts';

export const walletProjection: Projection = {
  name: 'wallet',
  version: 1,
  categories: ['payment'],
  tables: [
    { name: 'postings', key: ['payment_id', 'revision', 'line'] },
    { name: 'balances', key: ['account_id', 'mode', 'currency', 'ledger_account'] },
    { name: 'held_tranches', key: ['payment_id'] },
  ],
  ddl: (schema) => `
    CREATE TABLE ${schema}.postings (payment_id text COLLATE "C" NOT NULL, revision integer NOT NULL, line smallint NOT NULL,
      account_id text COLLATE "C" NOT NULL, mode text COLLATE "C" NOT NULL, ledger_account text COLLATE "C" NOT NULL,
      currency text COLLATE "C" NOT NULL, amount bigint NOT NULL, at timestamptz NOT NULL, PRIMARY KEY (payment_id, revision, line));
    CREATE TABLE ${schema}.balances (account_id text COLLATE "C" NOT NULL, mode text COLLATE "C" NOT NULL, currency text COLLATE "C" NOT NULL,
      ledger_account text COLLATE "C" NOT NULL, amount bigint NOT NULL, PRIMARY KEY (account_id, mode, currency, ledger_account));
    CREATE TABLE ${schema}.held_tranches (payment_id text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL, currency text COLLATE "C" NOT NULL, amount bigint NOT NULL, release_at timestamptz NOT NULL);
    CREATE INDEX ON ${schema}.held_tranches (account_id, mode, currency, release_at);`,
  writer: (schema) => new WalletWriter(schema),
};

interface PostingRow {
  readonly logged: LoggedEvent;
  readonly line: number;
  readonly ledgerAccount: LedgerAccount;
  readonly currency: string;
  readonly amount: number;
  readonly at: string;
}

class WalletWriter implements ProjectionWriter {
  readonly #schema: string;

  constructor(schema: string) {
    this.#schema = schema;
  }

  reset(): void {} // nothing is remembered

  async apply(events: readonly LoggedEvent[], tx: Sql): Promise<void> {
    const postings = events.flatMap(postingsOf);
    if (postings.length > 0) {
      await this.#insertPostings(postings, tx);
      await this.#addToBalances(postings, tx);
    }
    await this.#holdAndRelease(events, tx);
  }

  async #insertPostings(rows: readonly PostingRow[], tx: Sql): Promise<void> {
    await tx.query({
      name: `insert_postings_${this.#schema}`,
      text: `INSERT INTO ${this.#schema}.postings (payment_id, revision, line, account_id, mode, ledger_account, currency, amount, at)
        SELECT * FROM unnest($1::text[], $2::integer[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::timestamptz[])`,
      values: [
        rows.map((row) => row.logged.subject),
        rows.map((row) => row.logged.revision),
        rows.map((row) => row.line),
        rows.map((row) => row.logged.account),
        rows.map((row) => row.logged.mode),
        rows.map((row) => row.ledgerAccount),
        rows.map((row) => row.currency),
        rows.map((row) => row.amount),
        rows.map((row) => row.at),
      ],
    });
  }

  async #addToBalances(rows: readonly PostingRow[], tx: Sql): Promise<void> {
    await tx.query({
      name: `add_to_balances_${this.#schema}`,
      text: `INSERT INTO ${this.#schema}.balances AS b (account_id, mode, currency, ledger_account, amount)
        SELECT account_id, mode, currency, ledger_account, sum(amount)
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) AS v(account_id, mode, currency, ledger_account, amount)
        GROUP BY 1, 2, 3, 4
        ON CONFLICT (account_id, mode, currency, ledger_account) DO UPDATE SET amount = b.amount + excluded.amount`,
      values: [
        rows.map((row) => row.logged.account),
        rows.map((row) => row.logged.mode),
        rows.map((row) => row.currency),
        rows.map((row) => row.ledgerAccount),
        rows.map((row) => row.amount),
      ],
    });
  }

  async #holdAndRelease(events: readonly LoggedEvent[], tx: Sql): Promise<void> {
    const held: (readonly [string, string, string, string, number, string])[] = [];
    const released: string[] = [];
    for (const logged of events) {
      if (!isOf(logged, 'payment')) continue;
      const { event, subject, account, mode } = logged;
      const change = trancheChange(event);
      if (change?.kind === 'held')
        held.push([subject, account, mode, change.currency, change.amount, change.releaseAt]);
      if (change?.kind === 'released') released.push(subject);
    }
    if (held.length > 0)
      await tx.query(
        `INSERT INTO ${this.#schema}.held_tranches (payment_id, account_id, mode, currency, amount, release_at)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[])`,
        [0, 1, 2, 3, 4, 5].map((column) => held.map((row) => row[column as 0])),
      );
    if (released.length > 0)
      await tx.query(`DELETE FROM ${this.#schema}.held_tranches WHERE payment_id = ANY($1::text[])`, [released]);
  }
}

const postingsOf = (logged: LoggedEvent): PostingRow[] => {
  const entry = isOf(logged, 'payment') ? journalEntry(logged.event) : null;
  return (entry?.postings ?? []).map(({ account, currency, amount }, line) => ({
    logged,
    line,
    ledgerAccount: account,
    currency,
    amount,
    at: (entry as NonNullable<typeof entry>).at,
  }));
};
