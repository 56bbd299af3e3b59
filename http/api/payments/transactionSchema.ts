// The payment in the transaction format (contract.md Transaction), as routes take, answer and list it.

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
  amount: integer(AMOUNT_MIN, AMOUNT_MAX, 'Minor units. Some methods take less.'),
  currency: optional(string(8, { minLength: 3, description: 'Default BRL.' })),
  paymentMethods: listOf(oneOfTexts(PAYMENT_METHODS), {
    minItems: 1,
    maxItems: PAYMENT_METHODS.length,
    uniqueItems: true,
    description: 'The payer chooses one of them.',
  }),
  customerId: optional(described('Your own id of the customer; echoed in webhooks.', string(128))),
  customerName: optional(described('Name of the customer.', string(200))),
  customerDocument: optional(described('CPF, CNPJ, NIF or another tax id.', string(32))),
  customerEmail: optional(described('E-mail address (RFC 5322).', string(254))),
  metadata: optional(
    described(
      'What you like. `returnUrl` is where a card’s page sends the payer back; MBWAY needs `phone` in E.164.',
      anyObject,
    ),
  ),
  webhookUrl: optional(
    described('Where webhooks of this payment go, instead of the endpoints.', string(URL_LENGTH_MAX)),
  ),
  idempotencyKey,
});

const maybeText = (description: string) => orNull(described(description, string()));
const maybeTime = (description: string) => orNull(described(description, timestamp));
const maybeInteger = (description: string) => orNull(described(description, anyInteger));

const submitted = {
  id: described('The raw id.', id('')),
  status: described('Where the payment stands.', oneOfTexts(TRANSACTION_STATUSES)),
  amount: described('Minor units.', anyInteger),
  currency: described('Its code, such as BRL or USDT.', string()),
  paymentMethods: described('Those that the payer can choose from.', listOf(string())),
};
const customer = {
  customerName: maybeText('As submitted.'),
  customerDocument: maybeText('As submitted.'),
  customerEmail: maybeText('As submitted.'),
  metadata: described('As submitted.', anyObject),
};

export const createdPaymentSchema = exactly({ ...submitted, ...customer, createdAt: timestamp });

export const transactionSchema = exactly({
  ...submitted,
  paidWith: maybeText('The method that was used.'),
  ...customer,
  pixQrCode: maybeText('A data URL of a PNG; null in lists.'),
  pixCopyPaste: maybeText('The code to copy and paste.'),
  pixExpiresAt: maybeTime('Until when the Pix can be paid.'),
  cardRedirectUrl: maybeText('The acquirer’s page.'),
  mbEntity: maybeText('Multibanco entity.'),
  mbReference: maybeText('Multibanco reference.'),
  mbExpiresAt: maybeTime('End of the third civil day after creation, in Lisbon.'),
  boletoBarcode: maybeText('44 digits.'),
  boletoLine: maybeText('The line that people type.'),
  boletoPdfUrl: maybeText('The slip, with the payer’s name. Whoever has the link can read it.'),
  boletoExpiresAt: maybeTime('End of its due day, the third civil day after creation, in São Paulo.'),
  cryptoAddress: maybeText('Where to send the coins.'),
  cryptoAmount: maybeText('How many, in whole coins as decimal text.'),
  cryptoNetwork: maybeText('The network to send them on.'),
  cryptoCurrency: maybeText('The coin.'),
  providerFee: maybeInteger('Of the acquirer, in minor units.'),
  platformFee: maybeInteger('Of this service, in minor units.'),
  netAmount: maybeInteger('What is left of the amount.'),
  amountRefunded: described('What has gone back to the payer: completed refunds.', anyInteger),
  createdAt: timestamp,
  paidAt: maybeTime('When it was settled.'),
});

export const paymentListSchema = exactly({
  data: listOf(exactly({ ...transactionSchema.properties, id: described('`tx_` and the raw id.', id('tx_')) })),
  total: described('How many there are on all pages.', anyInteger),
  page: described('As asked for.', anyInteger),
  limit: described('As asked for.', anyInteger),
});
