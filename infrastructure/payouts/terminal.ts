// CLI commands and triggers of payouts.
import type { Scenario, Triggers } from '../cli/scenario.ts';
import { paid } from '../payments/terminal.ts';
import { payoutCommands } from './commands.ts';

/** In centavos; less than the charge yields after fees. */
const AMOUNT = 500;
const PIX_KEY = 'ana@example.com';

/** Creates a payout from a charge's proceeds, and lets the bank confirm or fail it. */
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
