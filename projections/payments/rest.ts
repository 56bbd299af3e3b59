// The part of a payment's state that its columns don't hold, stored as JSON lists, because object keys would be most of it.
import type { ChargeFailure, ChargeState } from '../../domain/charge/charge.ts';
import type { Instruments } from '../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { AccountId, ConnectionId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment, PaymentState } from '../../domain/payment/payment.ts';
import type { IncomingPayment, IncomingPaymentRecord } from '../../domain/transaction/incomingPayment.ts';
import type { SettledTransaction } from '../../domain/transaction/transaction.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';

/** The columns that hold the state. Columns of parts that the payment doesn't have are null. */
export interface PaymentRow extends ColumnValues {
  readonly id: PaymentId;
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly created_at: Timestamp;
  readonly amount: Minor;
  readonly currency: string;
  /** Separated by commas. */
  readonly methods: string;
  readonly customer_name: string | null;
  readonly customer_document: string | null;
  readonly customer_email: string | null;
  readonly txid: string;
  readonly pix_copy_paste: string;
  readonly pix_expires_at: Timestamp;
  readonly paid_at: Timestamp;
  readonly paid_with: PaymentMethod;
  readonly provider_fee: Minor;
  readonly platform_fee: Minor;
  readonly rest: string;
}

type Charge = ExistingPayment['charge'];
type Terms = Charge['terms'];

type RestOfCharge = readonly [
  status: Charge['status'],
  phone: string | null,
  customerId: string | null,
  metadata: Terms['metadata'],
  expectedPayerTaxId: string | null,
  expiresInSeconds: number,
  baseUrl: string,
  api: Terms['api'],
  webhookUrl: string | null,
  fingerprintVersion: number,
  fingerprintHash: string,
  /** Txid that the provider assigned; null for the proposed one. */
  pix: readonly [provider: string, txid: string | null] | null,
  acquirerInstruments: Instruments['acquirerInstruments'],
  refusedMethods: readonly PaymentMethod[],
  cancelRequestedAt: Timestamp | null,
  resends: number,
  failure: ChargeFailure | null,
  connectionId?: ConnectionId | null,
  erasedAt?: Timestamp,
];

const restOfCharge = (charge: ChargeState): RestOfCharge | null => {
  if (charge.status === 'absent') return null;
  const { connectionId } = charge.terms;
  const { status, terms, fingerprint, refusedMethods, cancelRequestedAt, resends } = charge;
  const { pix, acquirerInstruments } = charge.instruments;
  const rest: RestOfCharge = [
    status,
    terms.customer.phone,
    terms.customerId,
    terms.metadata,
    terms.expectedPayerTaxId,
    terms.expiresInSeconds,
    terms.baseUrl,
    terms.api,
    terms.webhookUrl,
    fingerprint.version,
    fingerprint.hash,
    pix && [pix.provider, pix.txid === terms.txid ? null : pix.txid],
    acquirerInstruments,
    refusedMethods,
    cancelRequestedAt,
    resends,
    'failure' in charge ? charge.failure : null,
  ];
  if (charge.erasedAt !== undefined) return [...rest, connectionId, charge.erasedAt] as unknown as RestOfCharge;
  return connectionId === null ? rest : ([...rest, connectionId] as unknown as RestOfCharge);
};

const chargeOf = (rest: RestOfCharge | null, row: PaymentRow): ChargeState => {
  if (rest === null) return { status: 'absent' };
  const [status, phone, customerId, metadata, expectedPayerTaxId, expiresInSeconds, baseUrl, api, webhookUrl] = rest;
  const [
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    version,
    hash,
    pix,
    acquirerInstruments,
    refusedMethods,
    cancelRequestedAt,
    resends,
    failure,
    connectionId = null,
    erasedAt,
  ] = rest;
  const terms: Terms = {
    paymentId: row.id,
    accountId: row.account_id,
    mode: row.mode,
    amount: row.amount,
    currency: row.currency,
    methods: row.methods.split(',') as PaymentMethod[],
    customer: { name: row.customer_name, document: row.customer_document, email: row.customer_email, phone },
    customerId,
    metadata,
    expectedPayerTaxId,
    expiresInSeconds,
    txid: row.txid,
    baseUrl,
    api,
    webhookUrl,
    connectionId,
    createdAt: row.created_at,
  };
  const instruments: Instruments = {
    pix: pix && {
      provider: pix[0],
      txid: pix[1] ?? terms.txid,
      brCode: row.pix_copy_paste,
      expiresAt: row.pix_expires_at,
    },
    acquirerInstruments,
  };
  return {
    status,
    terms,
    fingerprint: { version, hash },
    instruments,
    refusedMethods,
    cancelRequestedAt,
    resends,
    ...(failure && { failure }),
    ...(erasedAt && { erasedAt }),
  } as ChargeState;
};

type RestOfRecord = readonly [
  method: PaymentMethod,
  providerPaymentId: string,
  amount: Minor,
  outcome: IncomingPaymentRecord['outcome'],
  reason: IncomingPaymentRecord['reason'],
  returnId: string | null,
  refusal?: IncomingPaymentRecord['refusal'] | null,
  payouts?: IncomingPaymentRecord['payouts'] | null,
  late?: IncomingPaymentRecord['late'] | null,
  outside?: IncomingPaymentRecord['outside'] | null,
  payer?: IncomingPaymentRecord['payer'] | null,
  lastMovedAt?: Timestamp,
];
type RestOfSettled = readonly [
  incomingPayments: readonly RestOfRecord[],
  declined: readonly PaymentMethod[],
  incoming: readonly [PaymentMethod, string, Minor, name: string | null, document: string | null],
  currency: string,
  netAmount: Minor,
  availableAt: Timestamp | null,
  at: Timestamp,
  releasedAt: Timestamp | null,
  refunds: SettledTransaction['refunds'],
  dispute: SettledTransaction['dispute'],
];
type Transaction = PaymentState['transaction'];
/** Most payments with a transaction are settled; other transactions are stored unchanged. */
type RestOfTransaction = RestOfSettled | Exclude<Transaction, SettledTransaction>;

const restOfTransaction = (transaction: Transaction): RestOfTransaction => {
  if (transaction.status !== 'settled') return transaction;
  const { incomingPayments, declined, settlement, releasedAt, refunds, dispute } = transaction;
  const { incoming, currency, netAmount, availableAt, at } = settlement;
  return [
    incomingPayments.map((one) => {
      const { method, providerPaymentId, amount, outcome, reason, returnId } = one;
      const { refusal, payouts, late, outside, payer, lastMovedAt } = one;
      const record = [method, providerPaymentId, amount, outcome, reason, returnId] as const;
      if (lastMovedAt !== undefined) {
        const rest = [refusal ?? null, payouts ?? null, late ?? null, outside ?? null, payer ?? null] as const;
        return [...record, ...rest, lastMovedAt] as const;
      }
      if (payer !== undefined)
        return [...record, refusal ?? null, payouts ?? null, late ?? null, outside ?? null, payer] as const;
      if (outside !== undefined) return [...record, refusal ?? null, payouts ?? null, late ?? null, outside] as const;
      if (late !== undefined) return [...record, refusal ?? null, payouts ?? null, late] as const;
      if (payouts !== undefined) return [...record, refusal ?? null, payouts] as const;
      return refusal === undefined ? record : ([...record, refusal] as const);
    }),
    declined,
    [incoming.method, incoming.providerPaymentId, incoming.amount, incoming.payer.name, incoming.payer.document],
    currency,
    netAmount,
    availableAt,
    at,
    releasedAt,
    refunds,
    dispute,
  ];
};

const isSettled = (rest: RestOfTransaction): rest is RestOfSettled => Array.isArray(rest);

const transactionOf = (rest: RestOfTransaction, row: PaymentRow): Transaction => {
  if (!isSettled(rest)) return rest;
  const [records, declined, paid, currency, netAmount, availableAt, at, releasedAt, refunds, dispute] = rest;
  const [method, providerPaymentId, amount, name, document] = paid;
  const incoming: IncomingPayment = {
    method,
    providerPaymentId,
    amount,
    payer: { name, document },
    paidAt: row.paid_at,
  };
  return {
    incomingPayments: records.map(
      ([by, id, sum, outcome, reason, returnId, refusal, payouts, late, outside, payer, lastMovedAt]) => ({
        method: by,
        providerPaymentId: id,
        amount: sum,
        outcome,
        reason,
        returnId,
        ...(refusal && { refusal }),
        ...(payouts && { payouts }),
        ...(late && { late }),
        ...(outside && { outside }),
        ...(payer && { payer }),
        ...(lastMovedAt && { lastMovedAt }),
      }),
    ),
    declined,
    status: 'settled',
    settlement: {
      incoming,
      method: row.paid_with,
      currency,
      providerFee: row.provider_fee,
      platformFee: row.platform_fee,
      netAmount,
      availableAt,
      at,
    },
    releasedAt,
    refunds,
    dispute,
  };
};

export const restOf = (state: PaymentState): string =>
  JSON.stringify([restOfCharge(state.charge), restOfTransaction(state.transaction)]);

/** Returns the state of a row. */
export const stateOf = (row: PaymentRow): PaymentState => {
  const [charge, transaction] = JSON.parse(row.rest) as [RestOfCharge | null, RestOfTransaction];
  return { charge: chargeOf(charge, row), transaction: transactionOf(transaction, row) };
};
