// Stored format of transaction events.
import { PAYMENT_METHODS } from '../charge/methods.ts';
import { money, nullable, oneOf, record, type SerdeTable, text, time } from '../kernel/serde.ts';
import type { Payer, Receipt, TransactionEvent } from './transaction.ts';

const receipt = record<Receipt>({
  endToEndId: text(),
  amount: money,
  payer: record<Payer>({ name: nullable(text()), document: nullable(text()) }),
  paidAt: time,
});

export const transactionSerde: SerdeTable<TransactionEvent> = {
  TransactionSettled: {
    version: 1,
    shape: record({
      receipt,
      method: oneOf(...PAYMENT_METHODS),
      currency: text(),
      providerFee: money,
      platformFee: money,
      netAmount: money,
      availableAt: nullable(time),
      at: time,
    }),
    personal: ['receipt.payer'],
  },
  TransactionHeld: { version: 1, shape: record({ receipt, currency: text(), at: time }), personal: ['receipt.payer'] },
  TransactionReceiptRejected: {
    version: 1,
    shape: record({
      receipt,
      currency: text(),
      reason: oneOf('wrong_amount', 'second_payment', 'charge_ended', 'payer_mismatch'),
      returnId: text(),
      at: time,
    }),
    personal: ['receipt.payer'],
  },
  TransactionReceiptReturned: {
    version: 1,
    shape: record({ endToEndId: text(), amount: money, currency: text(), at: time }),
    personal: [],
  },
  TransactionFundsReleased: { version: 1, shape: record({ amount: money, currency: text(), at: time }), personal: [] },
};
