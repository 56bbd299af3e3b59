// CLI commands and triggers of payments.

import { type HeldItem, type HeldVerdict, heldSettlementOf } from '../../application/payments/heldPayments.ts';
import { accepted, byOf, type CliCommand, type CommandWords, paymentIdOf } from '../cli/command.ts';
import { amountText, type Screen, table } from '../cli/output.ts';
import { rawIdOf, type Scenario, type Triggers } from '../cli/scenario.ts';

// --- Pix payments held for review, for example because the bank named no payer or refuses to return the money (rules M5, M10, O1) ---

const LISTED_MAX = 1_000;

const why = ({ reason, returnRefused, payerName, expectedPayerTaxId }: HeldItem): string => {
  if (reason === 'confirmed_late') return 'the provider paid after refusing: write it off';
  if (returnRefused !== null) return `${reason}, the provider refuses the return: ${returnRefused}`;
  return `payer ${payerName ?? 'not named'}, expected ${expectedPayerTaxId ?? 'any payer'}`;
};

const HEAD = ['HELD SINCE', 'PAYMENT', 'ACCOUNT', 'MODE', 'AMOUNT', 'PROVIDER ID', 'WHY'];
const cells = (one: HeldItem): readonly string[] => [
  one.heldSince,
  one.paymentId,
  one.accountId,
  one.mode,
  `${one.currency} ${amountText(one.amount, one.currency)}`,
  one.providerPaymentId,
  why(one),
];

const list: CliCommand = {
  name: 'held list',
  summary: `List Pix payments that are held for review, whose return was refused, or that were confirmed after a refusal, oldest first (at most ${LISTED_MAX})`,
  reads: ['payments'],
  run: async (world) => {
    const { held, total, rest } = await world.platform.listHeld(LISTED_MAX);
    const more = rest > 0 ? `\nand ${rest} more` : '';
    const text = (screen: Screen) => table(screen, HEAD, held.map(cells)) + more;
    return { json: { held, total }, text: total === 0 ? 'no payments are held' : text };
  },
};

const command = (
  verdict: Extract<HeldVerdict, string>,
  summary: string,
  [done, before]: readonly [string, string],
  options: CommandWords['options'] = {},
): CliCommand => ({
  name: `held ${verdict}`,
  summary,
  args: [{ name: 'payment' }],
  options,
  changes: 'always',
  run: async (world, { args, options: { pix } }) => {
    const id = paymentIdOf(args[0] as string);
    const reviewed = await world.platform.reviewHeld(id, verdict, byOf(world), (pix as string) ?? null);
    const { paymentId, status, isNew } = accepted(reviewed);
    return { json: { paymentId, status, isNew }, text: `${paymentId} ${isNew ? done : before}; it is ${status}` };
  },
});

const settle: CliCommand = {
  name: 'held settle',
  summary: 'Pay out or write off money whose return the bank permanently refuses',
  args: [{ name: 'payment' }],
  options: {
    'pix-out': { description: 'Pix key to pay the money out to; the platform bears the fee' },
    'written-off': { description: 'credit the money to the platform’s account', flag: true },
    reason: { description: 'reason, 1 to 500 characters; stored in the event log', required: true },
    pix: { description: 'provider id from `held list`; needed if several Pix of the payment are held' },
  },
  changes: 'always',
  run: async (world, { args, options }) => {
    const { 'pix-out': pixOut, 'written-off': writtenOff, reason, pix } = options;
    const id = paymentIdOf(args[0] as string);
    const sent = { pixOut: pixOut as string | undefined, writtenOff: writtenOff === true, reason: reason as string };
    const settlement = accepted(heldSettlementOf(sent));
    const reviewed = await world.platform.reviewHeld(id, settlement, byOf(world), (pix as string) ?? null);
    const { paymentId, status, isNew } = accepted(reviewed);
    const done = settlement.pixOut === null ? 'was written off' : 'is being paid out by Pix';
    return { json: { paymentId, status, isNew }, text: `${paymentId} ${done}; it is ${status}` };
  },
};

export const commands: readonly CliCommand[] = [
  list,
  command('release', 'Accept a held Pix: the money is credited and the payment is paid', [
    'was released',
    'was already released',
  ]),
  command(
    'return',
    'Return a held Pix to its payer, or retry a refused return; the payment is refunded when the bank accepts',
    ['is being returned to its payer', 'was already returned'],
    { pix: { description: 'end-to-end id; needed if several Pix of the payment are held' } },
  ),
  settle,
];

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
