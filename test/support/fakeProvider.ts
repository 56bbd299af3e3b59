// A provider whose books are in memory and whose answers a test can spoil, one by one.
import type {
  InstrumentOutcome,
  InstrumentRequest,
  Known,
  PaymentProvider,
  PaymentProviders,
  Tenant,
} from '../../application/ports/paymentProvider.ts';
import type { PixInstrument } from '../../domain/charge/instruments.ts';
import type { Receipt } from '../../domain/transaction/transaction.ts';

type Method = 'issue' | 'findInstrument' | 'receiptsOf' | 'findReceipt' | 'returnReceipt';

export class FakeProvider implements PaymentProvider, PaymentProviders {
  readonly name = 'fake';
  readonly calls: string[] = [];
  readonly instruments = new Map<string, PixInstrument>();
  readonly receipts = new Map<string, Receipt[]>();
  /** Return id → what was sent back under it. */
  readonly returns = new Map<string, { endToEndId: string; amount: number }>();
  /** What the next call of a method does instead of answering. */
  readonly #spoilt = new Map<Method, InstrumentOutcome | 'unknown' | (() => Promise<void>)>();

  forPix(): PaymentProvider {
    return this;
  }
  issueLocally(): PixInstrument | null {
    return null;
  }

  /** The next call of `method`: an outcome of its own, `unknown`, or something to wait for before the usual answer. */
  next(method: Method, instead: InstrumentOutcome | 'unknown' | (() => Promise<void>)): void {
    this.#spoilt.set(method, instead);
  }

  async issue(request: InstrumentRequest): Promise<InstrumentOutcome> {
    const spoilt = await this.#called('issue', request.txid);
    if (spoilt !== null && spoilt !== 'unknown') return spoilt;
    const instrument = {
      provider: this.name,
      txid: request.txid,
      brCode: `code-${request.txid}`,
      expiresAt: request.expiresAt,
    };
    this.instruments.set(request.txid, instrument);
    return spoilt === 'unknown' ? { kind: 'unknown' } : { kind: 'issued', instrument };
  }
  async findInstrument({ txid }: InstrumentRequest): Promise<Known<PixInstrument | null>> {
    return this.#known(await this.#called('findInstrument', txid), this.instruments.get(txid) ?? null);
  }
  async receiptsOf(_tenant: Tenant, txid: string): Promise<Known<readonly Receipt[]>> {
    return this.#known(await this.#called('receiptsOf', txid), this.receipts.get(txid) ?? []);
  }
  async findReceipt(_tenant: Tenant, endToEndId: string): Promise<Known<Receipt | null>> {
    const all = [...this.receipts.values()].flat();
    return this.#known(
      await this.#called('findReceipt', endToEndId),
      all.find((receipt) => receipt.endToEndId === endToEndId) ?? null,
    );
  }
  async returnReceipt(
    _tenant: Tenant,
    back: { endToEndId: string; returnId: string; amount: number },
  ): Promise<'accepted' | 'unknown'> {
    const spoilt = await this.#called('returnReceipt', back.returnId);
    const { returnId, endToEndId, amount } = back;
    if (!this.returns.has(returnId)) this.returns.set(returnId, { endToEndId, amount });
    return spoilt === 'unknown' ? 'unknown' : 'accepted';
  }

  #known<T>(spoilt: unknown, value: T): Known<T> {
    return spoilt === 'unknown' ? { kind: 'unknown' } : { kind: 'known', value };
  }
  async #called(method: Method, subject: string): Promise<InstrumentOutcome | 'unknown' | null> {
    this.calls.push(`${method} ${subject}`);
    const spoilt = this.#spoilt.get(method);
    this.#spoilt.delete(method);
    if (typeof spoilt !== 'function') return spoilt ?? null;
    await spoilt();
    return null;
  }
}
