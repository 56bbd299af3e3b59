// A provider in memory. Tests can replace the outcome of single calls.
import type {
  AcquirerFact,
  AcquirerReports,
  BookedPage,
  DisputeFeed,
  InstrumentOutcome,
  InstrumentRef,
  InstrumentRequest,
  Issued,
  Known,
  PaymentProvider,
  PaymentProviders,
  ProviderCase,
  ProviderStatus,
  ReceivedPayment,
  ReturnOutcome,
} from '../../application/ports/paymentProvider.ts';
import type { AccountId, ConnectionId, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { PayerCheck } from '../../domain/payment/settle.ts';
import type { RefundOrder, RefundOutcome } from '../../domain/refund/refund.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { sampleInstrument } from './instruments.ts';

type Part = keyof PaymentProvider | keyof AcquirerReports | keyof DisputeFeed;
type Method = Exclude<
  Part,
  'connectionId' | 'name' | 'paysOut' | 'ownsExpiry' | 'acquirer' | 'disputes' | 'issueLocally' | 'claim'
>;
/** Possible replacements for a method's usual outcome; every method also allows `unknown`. */
interface Instead {
  readonly issue: InstrumentOutcome;
  readonly prolong: InstrumentOutcome;
  readonly cancel: 'cancelled' | 'removed' | 'paid';
  readonly refund: RefundOutcome;
  readonly returnPayment: ReturnOutcome;
}
type SpoiltBy<M extends Method> = 'unknown' | (() => Promise<void>) | (M extends keyof Instead ? Instead[M] : never);

const keyOf = ({ txid, method }: InstrumentRef): string => `${txid} ${method}`;
/** Returns the subject of a call: for Pix the txid, for other methods txid and method. */
const subjectOf = ({ txid, method }: InstrumentRef): string => (method === 'PIX' ? txid : `${txid} ${method}`);

export class FakeProvider implements PaymentProvider, AcquirerReports, DisputeFeed, PaymentProviders {
  connectionId: ConnectionId | null = null;
  readonly name = 'fake';
  paysOut = true;
  ownsExpiry = false;
  readonly acquirer = this;
  disputes: DisputeFeed | null = this;
  /** `<method> <subject>` of all calls, in order. */
  readonly calls: string[] = [];
  /** Issued instruments by `<txid> <payment method>`. */
  readonly instruments = new Map<string, Issued>();
  /** `<txid> <payment method>` of cancelled instruments. */
  readonly cancelled = new Set<string>();
  /** Payments by txid. */
  readonly incomingPayments = new Map<string, IncomingPayment[]>();
  /** Accounts in the list of payments, by txid; `owner` if missing. */
  readonly owners = new Map<string, AccountId>();
  owner = 'acct' as AccountId;
  /** Payments per page of the list. */
  listPage = 1_000;
  /** Facts by txid. */
  readonly facts = new Map<string, AcquirerFact[]>();
  /** Dispute cases by txid. */
  readonly cases = new Map<string, ProviderCase[]>();
  /** Payer checks by end-to-end id; `unknown` if missing. */
  readonly payers = new Map<string, PayerCheck>();
  /** Returned payments by return id. */
  readonly returns = new Map<string, { providerPaymentId: string; amount: number }>();
  /** The payment that claimed a received payment, by its id at the provider. */
  readonly claims = new Map<string, PaymentId>();
  /** Refunds by refund id, with their outcome. */
  readonly refunds = new Map<string, { order: RefundOrder; outcome: Exclude<RefundOutcome, { kind: 'unknown' }> }>();
  /** The outcome of new refunds. */
  refundOutcome: Exclude<RefundOutcome, { kind: 'unknown' }> = { kind: 'processing' };
  /** Replacements for the next call of each method. */
  readonly #spoilt = new Map<Method, unknown>();

  async route(): Promise<readonly PaymentProvider[]> {
    return [this];
  }
  async of(): Promise<PaymentProvider | null> {
    return this;
  }
  issueLocally(_request: InstrumentRequest): Issued | null {
    return null;
  }

  /** Sets the next outcome of `method`, or `unknown`, or a function to await before the usual outcome. */
  next<M extends Method>(method: M, instead: SpoiltBy<M>): void {
    this.#spoilt.set(method, instead);
  }
  /** Resets all records, calls and replacements. */
  forget(): void {
    this.calls.length = 0;
    for (const book of [this.instruments, this.incomingPayments, this.facts, this.cases, this.payers]) book.clear();
    for (const book of [this.returns, this.refunds, this.claims]) book.clear();
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
  async cancel(ref: InstrumentRef): Promise<'cancelled' | 'removed' | 'paid' | 'unknown'> {
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
  async paymentsOf(_tenant: Tenant, txid: string): Promise<Known<readonly ReceivedPayment[]>> {
    const all = this.incomingPayments.get(txid) ?? [];
    return known(
      await this.#called('paymentsOf', txid),
      all.map((incoming) => received(txid, incoming)),
    );
  }
  /** A payment counts as booked when it is paid. */
  async bookedBetween(from: string, to: string, after: string | null): Promise<Known<BookedPage>> {
    const first = Number(after ?? 0);
    const spoilt = await this.#called('bookedBetween', `${from} ${to}${after === null ? '' : ` after ${after}`}`);
    const all = [...this.incomingPayments]
      .flatMap(([txid, some]) =>
        some.map((incoming) => ({
          ...{ txid, incoming, bookedAt: incoming.paidAt, accountId: this.owners.get(txid) ?? this.owner },
        })),
      )
      .filter(({ bookedAt }) => from <= bookedAt && bookedAt <= to);
    const next = first + this.listPage < all.length ? `${first + this.listPage}` : null;
    return known(spoilt, { items: all.slice(first, first + this.listPage), next });
  }
  async findPayment(_tenant: Tenant, providerPaymentId: string): Promise<Known<ReceivedPayment | null>> {
    const all = [...this.incomingPayments].flatMap(([txid, some]) => some.map((incoming) => received(txid, incoming)));
    const found = all.find(({ incoming }) => incoming.providerPaymentId === providerPaymentId) ?? null;
    return known(await this.#called('findPayment', providerPaymentId), found);
  }
  async claim(providerPaymentId: string, paymentId: PaymentId): Promise<boolean> {
    if (!this.claims.has(providerPaymentId)) this.claims.set(providerPaymentId, paymentId);
    return this.claims.get(providerPaymentId) === paymentId;
  }
  async checkPayer(
    _tenant: Tenant,
    { endToEndId }: { readonly txid: string; readonly endToEndId: string; readonly expectedTaxId: string },
  ): Promise<Known<PayerCheck>> {
    return known(await this.#called('checkPayer', endToEndId), this.payers.get(endToEndId) ?? 'unknown');
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
    return { kind: spoilt === 'unknown' ? 'unknown' : 'done' };
  }
  /** With the replacement `unknown` the refund still happens; with an outcome it doesn't. */
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

export const received = (txid: string, incoming: IncomingPayment): ReceivedPayment => ({
  txid,
  incoming,
  isPlain: true,
  returns: [],
});

const known = <T>(spoilt: unknown, value: T): Known<T> =>
  spoilt === 'unknown' ? { kind: 'unknown' } : { kind: 'known', value };
