// Charges: PUT, GET and PATCH of /cob/{txid}. Quita chooses the id, so that no call makes a second charge.
import type {
  InstrumentOutcome,
  InstrumentRef,
  InstrumentRequest,
  Issued,
  Known,
  PaymentProvider,
  ProviderStatus,
} from '../../../application/ports/paymentProvider.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import { later, secondsBetween } from '../../../domain/kernel/time.ts';
import { amountText, foldToAscii } from '../../../domain/pix/brCode.ts';
import { payerTaxIdOf } from '../../../domain/pix/taxId.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import type { Call, PixClient, Reply } from './client.ts';
import { payCodeOf } from './payCode.ts';
import type { Preset } from './presets/preset.ts';
import { textAt } from './reading.ts';
import { type ChargeAtProvider, type ChargeStatus, chargeOf, statusOf } from './wire.ts';

const NOTE_MAX = 140;
const NAME_MAX = 200;
const CPF_LENGTH = 11;

export interface Connection {
  readonly terms: ConnectionTerms;
  readonly preset: Preset;
  readonly client: PixClient;
  /** The Pix key and the earlier ones, whose codes may still be paid. */
  readonly keys: readonly string[];
  /** Those of the earlier keys that another connection has now. */
  readonly movedKeys: readonly string[];
}

const UNKNOWN = { kind: 'unknown' } as const;

const debtorWire = ({ debtor }: InstrumentRequest): { readonly devedor?: object } => {
  const document = payerTaxIdOf(debtor?.document ?? null);
  const nome = foldToAscii(debtor?.name ?? '', NAME_MAX);
  if (document === null || nome === '') return {};
  return { devedor: { ...(document.length === CPF_LENGTH ? { cpf: document } : { cnpj: document }), nome } };
};

const noteWire = ({ note }: InstrumentRequest): { readonly solicitacaoPagador?: string } => {
  const text = foldToAscii(note ?? '', NOTE_MAX);
  return text === '' ? {} : { solicitacaoPagador: text };
};

export class Charges {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async issue(request: InstrumentRequest): Promise<InstrumentOutcome> {
    const { terms } = this.#connection;
    const reply = await this.#call('PUT', request.txid, {
      calendario: { expiracao: request.lifetimeSeconds },
      ...debtorWire(request),
      valor: { original: amountText(request.amount) },
      chave: terms.pixKey,
      ...noteWire(request),
    });
    return reply.kind === 'refused' ? this.#afterRefusal(reply, request) : this.#outcomeOf(reply, request);
  }

  async prolong(request: InstrumentRequest): Promise<InstrumentOutcome> {
    const found = await this.#call('GET', request.txid);
    const charge = found.kind === 'ok' ? this.#matching(found.body, request) : null;
    if (charge === null) return found.kind === 'ok' ? UNKNOWN : this.#outcomeOf(found, request);
    if (charge.expiresAt >= request.expiresAt) return this.#issued(charge);
    const expiracao = secondsBetween(charge.createdAt, later(request.expiresAt, charge.expiresAt));
    return this.#outcomeOf(await this.#call('PATCH', request.txid, { calendario: { expiracao } }), request);
  }

  async find(request: InstrumentRequest): Promise<Known<Issued | null>> {
    const reply = await this.#call('GET', request.txid);
    if (reply.kind === 'absent') return { kind: 'known', value: null };
    const outcome = this.#outcomeOf(reply, request);
    return outcome.kind === 'issued' ? { kind: 'known', value: outcome.issued } : UNKNOWN;
  }

  async cancel({ txid }: InstrumentRef): ReturnType<PaymentProvider['cancel']> {
    const reply = await this.#call('PATCH', txid, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
    if (reply.kind === 'absent') return 'cancelled';
    if (reply.kind === 'unavailable') return 'unknown';
    if (reply.kind === 'ok' && ofTxid(reply.body, txid)) {
      const status = statusOf(reply.body);
      if (status !== null && status !== 'ATIVA') return CANCELLED[status];
    }
    // The call was refused because the charge is no longer ATIVA, or its answer was lost. The charge's status decides.
    const now = await this.#call('GET', txid);
    if (now.kind === 'absent') return 'cancelled';
    const status = now.kind === 'ok' && ofTxid(now.body, txid) ? statusOf(now.body) : null;
    return status === null ? 'unknown' : CANCELLED[status];
  }

  async statusOf({ txid }: InstrumentRequest): Promise<Known<ProviderStatus | null>> {
    const reply = await this.#call('GET', txid);
    if (reply.kind === 'absent') return { kind: 'known', value: null };
    const status = reply.kind === 'ok' && ofTxid(reply.body, txid) ? textAt(reply.body, 'status') : null;
    if (reply.kind !== 'ok' || status === null) return UNKNOWN;
    return { kind: 'known', value: { status, raw: withoutPayers(reply.body) } };
  }

  /** Returns the answer of GET /cob/{txid}, which lists the Pix received, or null if there is no such charge. */
  async read(txid: string): Promise<Known<unknown>> {
    const reply = await this.#call('GET', txid);
    if (reply.kind === 'absent') return { kind: 'known', value: null };
    return reply.kind === 'ok' && ofTxid(reply.body, txid) ? { kind: 'known', value: reply.body } : UNKNOWN;
  }

  /**
   * Some institutions refuse to repeat a txid instead of returning the charge, and a proxy on the way may have sent the request twice. So
   * the charge is looked up before the refusal counts, because another connection would make a second payable code.
   */
  async #afterRefusal(refusal: Reply, request: InstrumentRequest): Promise<InstrumentOutcome> {
    const found = await this.find(request);
    const isMade = found.kind === 'known' && found.value !== null;
    return isMade ? { kind: 'issued', issued: found.value } : this.#outcomeOf(refusal, request);
  }

  #call(method: Call['method'], txid: string, body?: object): Promise<Reply> {
    const { client, preset } = this.#connection;
    return client.call({ method, path: `/cob/${txid}`, ...(body && { body }), scopes: preset.scopes.collect });
  }

  #outcomeOf(reply: Reply, request: InstrumentRequest): InstrumentOutcome {
    switch (reply.kind) {
      case 'ok': {
        const charge = this.#matching(reply.body, request);
        return charge === null ? UNKNOWN : this.#issued(charge);
      }
      case 'refused':
        // 409 is not among the answers that are certain (V7).
        if (reply.status === 409) return UNKNOWN;
        return { kind: 'refused', reason: reply.reason, providerErrorCode: reply.code };
      case 'absent':
      case 'unavailable':
        return { kind: 'unavailable' };
      case 'unknown':
        return UNKNOWN;
    }
  }

  /** Returns the charge if it is the requested one. */
  #matching(body: unknown, { txid, amount }: InstrumentRequest): ChargeAtProvider | null {
    const charge = chargeOf(body);
    const isSame = charge?.txid === txid && charge.amount === amount && this.#connection.keys.includes(charge.key);
    return isSame ? charge : null;
  }

  #issued({ txid, amount, code, location, expiresAt }: ChargeAtProvider): InstrumentOutcome {
    const { name: provider } = this.#connection.terms;
    const brCode = payCodeOf({ code, location, amount, merchantName: provider });
    if (brCode === null) return UNKNOWN;
    return { kind: 'issued', issued: { method: 'PIX', instrument: { provider, txid, brCode, expiresAt } } };
  }
}

/** Institutions name the payer in `pix[].pagador` or `gnExtras.pagador`, and pass on what the payer wrote. */
const OF_PAYERS: ReadonlySet<string> = new Set(['pagador', 'infoPagador']);
const withoutPayers = (body: unknown): Json =>
  JSON.parse(JSON.stringify(body, (key, value) => (OF_PAYERS.has(key) ? undefined : value)));

const ofTxid = (body: unknown, txid: string): boolean => textAt(body, 'txid') === txid;

const CANCELLED: Readonly<Record<ChargeStatus, 'cancelled' | 'removed' | 'paid' | 'unknown'>> = {
  ATIVA: 'unknown',
  CONCLUIDA: 'paid',
  REMOVIDA_PELO_USUARIO_RECEBEDOR: 'cancelled',
  REMOVIDA_PELO_PSP: 'removed',
};
