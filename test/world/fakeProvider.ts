// A provider whose books are in memory and whose answers a test can spoil, one by one.
import type {
  AcquirerFact,
  InstrumentOutcome,
  InstrumentRef,
  InstrumentRequest,
  Issued,
  Known,
  PaymentProvider,
  PaymentProviders,
  ProviderCase,
  ProviderStatus,
  ReturnOutcome,
  Tenant,
} from '../../application/ports/paymentProvider.ts';
import type { PayerCheck } from '../../domain/payment/settle.ts';
import type { RefundOrder, RefundOutcome } from '../../domain/refund/refund.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { sampleInstrument } from './instruments.ts';

type Method = Exclude<keyof PaymentProvider, 'name' | 'exposesReceipts' | 'issueLocally'>;
/** What a method may say instead of its usual answer; every method knows `unknown`. */
interface Instead {
  readonly issue: InstrumentOutcome;
  readonly prolong: InstrumentOutcome;
  readonly cancel: 'cancelled' | 'paid';
  readonly refund: RefundOutcome;
  readonly returnPayment: ReturnOutcome;
}
type SpoiltBy<M extends Method> = 'unknown' | (() => Promise<void>) | (M extends keyof Instead ? Instead[M] : never);

const keyOf = ({ txid, method }: InstrumentRef): string => `${txid} ${method}`;
/** Of calls about a Pix the txid alone, of other methods both. */
const subjectOf = ({ txid, method }: InstrumentRef): string => (method === 'PIX' ? txid : `${txid} ${method}`);

export class FakeProvider implements PaymentProvider, PaymentProviders {
  readonly name = 'fake';
  readonly exposesReceipts = true;
  /** `<method> <subject>`, in order of the calls. */
  readonly calls: string[] = [];
  /** `<txid> <payment method>` → what was issued. */
  readonly instruments = new Map<string, Issued>();
  /** `<txid> <payment method>` of what takes no more money. */
  readonly cancelled = new Set<string>();
  /** By txid. */
  readonly incomingPayments = new Map<string, IncomingPayment[]>();
  /** By txid. */
  readonly facts = new Map<string, AcquirerFact[]>();
  /** By txid. */
  readonly cases = new Map<string, ProviderCase[]>();
  /** End-to-end id → what is known of its payer; `unknown` otherwise. */
  readonly payers = new Map<string, PayerCheck>();
  /** Return id → what was sent back under it. */
  readonly returns = new Map<string, { providerPaymentId: string; amount: number }>();
  /** Refund id → what was paid out under it, and what becomes of it. */
  readonly refunds = new Map<string, { order: RefundOrder; outcome: Exclude<RefundOutcome, { kind: 'unknown' }> }>();
  /** What becomes of refunds asked for from now on. */
  refundOutcome: Exclude<RefundOutcome, { kind: 'unknown' }> = { kind: 'processing' };
  /** What the next call of a method does instead of answering. */
  readonly #spoilt = new Map<Method, unknown>();

  of(): PaymentProvider {
    return this;
  }
  issueLocally(_request: InstrumentRequest): Issued | null {
    return null;
  }

  /** The next call of `method`: an outcome of its own, `unknown`, or something to wait for before the usual answer. */
  next<M extends Method>(method: M, instead: SpoiltBy<M>): void {
    this.#spoilt.set(method, instead);
  }
  /** Nothing happened: no books, no calls, nothing spoilt. */
  forget(): void {
    this.calls.length = 0;
    for (const book of [this.instruments, this.incomingPayments, this.facts, this.cases, this.payers]) book.clear();
    for (const book of [this.returns, this.refunds]) book.clear();
    this.cancelled.clear();
    this.#spoilt.clear();
    this.refundOutcome = { kind: 'processing' };
  }

  async issue(request: InstrumentRequest): Promise<InstrumentOutcome> {
    const spoilt = await this.#called('issue', subjectOf(request));
    if (spoilt !== null && spoilt !== 'unknown') return spoilt;
    const issued = sampleInstrument(request, this.name);
    this.instruments.set(keyOf(request), issued);
    return spoilt === 'unknown' ? { kind: 'unknown' } : { kind: 'issued', issued };
  }
  async prolong(request: InstrumentRequest): Promise<InstrumentOutcome> {
    const spoilt = await this.#called('prolong', subjectOf(request));
    if (spoilt !== null && spoilt !== 'unknown') return spoilt;
    const issued = sampleInstrument(request, this.name);
    this.instruments.set(keyOf(request), issued);
    return spoilt === 'unknown' ? { kind: 'unknown' } : { kind: 'issued', issued };
  }
  async findInstrument(request: InstrumentRequest): Promise<Known<Issued | null>> {
    const spoilt = await this.#called('findInstrument', subjectOf(request));
    return known(spoilt, this.instruments.get(keyOf(request)) ?? null);
  }
  async cancel(ref: InstrumentRef): Promise<'cancelled' | 'paid' | 'unknown'> {
    const spoilt = await this.#called('cancel', subjectOf(ref));
    if (spoilt !== null) return spoilt;
    const gone = new Set([...this.returns.values()].map(({ providerPaymentId }) => providerPaymentId));
    const kept = (this.incomingPayments.get(ref.txid) ?? []).filter(
      ({ providerPaymentId }) => !gone.has(providerPaymentId),
    );
    if (kept.some(({ method }) => method === ref.method)) return 'paid';
    this.cancelled.add(keyOf(ref));
    return 'cancelled';
  }
  async statusOf(request: InstrumentRequest): Promise<Known<ProviderStatus | null>> {
    const spoilt = await this.#called('statusOf', subjectOf(request));
    const issued = this.instruments.get(keyOf(request));
    const isCancelled = this.cancelled.has(keyOf(request));
    const status = isCancelled ? 'REMOVIDA_PELO_USUARIO_RECEBEDOR' : 'ATIVA';
    return known(spoilt, issued === undefined ? null : { status, raw: { status, txid: request.txid } });
  }
  async paymentsOf(_tenant: Tenant, txid: string): Promise<Known<readonly IncomingPayment[]>> {
    return known(await this.#called('paymentsOf', txid), this.incomingPayments.get(txid) ?? []);
  }
  async paymentsBetween(_tenant: Tenant, from: string, to: string) {
    const spoilt = await this.#called('paymentsBetween', `${from} ${to}`);
    const all = [...this.incomingPayments].flatMap(([txid, incomingPayments]) =>
      incomingPayments.map((incoming) => ({ txid, incoming })),
    );
    return known(
      spoilt,
      all.filter(({ incoming: { paidAt } }) => from <= paidAt && paidAt <= to),
    );
  }
  async findPayment(_tenant: Tenant, providerPaymentId: string): Promise<Known<IncomingPayment | null>> {
    const all = [...this.incomingPayments.values()].flat();
    const found = all.find((incoming) => incoming.providerPaymentId === providerPaymentId) ?? null;
    return known(await this.#called('findPayment', providerPaymentId), found);
  }
  async checkPayer(
    _tenant: Tenant,
    { endToEndId }: { readonly txid: string; readonly endToEndId: string; readonly expectedTaxId: string },
  ): Promise<PayerCheck> {
    const spoilt = await this.#called('checkPayer', endToEndId);
    return spoilt === 'unknown' ? 'unknown' : (this.payers.get(endToEndId) ?? 'unknown');
  }
  async factsOf(_tenant: Tenant, txid: string): Promise<Known<readonly AcquirerFact[]>> {
    return known(await this.#called('factsOf', txid), this.facts.get(txid) ?? []);
  }
  async casesOf(_tenant: Tenant, txid: string): Promise<Known<readonly ProviderCase[]>> {
    return known(await this.#called('casesOf', txid), this.cases.get(txid) ?? []);
  }
  async returnPayment(
    _tenant: Tenant,
    back: { providerPaymentId: string; returnId: string; amount: number },
  ): Promise<ReturnOutcome> {
    const spoilt = await this.#called('returnPayment', back.returnId);
    if (spoilt !== null && spoilt !== 'unknown') return spoilt;
    const { returnId, providerPaymentId, amount } = back;
    if (!this.returns.has(returnId)) this.returns.set(returnId, { providerPaymentId, amount });
    return { kind: spoilt === 'unknown' ? 'unknown' : 'accepted' };
  }
  /** Spoilt by `unknown`, it is done all the same; by an outcome, it is not. */
  async refund(order: RefundOrder): Promise<RefundOutcome> {
    const spoilt = await this.#called('refund', order.refundId);
    if (spoilt !== null && spoilt !== 'unknown') return spoilt;
    const before = this.refunds.get(order.refundId);
    const done = before ?? { order, outcome: this.refundOutcome };
    this.refunds.set(order.refundId, done);
    return spoilt === 'unknown' ? { kind: 'unknown' } : done.outcome;
  }
  async findRefund({ refundId }: RefundOrder) {
    return known(await this.#called('findRefund', refundId), this.refunds.get(refundId)?.outcome ?? null);
  }

  async #called<M extends Method>(method: M, subject: string): Promise<Exclude<SpoiltBy<M>, () => unknown> | null> {
    this.calls.push(`${method} ${subject}`);
    const spoilt = this.#spoilt.get(method) as SpoiltBy<M> | undefined;
    this.#spoilt.delete(method);
    if (typeof spoilt !== 'function') return (spoilt ?? null) as Exclude<SpoiltBy<M>, () => unknown> | null;
    await spoilt();
    return null;
  }
}

const known = <T>(spoilt: unknown, value: T): Known<T> =>
  spoilt === 'unknown' ? { kind: 'unknown' } : { kind: 'known', value };
