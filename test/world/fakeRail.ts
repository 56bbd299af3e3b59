// A payout rail with outcomes that a test sets.
import type { PayoutOrder, PayoutRail, PayoutRails } from '../../application/ports/payoutRail.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import type { PayoutOutcome } from '../../domain/payout/decisions.ts';

type KnownOutcome = Exclude<PayoutOutcome, { kind: 'unknown' }>;

/** Returns rails of which every tenant has this one. */
export const railsOf = (rail: PayoutRail): PayoutRails => ({
  route: async () => ({ connectionId: null, rail }),
  of: async () => rail,
});

export class FakeRail implements PayoutRail {
  /** The outcome that `pay` returns. The bank records the order in any case. */
  answer: PayoutOutcome = { kind: 'processing' };
  /** Whether an unknown answer means that the order never arrived. */
  losesOrders = false;
  /** Outcomes of recorded orders by payout id. */
  readonly orders = new Map<string, KnownOutcome>();
  paid = 0;
  /** Awaited before an order is recorded. */
  beforePay: (order: PayoutOrder) => Promise<void> = async () => undefined;

  feeOf() {
    return toMinor(50);
  }

  async pay(order: PayoutOrder): Promise<PayoutOutcome> {
    await this.beforePay(order);
    this.paid++;
    if (this.losesOrders) return { kind: 'unknown' };
    const { answer } = this;
    const known = this.orders.get(order.payoutId);
    if (known !== undefined) return known;
    this.orders.set(order.payoutId, answer.kind === 'unknown' ? { kind: 'processing' } : answer);
    return answer;
  }

  async find({ payoutId }: PayoutOrder) {
    return { kind: 'known' as const, value: this.orders.get(payoutId) ?? null };
  }
}
