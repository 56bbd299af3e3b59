// Stored format of charge events. A change of a shape is a new version with an upcast; golden files are in test/domain/golden.
import {
  freeForm,
  integer,
  listOf,
  money,
  nullable,
  oneOf,
  record,
  type SerdeTable,
  text,
  time,
} from '../kernel/serde.ts';
import type { ChargeEvent, ChargeTerms, Customer, Fingerprint } from './charge.ts';
import { PAYMENT_METHODS } from './methods.ts';

const optionalText = nullable(text());
const customer = record<Customer>({
  name: optionalText,
  document: optionalText,
  email: optionalText,
  phone: optionalText,
});
const fingerprint = record<Fingerprint>({ version: integer, hash: text() });

export const chargeSerde: SerdeTable<ChargeEvent> = {
  ChargeCreated: {
    version: 1,
    shape: record<ChargeTerms & { fingerprint: Fingerprint }>({
      paymentId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      amount: money,
      currency: text(),
      methods: listOf(oneOf(...PAYMENT_METHODS)),
      customer,
      customerId: optionalText,
      metadata: freeForm(),
      expectedPayerTaxId: optionalText,
      expiresInSeconds: integer,
      txid: text(),
      baseUrl: text(),
      createdAt: time,
      fingerprint,
    }),
    personal: ['customer', 'customerId', 'metadata', 'expectedPayerTaxId'],
  },
  ChargePixIssued: {
    version: 1,
    shape: record({ provider: text(), txid: text(), brCode: text(), expiresAt: time, at: time }),
    personal: [],
  },
  ChargeExpired: { version: 1, shape: record({ at: time }), personal: [] },
  ChargeFailed: { version: 1, shape: record({ reason: text(), providerErrorCode: text(), at: time }), personal: [] },
};
