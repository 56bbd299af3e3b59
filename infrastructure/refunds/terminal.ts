// Triggers of refunds.
import { randomUUID } from 'node:crypto';
import { rawIdOf, type Scenario, type Triggers } from '../cli/scenario.ts';
import { paid } from '../payments/terminal.ts';

/** Refunds a paid charge in full, and lets the bank confirm or fail it. The sandbox bank confirms by itself within 2 s. */
const refunded =
  (strategy: 'devolution' | 'cashout', decision: 'confirm' | 'fail' | null): Scenario =>
  async (merchant) => {
    const { chargeId } = await paid(merchant);
    const order = { idempotencyKey: randomUUID(), strategy, reason: 'quita trigger' };
    const { id } = await merchant.call<{ id: string }>('POST', `/v1/payments/${rawIdOf(chargeId)}/refund`, order);
    if (decision !== null) await merchant.call('POST', `/v1/sandbox/refunds/${id}/${decision}`, {});
    return { chargeId, others: { refund: id } };
  };

export const triggers: Triggers = {
  makes: 'refund',
  scenarios: {
    'payment.refunded': refunded('devolution', 'confirm'),
    'withdrawal.created': refunded('cashout', null),
    'withdrawal.completed': refunded('cashout', 'confirm'),
    'withdrawal.failed': refunded('cashout', 'fail'),
    'withdrawal.status_changed': refunded('cashout', 'confirm'),
  },
};
