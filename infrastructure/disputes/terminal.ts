// CLI commands and triggers of disputes.
import { medCommands } from '../cli/med.ts';
import type { Scenario, Triggers } from '../cli/scenario.ts';
import { paid } from '../payments/terminal.ts';

const disputed =
  (answer: 'accept' | 'withdraw' | null): Scenario =>
  async (merchant) => {
    const { chargeId } = await paid(merchant);
    const { id } = await merchant.call<{ id: string }>('POST', `/v1/sandbox/charges/${chargeId}/med`, {});
    if (answer === 'accept') await merchant.call('POST', `/v1/med/cases/${id}/accept`, {});
    if (answer === 'withdraw') await merchant.call('POST', `/v1/sandbox/med/cases/${id}/withdraw`, {});
    return { chargeId };
  };

export const commands = medCommands;
export const triggers: Triggers = {
  scenarios: {
    'med_case.created': disputed(null),
    'med_case.updated': disputed('accept'),
    'med.resolved': disputed('withdraw'),
  },
};
