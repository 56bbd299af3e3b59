// The index of the search for payments: rows only for values that no column of the payment holds. A payment that was paid has one to three
// rows of about 100 bytes with their index entry. They never change. Hashes of an erased person's data are removed with the data (rule
// S6a).
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { exists, type PaymentEvent, type PaymentState } from '../../domain/payment/payment.ts';
import { documentKeyOf, payerTaxIdOf } from '../../domain/pix/taxId.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { type AggregateChange, type DerivedTable, hashOf } from '../engine/aggregateTable.ts';

/** Kinds of keys. Their names are part of the stored hashes. */
type SearchKeyKind = 'reference' | 'document' | 'email' | 'customerId';

/** Returns the text whose hash is the key. It names the tenant, so that tenants share no key. */
export const searchKeyText = ({ accountId, mode }: Tenant, kind: SearchKeyKind, value: string): string =>
  `${accountId}${mode}${kind}:${value}`;

/** Addresses are compared without regard to case. */
export const emailKeyOf = (email: string): string => email.trim().toLowerCase();

/** Returns the incoming payment that was credited, held or returned, or null. */
const incomingOf = (transaction: PaymentState['transaction']): IncomingPayment | null => {
  if (transaction.status === 'settled') return transaction.settlement.incoming;
  return 'incoming' in transaction ? transaction.incoming : null;
};

/** Values with U+0000 can't be searched for, because PostgreSQL rejects it. */
const isSearchable = (value: string | null): boolean => value !== null && value !== '' && !value.includes('\0');

/** Returns the values by which the payment is found, apart from its columns `id`, `amount`, `txid` and `customer_key`. */
const keysOf = (state: PaymentState): readonly (readonly [SearchKeyKind, string])[] => {
  if (!exists(state)) return [];
  const { charge, transaction } = state;
  const { terms, instruments } = charge;
  const keys: (readonly [SearchKeyKind, string | null])[] = [
    ['email', terms.customer.email && emailKeyOf(terms.customer.email)],
    ['customerId', terms.customerId],
  ];
  if (instruments.pix !== null && instruments.pix.txid !== terms.txid) keys.push(['reference', instruments.pix.txid]);
  for (const { providerPaymentId, returnId, outside = [] } of transaction.incomingPayments)
    keys.push(
      ['reference', providerPaymentId],
      ['reference', returnId],
      ...outside.map(({ id }) => ['reference', id] as const),
    );
  if (transaction.status === 'settled')
    for (const { outcome } of transaction.refunds)
      if (outcome.status === 'completed') keys.push(['reference', outcome.endToEndId]);
  const payer = payerTaxIdOf(incomingOf(transaction)?.payer.document ?? null);
  if (payer !== documentKeyOf(terms.customer.document ?? '')) keys.push(['document', payer]);
  return keys.filter((key): key is readonly [SearchKeyKind, string] => isSearchable(key[1]));
};

interface Key {
  readonly text: string;
  readonly createdAt: Timestamp;
  readonly id: PaymentId;
}

/** The keys that a batch adds and removes, by their text and payment. */
class Changes {
  readonly added = new Map<string, Key>();
  readonly removed = new Map<string, Key>();

  note({ before, after }: AggregateChange<PaymentState, PaymentEvent>): void {
    if (!exists(after.state)) return;
    const { paymentId: id, createdAt } = after.state.charge.terms;
    const tenant = { accountId: after.account, mode: after.mode };
    const textsOf = (state: PaymentState) =>
      new Set(keysOf(state).map(([kind, value]) => searchKeyText(tenant, kind, value)));
    const [old, now] = [before === undefined ? new Set<string>() : textsOf(before.state), textsOf(after.state)];
    for (const text of now) if (!old.has(text)) this.#move({ text, createdAt, id }, this.removed, this.added);
    for (const text of old) if (!now.has(text)) this.#move({ text, createdAt, id }, this.added, this.removed);
  }

  /** A key that is added and removed in the same batch was never there. */
  #move(key: Key, from: Map<string, Key>, to: Map<string, Key>): void {
    const name = `${key.id}${key.text}`;
    if (!from.delete(name)) to.set(name, key);
  }
}

const values = (keys: ReadonlyMap<string, Key>): readonly TextArray[] => {
  const list = [...keys.values()];
  return [
    new TextArray(list.map(({ text }) => text)),
    new TextArray(list.map(({ createdAt }) => createdAt)),
    new TextArray(list.map(({ id }) => id)),
  ];
};

const writerOf = (table: string) => {
  const insert = `INSERT INTO ${table} (key, created_at, id)
    SELECT ${hashOf('unnest($1::text[])')}, unnest($2::text[])::timestamptz, unnest($3::text[])`;
  const remove = `DELETE FROM ${table} k USING unnest($1::text[], $2::text[], $3::text[]) AS gone(text, created_at, id)
    WHERE k.key = ${hashOf('gone.text')} AND k.created_at = gone.created_at::timestamptz AND k.id = gone.id`;
  return async (changes: readonly AggregateChange<PaymentState, PaymentEvent>[], tx: Sql): Promise<void> => {
    const all = new Changes();
    for (const change of changes) all.note(change);
    if (all.added.size > 0) await tx.query({ name: `insert_${table}`, text: insert, values: values(all.added) });
    if (all.removed.size > 0) await tx.query({ name: `delete_${table}`, text: remove, values: values(all.removed) });
  };
};

export const searchKeys: DerivedTable<PaymentState, PaymentEvent> = {
  tables: [{ name: 'search_keys', key: ['id', 'key'] }],
  ddl: (
    schema,
  ) => `CREATE TABLE ${schema}.search_keys (key bigint NOT NULL, created_at timestamptz NOT NULL, id text COLLATE "C" NOT NULL);
    CREATE INDEX ON ${schema}.search_keys (key, created_at);`,
  writer: (schema) => ({ reset: () => undefined, apply: writerOf(`${schema}.search_keys`) }),
};
