// What lists of payments search and sort by, one narrow row a payment, beside the wide one that holds its state: sorting a million
// payments by any field reads these rows only. No index by id: a payment's row is found by its creation time, as lists read it.
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { type ExistingPayment, exists, type PaymentState } from '../../domain/payment/payment.ts';
import { documentKeyOf } from '../../domain/pix/taxId.ts';
import { transactionStatus } from '../../domain/presentation/status.ts';
import { methodFields, type TransactionView } from '../../domain/presentation/transaction.ts';
import type { AggregateChange, AggregateRow, DerivedTable } from '../engine/aggregateTable.ts';

/** Characters of the metadata's JSON that sorting by it looks at: an object has no order of its own. */
const METADATA_START = 64;

interface ListedColumn {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'timestamptz' | 'jsonb';
  readonly of: (payment: ExistingPayment) => string | number | null;
}

/**
 * Finds a tenant's customer, newest payment first, by an index on a hash that PostgreSQL keeps (0.8 µs a row), so that the index stays
 * small; the key decides. `tenantAndKey` is the placeholder of account, mode and key in one text, `key` that of the key alone.
 */
export const isOfCustomer = (tenantAndKey: string, key: string): string =>
  `customer_hash = hashtextextended(${tenantAndKey}, 0) AND customer_key = ${key}`;

/** Values of the methods that most payments don't name, kept in one column that is null for a Pix. */
type OtherField = Extract<
  keyof TransactionView,
  `card${string}` | `mb${string}` | `boleto${string}` | `crypto${string}`
>;

/** null: the payment has no instrument but Pix. */
const otherFieldsOf = ({
  charge: { instruments },
}: ExistingPayment): { readonly [F in OtherField]: string | null } | null => {
  if (instruments.acquirerInstruments.length === 0) return null;
  const { pixQrCode: _qr, pixCopyPaste: _code, pixExpiresAt: _expiry, ...others } = methodFields(instruments);
  return others;
};

const settlementOf = ({ transaction }: ExistingPayment) =>
  transaction.status === 'settled' ? transaction.settlement : null;

// Those of a fixed length first: reading a column steps over those before it.
const COLUMNS: readonly ListedColumn[] = [
  { name: 'created_at', type: 'timestamptz', of: ({ charge }) => charge.terms.createdAt },
  { name: 'amount', type: 'bigint', of: ({ charge }) => charge.terms.amount },
  { name: 'provider_fee', type: 'bigint', of: (payment) => settlementOf(payment)?.providerFee ?? null },
  { name: 'platform_fee', type: 'bigint', of: (payment) => settlementOf(payment)?.platformFee ?? null },
  { name: 'paid_at', type: 'timestamptz', of: (payment) => settlementOf(payment)?.incoming.paidAt ?? null },
  { name: 'pix_expires_at', type: 'timestamptz', of: ({ charge }) => charge.instruments.pix?.expiresAt ?? null },
  { name: 'status', type: 'text', of: transactionStatus },
  { name: 'currency', type: 'text', of: ({ charge }) => charge.terms.currency },
  { name: 'methods', type: 'text', of: ({ charge }) => charge.terms.methods.join() },
  { name: 'paid_with', type: 'text', of: (payment) => settlementOf(payment)?.method ?? null },
  { name: 'customer_name', type: 'text', of: ({ charge }) => charge.terms.customer.name },
  { name: 'customer_document', type: 'text', of: ({ charge }) => charge.terms.customer.document },
  { name: 'customer_key', type: 'text', of: ({ charge }) => documentKeyOf(charge.terms.customer.document ?? '') },
  { name: 'customer_email', type: 'text', of: ({ charge }) => charge.terms.customer.email },
  { name: 'pix_copy_paste', type: 'text', of: ({ charge }) => charge.instruments.pix?.brCode ?? null },
  {
    name: 'metadata_start',
    type: 'text',
    of: ({ charge }) => JSON.stringify(charge.terms.metadata).slice(0, METADATA_START).toWellFormed(),
  },
  {
    name: 'other_fields',
    type: 'jsonb',
    of: (payment) => {
      const fields = otherFieldsOf(payment);
      return fields && JSON.stringify(fields);
    },
  },
  { name: 'txid', type: 'text', of: ({ charge }) => charge.terms.txid },
];

const KEY = ['account_id', 'mode', 'created_at', 'id'] as const;

// Lists are newest first and read these indexes backwards: what is new goes to the end of a tenant's part, where pages fill up in turn.
// The index by txid costs a charge 12 µs of PostgreSQL's time at 1,000,000 payments; as a B-tree it would cost 13 to 16, and twice as much
// again whenever a row changes. A payment that was searched for without it took 10 to 40 s.
const ddl = (schema: string): string => {
  const [createdAt, ...others] = COLUMNS.map(
    ({ name, type }) => `${name} ${type}${type === 'text' ? ' COLLATE "C"' : ''}`,
  );
  return `CREATE TABLE ${schema}.listed (${createdAt} NOT NULL, ${others.slice(0, 5)},
      customer_hash bigint GENERATED ALWAYS AS (hashtextextended(account_id || mode || customer_key, 0)) STORED, id text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL, mode text COLLATE "C" NOT NULL, ${others.slice(5)});
    CREATE UNIQUE INDEX ON ${schema}.listed (account_id, mode, created_at, id DESC);
    CREATE INDEX ON ${schema}.listed (account_id, mode, status, created_at, id DESC);
    CREATE INDEX ON ${schema}.listed (customer_hash, created_at) WHERE customer_hash IS NOT NULL;
    CREATE INDEX ON ${schema}.listed USING hash (txid);`;
};

type Existing = AggregateRow<PaymentState> & { readonly state: ExistingPayment };
type Rows = readonly (readonly [id: string, row: Existing])[];

interface Statement {
  readonly name: string;
  readonly text: string;
}

const NAMES = ['id', 'account_id', 'mode', ...COLUMNS.map(({ name }) => name)];
const TYPES = ['text', 'text', 'text', ...COLUMNS.map(({ type }) => type)];
const CELLS = TYPES.map((type, i) => `unnest($${i + 1}::text[])::${type}`);
const REPLACED = COLUMNS.slice(1).map(({ name }) => `${name} = excluded.${name}`);

const insertInto = (schema: string): Statement => ({
  name: `insert_${schema}.listed`,
  text: `INSERT INTO ${schema}.listed (${NAMES}) SELECT ${CELLS}`,
});
const upsertInto = (schema: string): Statement => ({
  name: `upsert_${schema}.listed`,
  text: `${insertInto(schema).text} ON CONFLICT (${KEY}) DO UPDATE SET ${REPLACED}`,
});

const write = async (statement: Statement, rows: Rows, tx: Sql): Promise<void> => {
  if (rows.length === 0) return;
  await tx.query({
    ...statement,
    values: [
      new TextArray(rows.map(([id]) => id)),
      new TextArray(rows.map(([, { account }]) => account)),
      new TextArray(rows.map(([, { mode }]) => mode)),
      ...COLUMNS.map(({ of }) => new TextArray(rows.map(([, { state }]) => of(state)?.toString() ?? null))),
    ],
  });
};

/** Creation apart, whatever is listed of a payment changes with its status or its instruments. */
const isListedOtherwise = (before: AggregateRow<PaymentState> | undefined, { status, state }: Existing): boolean =>
  before?.status !== status ||
  (before.state.charge.status !== 'absent' && before.state.charge.instruments !== state.charge.instruments);

class ListedWriter {
  readonly #insert: Statement;
  readonly #upsert: Statement;

  constructor(schema: string) {
    this.#insert = insertInto(schema);
    this.#upsert = upsertInto(schema);
  }

  reset(): void {} // nothing is remembered

  async apply(changes: readonly AggregateChange<'payment', PaymentState>[], tx: Sql): Promise<void> {
    const created = new Map<string, Existing>();
    const changed = new Map<string, Existing>();
    for (const { subject, before, after } of changes) {
      if (!exists(after.state) || !isListedOtherwise(before, after as Existing)) continue;
      const isNew = created.has(subject) || before === undefined || !exists(before.state);
      (isNew ? created : changed).set(subject, after as Existing);
    }
    await write(this.#insert, [...created], tx);
    await write(this.#upsert, [...changed], tx);
  }
}

export const listedPayments: DerivedTable<'payment', PaymentState> = {
  tables: [{ name: 'listed', key: KEY }],
  ddl,
  writer: (schema) => new ListedWriter(schema),
};
