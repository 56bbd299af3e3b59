// Stored format of charge events. A change of a shape is a new version with an upcast; golden files are in test/domain/golden.
import { type Fingerprint, fingerprintShape } from '../kernel/fingerprint.ts';
import {
  flag,
  freeForm,
  integer,
  listOf,
  money,
  nullable,
  oneOf,
  record,
  type SerdeTable,
  taggedBy,
  text,
  time,
} from '../kernel/serde.ts';
import type { ChargeEvent, ChargeTerms, Customer } from './charge.ts';
import type {
  AcquirerInstrument,
  BoletoInstrument,
  CardInstrument,
  CryptoInstrument,
  MbWayInstrument,
  MultibancoInstrument,
} from './instruments.ts';
import { PAYMENT_METHODS } from './methods.ts';

const optionalText = nullable(text());
const method = oneOf(...PAYMENT_METHODS);
const customer = record<Customer>({
  name: optionalText,
  document: optionalText,
  email: optionalText,
  phone: optionalText,
});

const bound = { provider: text(), reference: text(), expiresAt: time };
const acquirerInstrument = taggedBy<'method', AcquirerInstrument>('method', {
  CREDIT_CARD: record<CardInstrument>({ method: oneOf('CREDIT_CARD'), ...bound, redirectUrl: text() }),
  MBWAY: record<MbWayInstrument>({ method: oneOf('MBWAY'), ...bound, phone: text() }),
  MULTIBANCO: record<MultibancoInstrument>({
    method: oneOf('MULTIBANCO'),
    ...bound,
    entity: text(),
    mbReference: text(),
  }),
  BOLETO: record<BoletoInstrument>({
    method: oneOf('BOLETO'),
    ...bound,
    barcode: text(),
    line: text(),
    pdfUrl: text(),
  }),
  CRYPTO: record<CryptoInstrument>({
    method: oneOf('CRYPTO'),
    ...bound,
    address: text(),
    amount: text(),
    network: text(),
    currency: text(),
  }),
});

export const chargeSerde: SerdeTable<ChargeEvent> = {
  ChargeCreated: {
    version: 1,
    shape: record<ChargeTerms & { fingerprint: Fingerprint }>({
      paymentId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      amount: money,
      currency: text(),
      methods: listOf(method),
      customer,
      customerId: optionalText,
      metadata: freeForm(),
      expectedPayerTaxId: optionalText,
      expiresInSeconds: integer,
      txid: text(),
      baseUrl: text(),
      api: oneOf('charges', 'payments'),
      webhookUrl: optionalText,
      createdAt: time,
      fingerprint: fingerprintShape,
    }),
    personal: ['customer', 'customerId', 'metadata', 'expectedPayerTaxId', 'webhookUrl'],
    unsaid: {
      paymentId: { is: 'subject' },
      accountId: { is: 'account' },
      mode: { is: 'mode' },
      'customer.phone': { usually: null },
      customerId: { usually: null },
      expectedPayerTaxId: { usually: null },
      webhookUrl: { usually: null },
    },
  },
  ChargePixIssued: {
    version: 1,
    shape: record({ provider: text(), txid: text(), brCode: text(), expiresAt: time, at: time }),
    personal: [],
  },
  ChargeInstrumentIssued: {
    version: 1,
    shape: record({ instrument: acquirerInstrument, at: time }),
    personal: ['instrument'],
  },
  ChargeInstrumentRefused: {
    version: 1,
    shape: record({ method, reason: text(), providerErrorCode: text(), at: time }),
    personal: [],
  },
  ChargeExpired: { version: 1, shape: record({ at: time }), personal: [] },
  ChargeFailed: { version: 1, shape: record({ reason: text(), providerErrorCode: text(), at: time }), personal: [] },
  ChargeCancelRequested: { version: 1, shape: record({ at: time }), personal: [] },
  ChargeCancelled: { version: 1, shape: record({ at: time }), personal: [] },
  ChargeWebhookResendRequested: {
    version: 1,
    shape: record({ ofRevision: integer, number: integer, isWanted: flag, at: time }),
    personal: [],
  },
};
