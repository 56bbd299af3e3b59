// CLI commands and triggers of payments.
import { heldCommands } from '../cli/held.ts';
import { rawIdOf, type Scenario, type Triggers } from '../cli/scenario.ts';

/** Centavos. */
export const CHARGE_AMOUNT = 1_000;
const CUSTOMER = { name: 'Ana Souza', document: '12345678909' };
/** The shortest lifetime of a charge. */
const LIFETIME_SECONDS = 60;

const created: Scenario = async (merchant) => {
  const charge = { amount: CHARGE_AMOUNT, payment_method: 'pix', expires_in: LIFETIME_SECONDS, customer: CUSTOMER };
  const { id } = await merchant.call<{ id: string }>('POST', '/v1/charges', charge);
  return { chargeId: id };
};
export const paid: Scenario = async (merchant) => {
  const { chargeId } = await created(merchant);
  await merchant.call('POST', `/v1/sandbox/charges/${chargeId}/pay`, {});
  return { chargeId };
};
const cancelled: Scenario = async (merchant) => {
  const { chargeId } = await created(merchant);
  await merchant.call('POST', `/v1/payments/${rawIdOf(chargeId)}/cancel`);
  return { chargeId };
};
const expired: Scenario = async (merchant) => {
  const { chargeId } = await created(merchant);
  const seconds = LIFETIME_SECONDS + 1;
  await merchant.call('POST', '/v1/sandbox/clock/advance', { seconds });
  return { chargeId, clockAdvancedSeconds: seconds };
};

export const commands = heldCommands;
export const triggers: Triggers = {
  scenarios: {
    'charge.created': created,
    'charge.paid': paid,
    'charge.failed': cancelled,
    'charge.expired': expired,
    'payment.created': created,
    'payment.completed': paid,
    'payment.failed': cancelled,
    'payment.expired': expired,
    'payment.status_changed': paid,
  },
};
