// The bodies of payout webhooks of the older family (contract.md Events).
import * as s from '../../kernel/jsonSchema.ts';
import { paymentChange, paymentOrigin } from '../payments/webhookBodies.ts';
import { legacyBody } from '../webhooks/webhookBodies.ts';

export const withdrawalBody = legacyBody(
  s.exactly({
    transactionId: {
      ...s.id('tx_'),
      description: 'The refunded payment. For a requested payout, `tx_` and the raw id of the payout.',
    },
    withdrawalId: s.id('po_'),
    refundId: s.optional({ ...s.id('rf_'), description: 'The cash-out refund. Omitted for a requested payout.' }),
    ...paymentChange,
    ...paymentOrigin,
  }),
);
