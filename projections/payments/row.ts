// One row per payment: searchable and sortable data in columns, the remaining state in `rest`, without duplication. Sorting a million
// payments reads all rows, so `rest`, nearly half of the data, is stored separately.
import type { Instruments } from '../../domain/charge/instruments.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { assertExists, type ExistingPayment, exists, type PaymentState } from '../../domain/payment/payment.ts';
import { documentKeyOf } from '../../domain/pix/taxId.ts';
import { amountRefunded, transactionStatus } from '../../domain/presentation/status.ts';
import { methodFields, type TransactionView } from '../../domain/presentation/transaction.ts';
import type { SettledTransaction } from '../../domain/transaction/transaction.ts';
import { type Column, type ColumnValues, rowReader } from '../engine/aggregateTable.ts';
import { liveSchema } from '../engine/projection.ts';
import { type PaymentRow, restOf, stateOf } from './rest.ts';

/** Number of characters by which the metadata's JSON is sorted. */
const METADATA_START = 64;

type Cell = string | number | null;
/** Returns the value for a created payment, otherwise null. */
const ofPayment =
  (of: (payment: ExistingPayment) => Cell) =>
  (state: PaymentState): Cell =>
    exists(state) ? of(state) : null;
const ofTerms = (of: (terms: ExistingPayment['charge']['terms']) => Cell) =>
  ofPayment(({ charge }) => of(charge.terms));
const ofPix = (of: (pix: NonNullable<Instruments['pix']>) => Cell) =>
  ofPayment(({ charge: { instruments } }) => (instruments.pix === null ? null : of(instruments.pix)));
const ofSettlement =
  (of: (settlement: SettledTransaction['settlement']) => Cell) =>
  ({ transaction }: PaymentState): Cell =>
    transaction.status === 'settled' ? of(transaction.settlement) : null;

/** Values of methods that most payments don't use, stored in one column that is null for Pix. */
type OtherField = Extract<
  keyof TransactionView,
  `card${string}` | `mb${string}` | `boleto${string}` | `crypto${string}`
>;
/** Returns null if the payment has only a Pix instrument. */
const otherFieldsOf = ({
  charge: { instruments },
}: ExistingPayment): { readonly [F in OtherField]: string | null } | null => {
  if (instruments.acquirerInstruments.length === 0) return null;
  const { pixQrCode: _qr, pixCopyPaste: _code, pixExpiresAt: _expiry, ...others } = methodFields(instruments);
  return others;
};

// Columns of fixed length come first, because reading a column steps over those before it.
export const PAYMENT_COLUMNS: readonly Column<PaymentState>[] = [
  { name: 'created_at', type: 'timestamptz', of: ofTerms(({ createdAt }) => createdAt) },
  { name: 'amount', type: 'bigint', of: ofTerms(({ amount }) => amount) },
  { name: 'provider_fee', type: 'bigint', of: ofSettlement(({ providerFee }) => providerFee) },
  { name: 'platform_fee', type: 'bigint', of: ofSettlement(({ platformFee }) => platformFee) },
  // Null takes no space, and few payments are refunded.
  {
    name: 'amount_refunded',
    type: 'bigint',
    of: ofPayment((payment) => amountRefunded(payment) || null),
    isDerived: true,
  },
  { name: 'paid_at', type: 'timestamptz', of: ofSettlement(({ incoming }) => incoming.paidAt) },
  { name: 'pix_expires_at', type: 'timestamptz', of: ofPix(({ expiresAt }) => expiresAt) },
  // Civil days of São Paulo, for analysts. Without them, a query converts each instant: 1.2 µs per row.
  { name: 'created_day', type: 'date', of: ofTerms(({ createdAt }) => saoPauloDay(createdAt)), isDerived: true },
  { name: 'paid_day', type: 'date', of: ofSettlement(({ incoming }) => saoPauloDay(incoming.paidAt)), isDerived: true },
  { name: 'status', type: 'text', of: ofPayment(transactionStatus), isDerived: true },
  { name: 'currency', type: 'text', of: ofTerms(({ currency }) => currency) },
  { name: 'methods', type: 'text', of: ofTerms(({ methods }) => methods.join()) },
  { name: 'paid_with', type: 'text', of: ofSettlement(({ method }) => method) },
  { name: 'customer_name', type: 'text', of: ofTerms(({ customer }) => customer.name) },
  { name: 'customer_document', type: 'text', of: ofTerms(({ customer }) => customer.document) },
  {
    name: 'customer_key',
    type: 'text',
    of: ofTerms(({ customer }) => documentKeyOf(customer.document ?? '')),
    isDerived: true,
  },
  { name: 'customer_email', type: 'text', of: ofTerms(({ customer }) => customer.email) },
  { name: 'pix_copy_paste', type: 'text', of: ofPix(({ brCode }) => brCode) },
  {
    name: 'metadata_start',
    type: 'text',
    of: ofTerms(({ metadata }) => JSON.stringify(metadata).slice(0, METADATA_START).toWellFormed()),
    isDerived: true,
  },
  {
    name: 'other_fields',
    type: 'jsonb',
    of: ofPayment((payment) => {
      const fields = otherFieldsOf(payment);
      return fields && JSON.stringify(fields);
    }),
    isDerived: true,
  },
  { name: 'txid', type: 'text', of: ofTerms(({ txid }) => txid) },
  { name: 'rest', type: 'text', of: restOf, isApart: true },
];

/** Returns the state of a row. */
export const paymentState = (row: ColumnValues): PaymentState => stateOf(row as PaymentRow);

const reader = rowReader('payments', PAYMENT_COLUMNS, paymentState);

/** Returns the select list of the row `alias` of `rm_payments.payments` that `paymentOf` reads. */
export const selectPayment = (alias: string, schema = liveSchema('payments')): string => reader.select(schema, alias);

/** Returns the payment of a selected row. Throws if its creation was never processed. */
export const paymentOf = (row: ColumnValues): ExistingPayment => assertExists(reader.read(row));
