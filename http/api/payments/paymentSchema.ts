// Request of POST /v1/payments, and what creation answers (contract.md Payments).
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { URL_LENGTH_MAX } from '../../../domain/charge/paymentRequest.ts';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../../domain/kernel/money.ts';
import { accepting, anyObject, exactly, idempotencyKey, integer, string } from '../../kernel/jsonSchema.ts';
import { transactionSchema } from '../schemas.ts';

export const createPaymentBody = accepting(
  {
    amount: integer(AMOUNT_MIN, AMOUNT_MAX, 'Minor units. Some methods take less.'),
    currency: string(8, { minLength: 3 }),
    paymentMethods: {
      type: 'array',
      items: { enum: PAYMENT_METHODS },
      minItems: 1,
      maxItems: PAYMENT_METHODS.length,
      uniqueItems: true,
    },
    customerId: string(128),
    customerName: string(200),
    customerDocument: string(32),
    customerEmail: string(254),
    metadata: anyObject,
    webhookUrl: string(URL_LENGTH_MAX),
    idempotencyKey,
  },
  ['amount', 'paymentMethods', 'idempotencyKey'],
);

const CREATED = [
  'id',
  'status',
  'amount',
  'currency',
  'paymentMethods',
  'customerName',
  'customerDocument',
  'customerEmail',
  'metadata',
  'createdAt',
];
export const createdPaymentSchema = exactly(
  Object.fromEntries(Object.entries(transactionSchema.properties ?? {}).filter(([name]) => CREATED.includes(name))),
);
