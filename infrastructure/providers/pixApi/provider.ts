// The payment provider of a connection through the central bank's API Pix.
import type {
  InstrumentRef,
  InstrumentRequest,
  PaymentProvider,
  ReturnOutcome,
} from '../../../application/ports/paymentProvider.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import type { RefundOrder, RefundOutcome } from '../../../domain/refund/refund.ts';
import type { Charges, Connection } from './charges.ts';
import type { PixApiNeeds } from './needs.ts';
import type { Payouts } from './payouts.ts';
import type { ReceivedPix } from './received.ts';
import type { KnownReturn, ReturnOrder, Returns } from './returns.ts';

interface Parts {
  readonly connection: Connection;
  readonly charges: Charges;
  readonly received: ReceivedPix;
  readonly returns: Returns;
  readonly payouts: Payouts | null;
  readonly claims: PixApiNeeds['claims'];
}

const returnOrder = ({ providerPaymentId, refundId, amount }: RefundOrder): ReturnOrder => ({
  endToEndId: providerPaymentId,
  id: refundId,
  amount,
});

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;

const refundOutcome = (result: KnownReturn): Exclude<RefundOutcome, { kind: 'unknown' }> => {
  if (result.kind === 'done') return { kind: 'confirmed', endToEndId: result.returnId };
  return result.kind === 'refused' ? refused(result.reason) : result;
};

export class PixApiProvider implements PaymentProvider {
  readonly ownsExpiry = true;
  readonly acquirer = null;
  readonly disputes = null;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get connectionId() {
    return this.#parts.connection.terms.connectionId;
  }
  get name(): string {
    return this.#parts.connection.terms.name;
  }
  get paysOut(): boolean {
    return this.#parts.payouts !== null;
  }

  issueLocally(): null {
    return null;
  }
  issue(request: InstrumentRequest): ReturnType<PaymentProvider['issue']> {
    return this.#parts.charges.issue(request);
  }
  prolong(request: InstrumentRequest): ReturnType<PaymentProvider['prolong']> {
    return this.#parts.charges.prolong(request);
  }
  findInstrument(request: InstrumentRequest): ReturnType<PaymentProvider['findInstrument']> {
    return this.#parts.charges.find(request);
  }
  cancel(ref: InstrumentRef): ReturnType<PaymentProvider['cancel']> {
    return this.#parts.charges.cancel(ref);
  }
  statusOf(request: InstrumentRequest): ReturnType<PaymentProvider['statusOf']> {
    return this.#parts.charges.statusOf(request);
  }
  paymentsOf(_tenant: Tenant, txid: string): ReturnType<PaymentProvider['paymentsOf']> {
    return this.#parts.received.ofCharge(txid);
  }
  findPayment(_tenant: Tenant, providerPaymentId: string): ReturnType<PaymentProvider['findPayment']> {
    return this.#parts.received.find(providerPaymentId);
  }
  claim(providerPaymentId: string, paymentId: PaymentId): Promise<boolean> {
    return this.#parts.claims(providerPaymentId, paymentId);
  }
  checkPayer(
    _tenant: Tenant,
    pix: Parameters<PaymentProvider['checkPayer']>[1],
  ): ReturnType<PaymentProvider['checkPayer']> {
    return this.#parts.received.checkPayer(pix);
  }

  async returnPayment(
    _tenant: Tenant,
    { providerPaymentId, returnId, amount }: Parameters<PaymentProvider['returnPayment']>[1],
  ): Promise<ReturnOutcome> {
    const result = await this.#parts.returns.giveBack({ endToEndId: providerPaymentId, id: returnId, amount });
    return result.kind === 'refused' ? result : { kind: result.kind };
  }

  async refund(order: RefundOrder): Promise<RefundOutcome> {
    const { returns, payouts } = this.#parts;
    if (order.strategy === 'devolution') {
      const result = await returns.giveBack(returnOrder(order));
      return result.kind === 'unknown' ? result : refundOutcome(result);
    }
    if (order.strategy === 'reversal') return refused('A Pix has no reversal.');
    if (payouts === null) return refused('The institution sends no Pix payments.');
    if (order.destination === null) return refused('The refund has no destination.');
    return payouts.send({ id: order.refundId, amount: order.amount, destination: order.destination, note: null });
  }

  async findRefund(order: RefundOrder): ReturnType<PaymentProvider['findRefund']> {
    const { returns, payouts } = this.#parts;
    if (order.strategy === 'cashout' && payouts !== null)
      return payouts.findSent({ id: order.refundId, amount: order.amount });
    if (order.strategy !== 'devolution') return { kind: 'known', value: null };
    const found = await returns.find(returnOrder(order));
    if (found.kind === 'unknown') return found;
    return { kind: 'known', value: found.value === null ? null : refundOutcome(found.value) };
  }
}
