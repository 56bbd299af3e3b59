// The sandbox bank: the provider of test mode. It keeps its books durably in its own schema, and is used only through the provider port
// and its notifications (architecture §7). A charge's metadata can request provider failures (rule X6).
import type {
  AcquirerReports,
  BookedPage,
  DisputeFeed,
  InstrumentRef,
  InstrumentRequest,
  Issued,
  Known,
  PaymentProvider,
  SandboxTerms,
} from '../../../application/ports/paymentProvider.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import type { PixInstrument } from '../../../domain/charge/instruments.ts';
import type { AccountId, Tenant } from '../../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import { buildDynamicBrCode } from '../../../domain/pix/brCode.ts';
import { payerTaxIdOf } from '../../../domain/pix/taxId.ts';
import type { RefundOrder } from '../../../domain/refund/refund.ts';
import { bookedBetween, factsOf, findPayment, isCancelled, paymentsOf } from './books.ts';
import { cancelInstrument } from './cancel.ts';
import { casesOf } from './cases.ts';
import { sandboxAcquirerInstrument } from './instruments.ts';
import { findRefund, takeRefund } from './refunds.ts';
import { standardStatus } from './status.ts';

/** Delay of the trouble `slow`. */
const SLOW_MS = 2_000;

type Trouble = 'timeout' | 'unavailable' | 'rejected' | 'slow' | null;
const troubleOf = ({ sandbox }: InstrumentRequest): Trouble => {
  const asked = sandbox?.metadata['sandbox_provider'];
  return asked === 'timeout' || asked === 'unavailable' || asked === 'rejected' || asked === 'slow' ? asked : null;
};

type ChargeMetadata = SandboxTerms['metadata'];
const RETURN_REFUSED = 'The sandbox bank refuses returns of this charge.';
const refusesReturns = (metadata: ChargeMetadata | null): boolean =>
  metadata?.['sandbox_provider'] === 'return_refused';

/** Longest dynamic URL, in characters. */
const LOCATION_MAX = 77;

/** The code is dynamic, on the gateway's own host, so that every test charge has a realistic one. */
const pixInstrument = (request: InstrumentRequest, sandbox: SandboxTerms): PixInstrument => ({
  provider: 'sandbox',
  txid: request.txid,
  brCode: buildDynamicBrCode({
    url: locationOf(sandbox.baseUrl, request.txid),
    merchantName: sandbox.receiverName,
    merchantCity: sandbox.receiverCity,
    amount: request.amount,
  }),
  expiresAt: request.expiresAt,
});

/** Returns `host/pix/<txid>`. Banks' apps reject hosts without a dot and long ones; then the sandbox's own host name is used. */
const locationOf = (baseUrl: string, txid: string): string => {
  const host = new URL(baseUrl).host;
  const location = `${host}/pix/${txid}`;
  return host.includes('.') && !host.includes('[') && location.length <= LOCATION_MAX
    ? location
    : `sandbox.quita.example/pix/${txid}`;
};

const issuedOf = (request: InstrumentRequest): Issued => {
  const { method, sandbox } = request;
  if (sandbox === null) throw new Error('a live request reached the sandbox bank');
  return method === 'PIX'
    ? { method, instrument: pixInstrument(request, sandbox) }
    : { method, instrument: sandboxAcquirerInstrument({ ...request, ...sandbox, method }) };
};

interface SandboxBankNeeds {
  readonly db: SqlPool;
  readonly wait: (ms: number) => Promise<void>;
  /** Whether the account's refunds are confirmed automatically (X3). */
  readonly confirmsRefunds: (account: AccountId) => Promise<boolean>;
  /** Current time of the account's test mode. */
  readonly now: (account: AccountId) => Promise<Timestamp>;
}

export class SandboxBank implements PaymentProvider, AcquirerReports, DisputeFeed {
  readonly connectionId = null;
  readonly name = 'sandbox';
  readonly paysOut = true;
  readonly ownsExpiry = false;
  readonly acquirer = this;
  readonly disputes = this;
  readonly #needs: SandboxBankNeeds;

  constructor(needs: SandboxBankNeeds) {
    this.#needs = needs;
  }

  issueLocally(request: InstrumentRequest) {
    return troubleOf(request) === null ? issuedOf(request) : null;
  }

  async issue(request: InstrumentRequest): ReturnType<PaymentProvider['issue']> {
    const trouble = troubleOf(request);
    if (trouble === 'unavailable') return { kind: 'unavailable' };
    if (trouble === 'rejected')
      return { kind: 'refused', reason: 'The sandbox provider rejected the charge.', providerErrorCode: 'rejected' };
    if (trouble === 'slow') await this.#needs.wait(SLOW_MS);
    const issued = await this.#booked(request, 'coalesce(i.expires_at, excluded.expires_at)');
    // The bank issued it, but its answer is lost.
    return trouble === 'timeout' ? { kind: 'unknown' } : { kind: 'issued', issued };
  }

  async prolong(request: InstrumentRequest): ReturnType<PaymentProvider['prolong']> {
    return { kind: 'issued', issued: await this.#booked(request, 'greatest(i.expires_at, excluded.expires_at)') };
  }

  /** Books an instrument and returns it with its stored expiry. `whenThere`: SQL of the expiry if the instrument already exists. */
  async #booked(request: InstrumentRequest, whenThere: string): Promise<Issued> {
    const { rows } = await this.#needs.db.query<{ expires_ms: number }>(
      `INSERT INTO sandbox_bank.instruments AS i (account_id, txid, method, expires_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (account_id, txid, method) DO UPDATE SET expires_at = ${whenThere}
       RETURNING (extract(epoch FROM i.expires_at) * 1000)::bigint AS expires_ms`,
      [request.accountId, request.txid, request.method, request.expiresAt],
    );
    return issuedOf({ ...request, expiresAt: fromMillis((rows[0] as { expires_ms: number }).expires_ms) });
  }

  async findInstrument(request: InstrumentRequest): ReturnType<PaymentProvider['findInstrument']> {
    const { rows } = await this.#needs.db.query<{ expires_ms: number | null }>(
      `SELECT (extract(epoch FROM expires_at) * 1000)::bigint AS expires_ms FROM sandbox_bank.instruments
       WHERE account_id = $1 AND txid = $2 AND method = $3`,
      [request.accountId, request.txid, request.method],
    );
    if (rows[0] === undefined) return { kind: 'known', value: null };
    const { expires_ms: ms } = rows[0];
    return { kind: 'known', value: issuedOf(ms === null ? request : { ...request, expiresAt: fromMillis(ms) }) };
  }

  cancel(ref: InstrumentRef): ReturnType<PaymentProvider['cancel']> {
    return cancelInstrument(this.#needs.db, ref);
  }

  /** Never finds null: `issueLocally` books nothing, so the bank can’t tell a charge that was never issued from an unpaid one. */
  async statusOf(request: InstrumentRequest): ReturnType<PaymentProvider['statusOf']> {
    const { accountId, txid, method } = request;
    const payments = (await paymentsOf(this.#needs.db, accountId, txid))
      .map(({ incoming }) => incoming)
      .filter((one) => one.method === method);
    const cancelled = await isCancelled(this.#needs.db, accountId, txid, method);
    return { kind: 'known', value: standardStatus(request, payments, cancelled) };
  }

  async paymentsOf({ accountId }: Tenant, txid: string): ReturnType<PaymentProvider['paymentsOf']> {
    return { kind: 'known', value: await paymentsOf(this.#needs.db, accountId, txid) };
  }

  async bookedBetween(from: Timestamp, to: Timestamp, after: string | null): Promise<Known<BookedPage>> {
    return { kind: 'known', value: await bookedBetween(this.#needs.db, from, to, after) };
  }

  async findPayment({ accountId }: Tenant, providerPaymentId: string): ReturnType<PaymentProvider['findPayment']> {
    return { kind: 'known', value: await findPayment(this.#needs.db, accountId, providerPaymentId) };
  }

  /** The books bind each payment to one txid. */
  async claim(): Promise<true> {
    return true;
  }

  /** Compares the payer's tax id, or returns `unknown` if the bank does not know the payer. */
  async checkPayer(
    { accountId }: Tenant,
    pix: { readonly endToEndId: string; readonly expectedTaxId: string },
  ): ReturnType<PaymentProvider['checkPayer']> {
    const found = await findPayment(this.#needs.db, accountId, pix.endToEndId);
    const taxId = payerTaxIdOf(found?.incoming.payer.document ?? null);
    if (taxId === null) return { kind: 'known', value: 'unknown' };
    return { kind: 'known', value: taxId === pix.expectedTaxId ? 'match' : 'mismatch' };
  }

  async factsOf({ accountId }: Tenant, txid: string): ReturnType<AcquirerReports['factsOf']> {
    return { kind: 'known', value: await factsOf(this.#needs.db, accountId, txid) };
  }

  async casesOf({ accountId }: Tenant, txid: string): ReturnType<DisputeFeed['casesOf']> {
    return { kind: 'known', value: await casesOf(this.#needs.db, accountId, txid) };
  }

  async returnPayment(
    { accountId }: Tenant,
    back: Parameters<PaymentProvider['returnPayment']>[1],
  ): ReturnType<PaymentProvider['returnPayment']> {
    if (refusesReturns(back.metadata)) return { kind: 'refused', reason: RETURN_REFUSED, isListed: true };
    await this.#needs.db.query(
      'INSERT INTO sandbox_bank.returns (account_id, return_id, provider_payment_id, amount) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [accountId, back.returnId, back.providerPaymentId, back.amount],
    );
    return { kind: 'done' };
  }

  /** A devolution is a return, too (M10). */
  refund(order: RefundOrder, metadata: ChargeMetadata | null = null): ReturnType<PaymentProvider['refund']> {
    const isRefused = order.strategy === 'devolution' && refusesReturns(metadata);
    return takeRefund(this.#needs.db, order, isRefused ? RETURN_REFUSED : null);
  }

  async findRefund(order: RefundOrder): ReturnType<PaymentProvider['findRefund']> {
    const { db, confirmsRefunds, now } = this.#needs;
    const confirms = await confirmsRefunds(order.accountId);
    return findRefund(db, order, confirms ? await now(order.accountId) : null);
  }
}
