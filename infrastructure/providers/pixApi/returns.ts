// Returns of received Pix: PUT and GET of /pix/{e2eid}/devolucao/{id} (V9).
import type { Known, ProviderReturn } from '../../../application/ports/paymentProvider.ts';
import type { Minor } from '../../../domain/kernel/money.ts';
import { amountText } from '../../../domain/pix/brCode.ts';
import type { Connection } from './charges.ts';
import type { Reply } from './client.ts';
import { isReadEndToEndId, returnOf } from './wire.ts';

export interface ReturnOrder {
  readonly endToEndId: string;
  /** Chosen by Quita, and never used for another return. */
  readonly id: string;
  readonly amount: Minor;
}

export type KnownReturn =
  | { readonly kind: 'processing' }
  | { readonly kind: 'done'; readonly returnId: string | null }
  | { readonly kind: 'refused'; readonly reason: string; readonly isListed?: true };
type ReturnResult = KnownReturn | { readonly kind: 'unknown' };

const UNKNOWN = { kind: 'unknown' } as const;
const RETURN_ID = /^[a-zA-Z0-9]{1,35}$/;
/** The standard refuses a repeated id with this sentence (API Pix 2.9.0, PixDevolucaoInvalida). */
const USED_ID = /j[áa]\s+(?:foi\s+)?utilizado|duplicad/i;

const resultOf = ({ status, returnId, reason }: ProviderReturn): KnownReturn => {
  if (status === 'refused')
    return { kind: 'refused', reason: reason ?? 'The institution could not return the Pix.', isListed: true };
  return status === 'done' ? { kind: 'done', returnId } : { kind: 'processing' };
};

export class Returns {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async giveBack(order: ReturnOrder): Promise<ReturnResult> {
    if (!isSendable(order)) return { kind: 'refused', reason: 'The ids do not fit the standard.' };
    const reply = await this.#call('PUT', order, { valor: amountText(order.amount) });
    if (reply.kind === 'ok') return this.#matching(reply.body, order) ?? this.#lookUp(order);
    // A repeat of a return whose answer was lost is refused, too (V9).
    return reply.kind === 'refused' ? this.#judge(order, reply) : UNKNOWN;
  }

  async find(order: ReturnOrder): Promise<Known<KnownReturn | null>> {
    if (!isSendable(order)) return { kind: 'known', value: null };
    const reply = await this.#call('GET', order);
    if (reply.kind === 'absent') return { kind: 'known', value: null };
    const result = reply.kind === 'ok' ? this.#matching(reply.body, order) : null;
    return result === null ? UNKNOWN : { kind: 'known', value: result };
  }

  async #judge(order: ReturnOrder, refusal: Extract<Reply, { kind: 'refused' }>): Promise<ReturnResult> {
    const found = await this.find(order);
    if (found.kind === 'unknown') return UNKNOWN;
    if (found.value !== null) return found.value;
    const isRepeat = refusal.status === 409 || USED_ID.test(refusal.reason);
    return isRepeat ? UNKNOWN : { kind: 'refused', reason: refusal.reason };
  }

  async #lookUp(order: ReturnOrder): Promise<ReturnResult> {
    const found = await this.find(order);
    return found.kind === 'known' ? (found.value ?? UNKNOWN) : UNKNOWN;
  }

  /** A return that failed may have been ordered before a part of the Pix was returned otherwise. */
  #matching(body: unknown, { id, amount }: ReturnOrder): KnownReturn | null {
    const made = returnOf(body);
    if (made?.id !== id) return null;
    return made.amount === amount || made.status === 'refused' ? resultOf(made) : null;
  }

  #call(method: 'GET' | 'PUT', { endToEndId, id }: ReturnOrder, body?: object): Promise<Reply> {
    const { client, preset } = this.#connection;
    const path = `/pix/${endToEndId}/devolucao/${id}`;
    return client.call({ method, path, ...(body && { body }), scopes: preset.scopes.collect });
  }
}

const isSendable = ({ endToEndId, id }: ReturnOrder): boolean => isReadEndToEndId(endToEndId) && RETURN_ID.test(id);
