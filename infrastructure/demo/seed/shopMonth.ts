// Plays a shop's month through the public API: orders, payers, refunds, disputes, payouts and webhooks, on the account's test clock.
import { type Merchant, NOTHING_TO_SAY, openInbox } from '../merchant.ts';
import { customerOf, type Order, SEED_DAYS, SEED_MONTH, type ShopPlan, type Slot } from './plan.ts';

/** An order with the id of its payment, without prefix. */
interface Placed extends Order {
  readonly id: string;
}

/** The start of each slot, in UTC: 10:05 and 19:05 in São Paulo. */
const SLOT_AT: { readonly [S in Slot]: string } = { 0: '13:05', 1: '22:05' };
const SOON_MS = 2 * 60_000;
/** The previous day's remaining steps run this long before the first orders, so within 24 hours of their own orders. */
const BEFORE_MS = 30 * 60_000;
const LATER_MS = 40 * 60_000;
/** Longest step of a test clock. */
const YEAR_SECONDS = 365 * 86_400;
/** The clock stops on the first day of the next month. */
const END_MS = Date.UTC(2030, 1, 1, 15);
/** Requests in flight. */
const AT_ONCE = 8;
/** Share of the available balance that a shop withdraws. */
const PAYOUT_SHARE = 0.6;

const inTurns = async <T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> => {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map(work));
};

const startOf = (day: number, slot: Slot): number =>
  Date.parse(`${SEED_MONTH}-${String(day).padStart(2, '0')}T${SLOT_AT[slot]}:00.000Z`);

const isCharge = ({ methods }: Order): boolean => methods.length === 1 && methods[0] === 'PIX';

export class ShopMonth {
  readonly #plan: ShopPlan;
  readonly #merchant: Merchant;
  readonly #placed: Placed[] = [];
  /** Ids of open dispute cases by the number of their order. */
  readonly #cases = new Map<number, string>();

  constructor(plan: ShopPlan, merchant: Merchant) {
    this.#plan = plan;
    this.#merchant = merchant;
  }

  async run(onDay: (day: number) => void): Promise<void> {
    await using healthy = await openInbox(async () => NOTHING_TO_SAY);
    await using failing = await openInbox(async () => ({ ...NOTHING_TO_SAY, status: 500 }));
    const { failingEvents } = this.#plan;
    const days = () => this.#days(onDay);
    await this.#merchant.subscribed(healthy.url, ['*'], () =>
      failingEvents.length > 0 ? this.#merchant.subscribed(failing.url, failingEvents, days) : days(),
    );
  }

  async #days(onDay: (day: number) => void): Promise<void> {
    for (let day = 1; day <= SEED_DAYS; day++) {
      await this.#slot(day, 0);
      await this.#slot(day, 1);
      onDay(day);
    }
    await this.#moveTo(END_MS);
    await this.#merchant.call('POST', '/v1/sandbox/deliveries/flush', {});
  }

  async #slot(day: number, slot: Slot): Promise<void> {
    const start = startOf(day, slot);
    if (slot === 0) {
      await this.#moveTo(start - BEFORE_MS);
      await this.#morning(day);
    }
    await this.#moveTo(start);
    const orders = this.#plan.orders.filter((order) => order.day === day && order.slot === slot);
    const placed: Placed[] = [];
    await inTurns(orders, async (order) => placed.push({ ...order, id: await this.#place(order) }));
    this.#placed.push(...placed);
    if (slot === 1 && this.#plan.payoutDays.includes(day)) await this.#withdraw(day);
    await this.#moveTo(start + SOON_MS);
    await inTurns(placed, (order) => this.#soon(order));
    const late = placed.filter(({ fate }) => fate === 'later');
    if (late.length === 0) return;
    await this.#moveTo(start + LATER_MS);
    await inTurns(late, (order) => this.#pay(order));
  }

  /** Moves the clock to an instant. Work that falls due in between is done first. */
  async #moveTo(ms: number): Promise<void> {
    for (;;) {
      const { now } = await this.#merchant.call<{ now: string }>('GET', '/v1/sandbox/clock');
      const seconds = Math.ceil((ms - Date.parse(now)) / 1_000);
      if (seconds <= 0) return;
      const step = { seconds: Math.min(seconds, YEAR_SECONDS) };
      await this.#merchant.call('POST', '/v1/sandbox/clock/advance', step);
    }
  }

  /** Returns the id of the new payment, without prefix. */
  async #place(order: Order): Promise<string> {
    const { amount, currency, methods, customer } = order;
    const { name, document } = customerOf(customer);
    const body = isCharge(order)
      ? { amount, payment_method: 'pix', customer: { name, document } }
      : {
          ...{ amount, currency, paymentMethods: methods, customerName: name, customerDocument: document },
          idempotencyKey: `seed-order-${order.number}`,
          ...(methods.includes('MBWAY') && { metadata: { phone: '+351912345678' } }),
        };
    const path = isCharge(order) ? '/v1/charges' : '/v1/payments';
    const { id } = await this.#merchant.call<{ id: string }>('POST', path, body);
    return id.slice(id.indexOf('_') + 1);
  }

  /** Two minutes after the order. */
  async #soon(order: Placed): Promise<void> {
    if (order.fate === 'soon') return this.#pay(order);
    if (order.fate === 'cancelled') await this.#merchant.call('POST', `/v1/payments/tx_${order.id}/cancel`);
    if (order.fate === 'refused') await this.#merchant.call('POST', `/v1/sandbox/payments/tx_${order.id}/refuse`, {});
  }

  async #pay({ id, paysWith }: Placed): Promise<void> {
    if (paysWith === 'PIX') await this.#merchant.call('POST', `/v1/sandbox/charges/ch_${id}/pay`, {});
    else await this.#merchant.call('POST', `/v1/sandbox/payments/tx_${id}/authorize`, { method: paysWith });
  }

  async #morning(day: number): Promise<void> {
    await inTurns(
      this.#placed.filter((order) => order.fate === 'nextDay' && order.day === day - 1),
      (order) => this.#pay(order),
    );
    await inTurns(
      this.#placed.filter(({ after }) => after?.day === day),
      (order) => this.#afterSale(order),
    );
    await inTurns(
      this.#placed.filter(({ after }) => after?.decided?.day === day),
      (order) => this.#decide(order),
    );
  }

  async #afterSale({ number, id, amount, paysWith, after }: Placed): Promise<void> {
    if (after?.kind === 'refund') {
      const part = Math.floor((amount * after.percent) / 100);
      const refund = { amount: part, idempotencyKey: `seed-refund-${number}` };
      await this.#merchant.call('POST', `/v1/payments/tx_${id}/refund`, refund);
    } else if (paysWith === 'PIX') {
      const dispute = { method: 'scam', reason: 'The payer says that nothing arrived' };
      const opened = await this.#merchant.call<{ id: string }>('POST', `/v1/sandbox/charges/ch_${id}/med`, dispute);
      this.#cases.set(number, opened.id);
    } else await this.#merchant.call('POST', `/v1/sandbox/payments/tx_${id}/chargeback`);
  }

  async #decide({ number, after }: Placed): Promise<void> {
    const result = after?.decided?.isWon ? 'disagreed' : 'agreed';
    await this.#merchant.call('POST', `/v1/sandbox/med/cases/${this.#cases.get(number)}/decide`, { result });
  }

  async #withdraw(day: number): Promise<void> {
    const { available } = await this.#merchant.call<{ available: number }>('GET', '/v1/wallets/balance');
    const amount = Math.floor((available * PAYOUT_SHARE) / 100) * 100;
    const order = { amount, destination: { pix_key: 'ana@example.com' }, description: `Payout of day ${day}` };
    const fails = this.#plan.failedPayoutDay === day;
    const confirms = (auto_confirm_payouts: boolean) =>
      this.#merchant.call('POST', '/v1/sandbox/settings', { auto_confirm_payouts });
    if (fails) await confirms(false);
    const { id } = await this.#merchant.call<{ id: string }>('POST', '/v1/payouts', order);
    if (!fails) return;
    await this.#merchant.call('POST', `/v1/sandbox/payouts/${id}/fail`, {});
    await confirms(true);
  }
}
