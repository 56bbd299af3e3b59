// `trigger`: brings a charge of the sandbox into the state that an event tells of, through the interface, as a merchant and a payer would.
import { randomUUID } from 'node:crypto';
import { formatAmount } from '../../domain/presentation/amount.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { loadToolConfig } from '../config/config.ts';
import { Merchant } from '../demo/merchant.ts';
import { type CliCommand, UsageError } from './command.ts';
import { type Delivery, deliveryCells, HEAD } from './deliveries.ts';
import { table } from './output.ts';

/** Centavos. */
const AMOUNT = 1_000;
/** Less than the charge earns. */
const PAYOUT = 500;
const PIX_KEY = 'ana@example.com';
const CUSTOMER = { name: 'Ana Souza', document: '12345678909' };
/** The shortest lifetime of a charge. */
const LIFETIME_SECONDS = 60;

/** What was made on the way. */
interface Made {
  readonly chargeId: string;
  readonly refundId?: string;
  readonly payoutId?: string;
  /** By which the account's test clock was advanced. */
  readonly clockAdvancedSeconds?: number;
}
type Scenario = (merchant: Merchant) => Promise<Made>;

const rawIdOf = (id: string): string => id.replace(/^(ch|po)_/, '');

const created: Scenario = async (merchant) => {
  const charge = { amount: AMOUNT, payment_method: 'pix', expires_in: LIFETIME_SECONDS, customer: CUSTOMER };
  const { id } = await merchant.call<{ id: string }>('POST', '/v1/charges', charge);
  return { chargeId: id };
};
const paid: Scenario = async (merchant) => {
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
/** A full refund of a paid charge, and what its bank then does; the sandbox's confirms by itself within 2 s. */
const refunded =
  (strategy: 'devolution' | 'cashout', decision: 'confirm' | 'fail' | null): Scenario =>
  async (merchant) => {
    const { chargeId } = await paid(merchant);
    const refund = { idempotencyKey: randomUUID(), strategy, reason: 'quita trigger' };
    const { id } = await merchant.call<{ id: string }>('POST', `/v1/payments/${rawIdOf(chargeId)}/refund`, refund);
    if (decision !== null) await merchant.call('POST', `/v1/sandbox/refunds/${id}/${decision}`, {});
    return { chargeId, refundId: id };
  };

/** A payout of what a charge earned, and what its bank then does. */
const paidOut =
  (decision: 'confirm' | 'fail' | null): Scenario =>
  async (merchant) => {
    const { chargeId } = await paid(merchant);
    const payout = { amount: PAYOUT, destination: { pix_key: PIX_KEY }, description: 'quita trigger' };
    const { id } = await merchant.call<{ id: string }>('POST', '/v1/payouts', payout);
    if (decision !== null) await merchant.call('POST', `/v1/sandbox/payouts/${id}/${decision}`, {});
    return { chargeId, payoutId: id };
  };

const disputed =
  (answer: 'accept' | 'withdraw' | null): Scenario =>
  async (merchant) => {
    const { chargeId } = await paid(merchant);
    const { id } = await merchant.call<{ id: string }>('POST', `/v1/sandbox/charges/${chargeId}/med`, {});
    if (answer === 'accept') await merchant.call('POST', `/v1/med/cases/${id}/accept`, {});
    if (answer === 'withdraw') await merchant.call('POST', `/v1/sandbox/med/cases/${id}/withdraw`, {});
    return { chargeId };
  };

/** By name of the catalogue. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'charge.created': created,
  'charge.paid': paid,
  'charge.failed': cancelled,
  'charge.expired': expired,
  'payout.created': paidOut(null),
  'payout.paid': paidOut('confirm'),
  'payout.failed': paidOut('fail'),
  'med_case.created': disputed(null),
  'med_case.updated': disputed('accept'),
  'med.resolved': disputed('withdraw'),
  'payment.created': created,
  'payment.completed': paid,
  'payment.failed': cancelled,
  'payment.expired': expired,
  'payment.refunded': refunded('devolution', 'confirm'),
  'payment.status_changed': paid,
  'withdrawal.created': refunded('cashout', null),
  'withdrawal.completed': refunded('cashout', 'confirm'),
  'withdrawal.failed': refunded('cashout', 'fail'),
  'withdrawal.status_changed': refunded('cashout', 'confirm'),
};

/** The deliveries of this event about this charge or payout, once nothing is under way any more. */
const deliveriesOf = async (merchant: Merchant, event: string, rawId: string): Promise<readonly Delivery[]> => {
  await merchant.call('POST', '/v1/sandbox/deliveries/flush', {});
  const path = `/v1/webhooks/deliveries?limit=100&eventType=${event}`;
  const { data } = await merchant.call<{ data: readonly Delivery[] }>('GET', path);
  return data.filter(({ payload }) => JSON.stringify(payload).includes(rawId));
};

export const triggerCommand: CliCommand = {
  name: 'trigger',
  summary: `Make an event happen in the sandbox: bring a real charge of ${formatAmount(AMOUNT, 'BRL', 'en')} to that state and send its webhooks; some events move the test clock a minute ahead`,
  args: [{ name: 'event', choice: { what: 'event', names: EVENT_CATALOGUE.map(({ event }) => event) } }],
  options: {},
  isLocal: true,
  run: async ({ env }, { args }) => {
    const event = args[0] as string;
    const scenario = SCENARIOS[event] as Scenario;
    const merchant = await Merchant.of(loadToolConfig(env));
    if (merchant.mode === 'live') throw new UsageError('trigger acts in the sandbox: API_KEY must be a test key');
    const made = await scenario(merchant);
    const { chargeId, refundId = null, payoutId = null, clockAdvancedSeconds = 0 } = made;
    const deliveries = await deliveriesOf(merchant, event, rawIdOf(payoutId ?? chargeId));
    const paymentId = `tx_${rawIdOf(chargeId)}`;
    return {
      json: { event, chargeId, paymentId, refundId, payoutId, clockAdvancedSeconds, deliveries },
      text: (screen) =>
        [
          `${event}: charge ${chargeId} of ${formatAmount(AMOUNT, 'BRL', 'en')}, payment ${paymentId}${refundId === null ? '' : `, refund ${refundId}`}${payoutId === null ? '' : `, payout ${payoutId}`}`,
          ...(clockAdvancedSeconds === 0 ? [] : [`The account's test clock went ${clockAdvancedSeconds} s ahead.`]),
          deliveries.length === 0
            ? 'No endpoint wants it: nothing was sent.'
            : table(screen, HEAD, deliveries.map(deliveryCells)),
        ].join('\n'),
    };
  },
};
