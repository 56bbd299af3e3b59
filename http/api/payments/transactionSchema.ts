// Request and response schemas of payments in the transaction format (contract.md Transaction).

import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { URL_LENGTH_MAX } from '../../../domain/charge/request.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { TRANSACTION_STATUSES } from '../../../domain/presentation/status.ts';
import {
  accepting,
  anyInteger,
  anyObject,
  described,
  exactly,
  id,
  idempotencyKey,
  integer,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

export const createPaymentBody = accepting({
  amount: integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in minor units. Some methods have a lower maximum.'),
  currency: optional(string(8, { minLength: 3, description: 'The currency code. Default: BRL.' })),
  paymentMethods: listOf(oneOfTexts(PAYMENT_METHODS), {
    minItems: 1,
    maxItems: PAYMENT_METHODS.length,
    uniqueItems: true,
    description: 'The methods to offer. The payer chooses one of them.',
  }),
  customerId: optional(described('Your own id of the customer. Webhooks contain it.', string(128))),
  customerName: optional(described('Name of the customer.', string(200))),
  customerDocument: optional(described('CPF, CNPJ, NIF or another tax id.', string(32))),
  customerEmail: optional(described('Email address (RFC 5322).', string(254))),
  metadata: optional(
    described(
      'Your own data. The card page redirects the payer to `returnUrl`. MBWAY requires `phone` in E.164 format.',
      anyObject,
    ),
  ),
  webhookUrl: optional(
    described('The URL for webhooks of this payment, instead of the registered endpoints.', string(URL_LENGTH_MAX)),
  ),
  idempotencyKey,
});

const maybeText = (description: string) => orNull(described(description, string()));
const maybeTime = (description: string) => orNull(described(description, timestamp));
const maybeInteger = (description: string) => orNull(described(description, anyInteger));

const submitted = {
  id: described('The raw id of the payment.', id('')),
  status: described('The status of the payment.', oneOfTexts(TRANSACTION_STATUSES)),
  amount: described('The amount in minor units.', anyInteger),
  currency: described('The currency code, such as BRL or USDT.', string()),
  paymentMethods: described('The methods that the payer can choose from.', listOf(string())),
};
const customer = {
  customerName: maybeText('Name of the customer, as submitted.'),
  customerDocument: maybeText('Tax id of the customer, as submitted.'),
  customerEmail: maybeText('Email address of the customer, as submitted.'),
  metadata: described('Your own data, as submitted.', anyObject),
};

export const createdPaymentSchema = exactly({ ...submitted, ...customer, createdAt: timestamp });

export const transactionSchema = exactly({
  ...submitted,
  paidWith: maybeText('The method with which the payer paid.'),
  ...customer,
  pixQrCode: maybeText('The QR code as a data URL of a PNG; null in lists.'),
  pixCopyPaste: maybeText('The Pix copy-and-paste code.'),
  pixExpiresAt: maybeTime('When the Pix code expires.'),
  cardRedirectUrl: maybeText('URL of the acquirer’s card page.'),
  mbEntity: maybeText('Multibanco entity.'),
  mbReference: maybeText('Multibanco reference.'),
  mbExpiresAt: maybeTime(
    'When the Multibanco reference expires: at the end of the third calendar day after creation, Lisbon time.',
  ),
  boletoBarcode: maybeText('The boleto barcode, 44 digits.'),
  boletoLine: maybeText('The digitable line of the boleto.'),
  boletoPdfUrl: maybeText('URL of the boleto slip, which shows the payer’s name. Anyone with the link can read it.'),
  boletoExpiresAt: maybeTime(
    'When the boleto expires: at the end of the third calendar day after creation, São Paulo time.',
  ),
  cryptoAddress: maybeText('The address to send the coins to.'),
  cryptoAmount: maybeText('The number of coins, as a decimal string.'),
  cryptoNetwork: maybeText('The network on which to send the coins.'),
  cryptoCurrency: maybeText('The coin.'),
  providerFee: maybeInteger('The acquirer’s fee, in minor units.'),
  platformFee: maybeInteger('The platform’s fee, in minor units.'),
  netAmount: maybeInteger('The amount less both fees.'),
  amountRefunded: described('The sum of the completed refunds.', anyInteger),
  createdAt: timestamp,
  paidAt: maybeTime('When the payment was settled.'),
});

export const paymentListSchema = exactly({
  data: listOf(exactly({ ...transactionSchema.properties, id: described('`tx_` and the raw id.', id('tx_')) })),
  total: described('The number of payments on all pages.', anyInteger),
  page: described('The requested page.', anyInteger),
  limit: described('The requested limit.', anyInteger),
});
