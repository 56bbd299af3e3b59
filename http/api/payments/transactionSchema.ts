// Request and response schemas of payments in the transaction format (contract.md Transaction).

import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { METADATA_BOUNDS, URL_LENGTH_MAX } from '../../../domain/charge/request.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { TRANSACTION_STATUSES } from '../../../domain/presentation/status.ts';
import * as s from '../../kernel/jsonSchema.ts';

export const createPaymentBody = s.accepting({
  amount: s.integer(AMOUNT_MIN, AMOUNT_MAX, 'The amount in minor units. Some methods have a lower maximum.'),
  currency: s.optional(s.string(8, { minLength: 3, description: 'The currency code. Default: BRL.' })),
  paymentMethods: s.listOf(s.oneOfTexts(PAYMENT_METHODS), {
    minItems: 1,
    maxItems: PAYMENT_METHODS.length,
    uniqueItems: true,
    description: 'The methods to offer. The payer chooses one of them.',
  }),
  customerId: s.optional(s.described('Your own id of the customer. Webhooks contain it.', s.string(128))),
  customerName: s.optional(s.described('Name of the customer.', s.string(200))),
  customerDocument: s.optional(s.described('CPF, CNPJ, NIF or another tax id.', s.string(32))),
  customerEmail: s.optional(s.described('Email address (RFC 5322).', s.string(254))),
  metadata: s.optional(
    s.described(
      `Your own data. The card page redirects the payer to \`returnUrl\`. MBWAY requires \`phone\` in E.164 format. ${METADATA_BOUNDS}`,
      s.anyObject,
    ),
  ),
  webhookUrl: s.optional(
    s.described('The URL for webhooks of this payment, instead of the registered endpoints.', s.string(URL_LENGTH_MAX)),
  ),
  idempotencyKey: s.idempotencyKey,
});

const maybeText = (description: string) => s.orNull(s.described(description, s.string()));
const maybeTime = (description: string) => s.orNull(s.described(description, s.timestamp));
const maybeInteger = (description: string) => s.orNull(s.described(description, s.anyInteger));

const submitted = {
  id: s.described('The raw id of the payment.', s.id('')),
  status: s.described('The status of the payment.', s.oneOfTexts(TRANSACTION_STATUSES)),
  amount: s.described('The amount in minor units.', s.anyInteger),
  currency: s.described('The currency code, such as BRL or USDT.', s.string()),
  paymentMethods: s.described('The methods that the payer can choose from.', s.listOf(s.string())),
};
const customer = {
  customerName: maybeText('Name of the customer, as submitted.'),
  customerDocument: maybeText('Tax id of the customer, as submitted.'),
  customerEmail: maybeText('Email address of the customer, as submitted.'),
  metadata: s.described('Your own data, as submitted.', s.anyObject),
};

export const createdPaymentSchema = s.exactly({ ...submitted, ...customer, createdAt: s.timestamp });

export const transactionSchema = s.exactly({
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
  amountRefunded: s.described('The sum of the completed refunds.', s.anyInteger),
  createdAt: s.timestamp,
  paidAt: maybeTime('When the payment was settled.'),
});

export const paymentListSchema = s.exactly({
  data: s.listOf(s.exactly({ ...transactionSchema.properties, id: s.described('`tx_` and the raw id.', s.id('tx_')) })),
  total: s.described('The number of payments on all pages.', s.anyInteger),
  page: s.described('The requested page.', s.anyInteger),
  limit: s.described('The requested limit.', s.anyInteger),
});
