// The aggregate of payments, which combines charge and transaction.
import { chargeSerde } from '../charge/charge.ts';
import { CHARGE_ERRORS } from '../charge/errors.ts';
import { aggregate } from '../kernel/aggregate.ts';
import { type PaymentId, PREFIX } from '../kernel/ids.ts';
import { serdeOf } from '../kernel/serde.ts';
import { paymentPublisher } from '../presentation/messages.ts';
import { transactionSerde } from '../transaction/transaction.ts';
import { paymentErasureSerde } from './erasure.ts';
import { PAYMENT_ERRORS } from './errors.ts';
import { PAYMENT_GROUPS } from './eventGroups.ts';
import { type PaymentEvent, payment } from './payment.ts';
import { paymentPostings } from './postings.ts';

export const PAYMENT = aggregate<PaymentId>()({
  category: 'payment',
  idPrefix: PREFIX.transaction,
  decider: payment,
  serde: serdeOf<PaymentEvent>({ ...chargeSerde, ...transactionSerde, ...paymentErasureSerde }),
  isSealed: true,
  groups: PAYMENT_GROUPS,
  postings: paymentPostings,
  publisher: paymentPublisher,
  errors: { ...CHARGE_ERRORS, ...PAYMENT_ERRORS },
});
