// What payouts have at a terminal.
import type { Scenario, Triggers } from '../cli/scenario.ts';
import { paid } from '../payments/terminal.ts';
import { payoutCommands } from './commands.ts';

/** Less than the charge earns, in centavos. */
const AMOUNT = 500;
const PIX_KEY = 'ana@example.com';

/** A payout of what a charge earned, and what its bank then does. */
const paidOut =
  (decision: 'confirm' | 'fail' | null): Scenario =>
  async (merchant) => {
    const { chargeId } = await paid(merchant);
    const order = { amount: AMOUNT, destination: { pix_key: PIX_KEY }, description: 'quita trigger' };
    const { id } = await merchant.call<{ id: string }>('POST', '/v1/payouts', order);
    if (decision !== null) await merchant.call('POST', `/v1/sandbox/payouts/${id}/${decision}`, {});
    return { chargeId, others: { payout: id }, aboutId: id };
  };

export const commands = payoutCommands;
export const triggers: Triggers = {
  makes: 'payout',
  scenarios: {
    'payout.created': paidOut(null),
    'payout.paid': paidOut('confirm'),
    'payout.failed': paidOut('fail'),
  },
};
