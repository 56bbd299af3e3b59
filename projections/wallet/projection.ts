// The ledger, the balances and the held tranches. The postings of one event share a row, which the view `postings` expands, because
// separate rows would mostly consist of keys.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { AGGREGATES, accountsOf, isIdleIn, postingsOf } from '../../domain/aggregates.ts';
import type { AnyAggregate } from '../../domain/kernel/aggregate.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { JournalEntry } from '../../domain/kernel/journal.ts';
import { hashOf } from '../engine/aggregateTable.ts';
import { Additions, addCounts, type CounterTable, counterDdl } from '../engine/counterTable.ts';
import type { Projection } from '../engine/projection.ts';
import { together } from '../engine/together.ts';

const BALANCES: CounterTable<'amount'> = {
  name: 'balances',
  key: ['account_id', 'mode', 'currency', 'ledger_account'],
  counts: ['amount'],
};
const TABLES: Projection['tables'] = [
  { name: 'entries', key: ['stream', 'revision'] },
  { name: BALANCES.name, key: BALANCES.key },
  { name: 'held_tranches', key: ['stream'] },
];

/**
 * Returns SQL for the hash by which a narrow index finds the entries of an account, mode and currency in order of time. An index of the
 * texts takes twice the space.
 */
export const walletHash = (accountId: string, mode: string, currency: string): string =>
  hashOf(`${accountId} || ${mode} || ${currency}`);

/** Returns the wallet of these aggregates, with the accounts that their postings declare. */
export const walletOf = (aggregates: readonly AnyAggregate[]) => ({
  name: 'wallet' as const,
  version: 7,
  categories: [...postingsOf(aggregates).keys()],
  skips: isIdleIn(postingsOf(aggregates)),
  isDecidedOn: true, // operations.reserve_payout (ADR 0013)
  tables: TABLES,
  ddl: (schema: string) => `
    CREATE TYPE ${schema}.ledger_account AS ENUM (${Object.keys(accountsOf(aggregates)).map((account) => `'${account}'`)});
    CREATE TABLE ${schema}.entries (at timestamptz NOT NULL, revision integer NOT NULL, stream text COLLATE "C" NOT NULL,
      payment_id text COLLATE "C", account_id text COLLATE "C" NOT NULL, mode text COLLATE "C" NOT NULL, currency text COLLATE "C" NOT NULL,
      ledger_accounts ${schema}.ledger_account[] NOT NULL, amounts bigint[] NOT NULL, PRIMARY KEY (stream, revision));
    CREATE INDEX ON ${schema}.entries (${walletHash('account_id', 'mode', 'currency')}, at);
    CREATE VIEW ${schema}.postings AS
      SELECT e.stream, e.payment_id, e.revision, (l.number - 1)::integer AS line, e.account_id, e.mode,
        l.ledger_account::text COLLATE "C" AS ledger_account, e.currency, l.amount, e.at
      FROM ${schema}.entries e, unnest(e.ledger_accounts, e.amounts) WITH ORDINALITY AS l (ledger_account, amount, number);
    ${counterDdl(BALANCES, schema)}
    CREATE TABLE ${schema}.held_tranches (stream text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL, currency text COLLATE "C" NOT NULL, amount bigint NOT NULL, release_at timestamptz NOT NULL);
    CREATE INDEX ON ${schema}.held_tranches (account_id, mode, currency, release_at);`,
  writer: (schema: string) => new WalletWriter(schema, aggregates),
});

export const walletProjection: Projection<'wallet'> = walletOf(AGGREGATES);

interface EntryRow {
  readonly logged: LoggedEvent;
  readonly entry: JournalEntry;
  readonly paymentId: PaymentId | null;
  /** Currency of all postings; an event moves money of one currency. */
  readonly currency: string;
}

/** Returns the entries' additions to balances. */
const sumsOf = (entries: readonly EntryRow[]): Additions<'amount'> => {
  const balances = new Additions<'amount'>();
  for (const { logged, entry, currency } of entries)
    for (const { account, amount } of entry.postings)
      balances.add([logged.account, logged.mode, currency, account], { amount });
  return balances;
};

class WalletWriter {
  readonly #schema: string;
  /** By category. */
  readonly #postings: ReturnType<typeof postingsOf>;
  readonly #addToBalances: ReturnType<typeof addCounts<'amount'>>;

  constructor(schema: string, aggregates: readonly AnyAggregate[]) {
    this.#schema = schema;
    this.#addToBalances = addCounts(BALANCES, schema);
    this.#postings = postingsOf(aggregates);
  }

  reset(): void {} // nothing is cached

  async apply(events: readonly LoggedEvent[], tx: Sql): Promise<void> {
    const entries = events.flatMap((logged) => this.#entriesOf(logged));
    const posted =
      entries.length > 0
        ? [() => this.#insertEntries(entries, tx), () => this.#addToBalances(sumsOf(entries), tx)]
        : [];
    await together([...posted, () => this.#holdAndRelease(events, tx)]);
  }

  async #insertEntries(rows: readonly EntryRow[], tx: Sql): Promise<void> {
    const types = [
      'text',
      'text',
      'integer',
      'text',
      'text',
      'text',
      'timestamptz',
      `${this.#schema}.ledger_account[]`,
      'bigint[]',
    ];
    await tx.query({
      name: `insert_entries_${this.#schema}`,
      text: `INSERT INTO ${this.#schema}.entries (stream, payment_id, revision, account_id, mode, currency, at, ledger_accounts, amounts)
        SELECT ${types.map((type, i) => `unnest($${i + 1}::text[])::${type}`)}`,
      values: [
        new TextArray(rows.map(({ logged }) => logged.stream)),
        new TextArray(rows.map(({ paymentId }) => paymentId)),
        new TextArray(rows.map(({ logged }) => String(logged.revision))),
        new TextArray(rows.map(({ logged }) => logged.account)),
        new TextArray(rows.map(({ logged }) => logged.mode)),
        new TextArray(rows.map(({ currency }) => currency)),
        new TextArray(rows.map(({ entry }) => entry.at)),
        new TextArray(rows.map(({ entry }) => `{${entry.postings.map(({ account }) => account)}}`)),
        new TextArray(rows.map(({ entry }) => `{${entry.postings.map(({ amount }) => amount)}}`)),
      ],
    });
  }

  async #holdAndRelease(events: readonly LoggedEvent[], tx: Sql): Promise<void> {
    const held: (readonly [string, string, string, string, number, string])[] = [];
    const released: string[] = [];
    for (const { category, event, stream, account, mode } of events) {
      const change = this.#postings.get(category)?.trancheOf?.(event);
      if (change?.kind === 'held') held.push([stream, account, mode, change.currency, change.amount, change.releaseAt]);
      if (change?.kind === 'released') released.push(stream);
    }
    if (held.length > 0)
      await tx.query(
        `INSERT INTO ${this.#schema}.held_tranches (stream, account_id, mode, currency, amount, release_at)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[])`,
        [0, 1, 2, 3, 4, 5].map((column) => held.map((row) => row[column as 0])),
      );
    if (released.length > 0)
      await tx.query(`DELETE FROM ${this.#schema}.held_tranches WHERE stream = ANY($1::text[])`, [released]);
  }

  #entriesOf(logged: LoggedEvent): readonly EntryRow[] {
    const postings = this.#postings.get(logged.category);
    const entry = postings?.entryOf(logged.event) ?? null;
    const [first] = entry?.postings ?? [];
    if (entry === null || first === undefined) return [];
    const paymentId = postings?.paymentOf?.(logged.subject, logged.event) ?? null;
    return [{ logged, entry, paymentId, currency: first.currency }];
  }
}
