// A merchant’s account as documented, reimplemented without the product’s code: plain numbers, no events. The gateway’s answers are
// compared with it (architecture §11).

export type Status =
  | 'WAITING_PAYMENT'
  | 'PROCESSING'
  | 'PAID'
  | 'APPROVED'
  | 'REFUSED'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'REFUNDED'
  | 'CHARGEBACK'
  | 'DISPUTE';
export type Method = 'PIX' | 'CREDIT_CARD' | 'BOLETO';

export interface Refund {
  readonly id: string;
  readonly amount: number;
  /** Charged to the merchant in addition to the amount. */
  readonly fee: number;
  status: 'open' | 'REFUNDED' | 'FAILED';
}

export interface Payment {
  readonly id: string;
  readonly amount: number;
  readonly method: Method;
  readonly isLocked: boolean;
  /** In seconds of the shop’s clock. */
  readonly expiresAt: number;
  status: Status;
  /** A locked Pix without a payer document is held for review. */
  isHeld: boolean;
  /** When the net amount becomes available; null if it already is or none is due. */
  availableAt: number | null;
  net: number;
  retained: number;
  readonly refunds: Refund[];
}

const HOUR = 3_600;
const DAY = 86_400;
const LIFETIME = { PIX: HOUR, CREDIT_CARD: 1_800 } as const;
/** Offset behind UTC. */
const SAO_PAULO = 3 * HOUR;
/** Returns when an instrument created at `now` expires (P5): a boleto at the end of the third calendar day after it. */
const expiryOf = (method: Method, now: number): number =>
  method === 'BOLETO' ? (Math.floor((now - SAO_PAULO) / DAY) + 4) * DAY + SAO_PAULO : now + LIFETIME[method];
const HOLD_DAYS = { PIX: 0, CREDIT_CARD: 2, BOLETO: 1 } as const;
/** Basis points and fixed part of the provider’s fee; the platform charges 1 %. */
const PROVIDER = { PIX: [0, 10], CREDIT_CARD: [250, 30], BOLETO: [150, 0] } as const;
export const PIX_OUT_FEE = 50;

const halfUp = (amount: number, bps: number): number => Math.floor((amount * bps + 5_000) / 10_000);
const netOf = (amount: number, method: Method): number => {
  const [bps, fixed] = PROVIDER[method];
  const provider = Math.min(halfUp(amount, bps) + fixed, amount);
  return amount - provider - Math.min(halfUp(amount, 100), amount - provider);
};

export type PayKind = 'right' | 'wrong' | 'late' | 'stranger' | 'nobody';

export class Shop {
  readonly payments: Payment[] = [];
  /** Account time, in seconds since 1970. */
  #now: number;
  #available = 0;
  #pending = 0;

  constructor(now: number) {
    this.#now = now;
  }

  create(id: string, method: Method, amount: number, isLocked: boolean): Payment {
    const rest = { isHeld: false, availableAt: null, net: 0, retained: 0, refunds: [] };
    const expiresAt = expiryOf(method, this.#now);
    const payment: Payment = { id, amount, method, isLocked, expiresAt, status: 'WAITING_PAYMENT', ...rest };
    this.payments.push(payment);
    return payment;
  }

  get wallet() {
    const retained = this.payments.reduce((sum, { retained }) => sum + retained, 0);
    return { available: this.#available, pending: this.#pending, retained };
  }

  /** Applies a Pix and returns its outcome. */
  pay(payment: Payment, kind: PayKind): 'settled' | 'returned' | 'refunded' | 'held' | 'refused' {
    const isEnded = payment.status === 'EXPIRED' || payment.status === 'CANCELLED';
    if (isEnded && kind !== 'late') return 'refused';
    if (kind === 'late' || kind === 'wrong' || payment.status !== 'WAITING_PAYMENT') return 'returned';
    if (payment.isLocked && kind === 'stranger') {
      payment.status = 'REFUNDED';
      return 'refunded';
    }
    if (payment.isLocked && kind === 'nobody') {
      payment.status = 'PROCESSING';
      payment.isHeld = true;
      return 'held';
    }
    this.#settle(payment);
    return 'settled';
  }

  #settle(payment: Payment): void {
    const days = HOLD_DAYS[payment.method];
    payment.status = payment.method === 'CREDIT_CARD' ? 'APPROVED' : 'PAID';
    payment.net = netOf(payment.amount, payment.method);
    payment.availableAt = days === 0 ? null : this.#now + days * DAY;
    if (days === 0) this.#available += payment.net;
    else this.#pending += payment.net;
  }

  authorize(payment: Payment): void {
    this.#settle(payment);
  }

  isAlive({ status }: Payment): boolean {
    return status === 'WAITING_PAYMENT' || status === 'PROCESSING';
  }

  /** Cancels the payment, or returns null if it can’t be canceled. */
  cancel(payment: Payment): 'CANCELLED' | null {
    if (!this.isAlive(payment)) return null;
    payment.isHeld = false;
    payment.status = 'CANCELLED';
    return 'CANCELLED';
  }

  /** Returns the error code of a refund, or null if it would be accepted. */
  refundRefusal(payment: Payment, amount: number): string | null {
    if (payment.status === 'CHARGEBACK' || payment.status === 'DISPUTE') return 'charge_disputed';
    if (payment.status !== 'PAID' && payment.status !== 'APPROVED') return 'transaction_not_refundable';
    if (payment.method === 'BOLETO') return 'REFUND_NOT_SUPPORTED';
    return amount > this.restOf(payment) ? 'refund_amount_exceeds_remaining' : null;
  }

  restOf({ amount, refunds, retained }: Payment): number {
    return refunds.reduce((rest, one) => (one.status === 'FAILED' ? rest : rest - one.amount), amount - retained);
  }

  refund(payment: Payment, id: string, amount: number, fee: number): void {
    payment.refunds.push({ id, amount, fee, status: 'open' });
    this.#available -= amount + fee;
  }

  endRefund(payment: Payment, refund: Refund, isPaid: boolean): void {
    refund.status = isPaid ? 'REFUNDED' : 'FAILED';
    if (!isPaid) this.#available += refund.fee + refund.amount;
    const given = payment.refunds.reduce((sum, one) => (one.status === 'REFUNDED' ? sum + one.amount : sum), 0);
    const isPlain = payment.status === 'PAID' || payment.status === 'APPROVED';
    if (isPlain && given === payment.amount) payment.status = 'REFUNDED';
  }

  /** Holds what is left of the payment. */
  dispute(payment: Payment, kind: 'CHARGEBACK' | 'DISPUTE'): void {
    payment.retained = this.restOf(payment);
    this.#available -= payment.retained;
    payment.status = kind;
  }

  advance(seconds: number): void {
    this.#now += seconds;
    for (const payment of this.payments) {
      if (this.isAlive(payment) && !payment.isHeld && this.#now >= payment.expiresAt) payment.status = 'EXPIRED';
      if (payment.availableAt === null || this.#now < payment.availableAt) continue;
      payment.availableAt = null;
      this.#pending -= payment.net;
      this.#available += payment.net;
    }
  }
}
