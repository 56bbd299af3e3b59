// Stored format of refund events.

import { PAYMENT_METHODS } from '../charge/methods.ts';
import { oneGroup } from '../kernel/eventGroups.ts';
import { money, nullable, oneOf, record, type Serde, serdeOf, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { RefundEvent, RefundOrder } from './refund.ts';

export const refundSerde: Serde<RefundEvent> = serdeOf<RefundEvent>({
  RefundRequested: {
    version: 1,
    shape: record<RefundOrder & { at: Timestamp }>({
      refundId: text(),
      paymentId: text(),
      accountId: text(),
      mode: oneOf('test', 'live'),
      amount: money,
      currency: text(),
      method: oneOf(...PAYMENT_METHODS),
      strategy: oneOf('devolution', 'cashout', 'reversal'),
      destination: nullable(text()),
      providerPaymentId: text(),
      at: time,
    }),
    personal: ['destination'],
    unsaid: {
      refundId: { is: 'subject' },
      paymentId: { is: 'correlationId' },
      accountId: { is: 'account' },
      mode: { is: 'mode' },
    },
  },
  RefundSubmitted: { version: 1, shape: record({ at: time }), personal: [] },
  RefundOutcomeUnknown: { version: 1, shape: record({ at: time }), personal: [] },
  RefundCompleted: { version: 1, shape: record({ endToEndId: nullable(text()), at: time }), personal: [] },
  RefundConfirmedLate: { version: 1, shape: record({ endToEndId: nullable(text()), at: time }), personal: [] },
  RefundFailed: { version: 1, shape: record({ reason: text(), at: time }), personal: [] },
});

export const REFUND_GROUPS = oneGroup(refundSerde);
