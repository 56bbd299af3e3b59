// Responses of the lists of charges and payments.
import { chargeSchema } from '../api/payments/chargeSchema.ts';
import { transactionSchema } from '../api/schemas.ts';
import { anyInteger, boolean, exactly, id, listOf, orNull, string } from './jsonSchema.ts';

export const chargeListSchema = exactly({
  object: { type: 'string', const: 'list' },
  data: listOf(chargeSchema),
  has_more: boolean,
  next_cursor: orNull(string()),
});

export const paymentListSchema = exactly({
  data: listOf({ ...transactionSchema, properties: { ...transactionSchema.properties, id: id('tx_') } }),
  total: anyInteger,
  page: anyInteger,
  limit: anyInteger,
});
