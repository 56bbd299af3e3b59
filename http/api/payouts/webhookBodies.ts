// What webhooks of the older family say of a payout (contract.md Events).
import { exactly, id, optional } from '../../kernel/jsonSchema.ts';
import { paymentChange, paymentOrigin } from '../payments/webhookBodies.ts';
import { legacyBody } from '../webhooks/webhookBodies.ts';

export const withdrawalBody = legacyBody(
  exactly({
    transactionId: { ...id('tx_'), description: 'The refunded payment. A requested payout has its own raw id here.' },
    withdrawalId: id('po_'),
    refundId: optional({ ...id('rf_'), description: 'The cash-out refund. Omitted for a requested payout.' }),
    ...paymentChange,
    ...paymentOrigin,
  }),
);
