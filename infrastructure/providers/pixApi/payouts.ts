// Sent Pix payments (Pix-out), which the standard doesn't have: routes and fields of Efí (presets/efi.ts names the sources).
import type { Known } from '../../../application/ports/paymentProvider.ts';
import type { PayoutOrder, PayoutRail } from '../../../application/ports/payoutRail.ts';
import type { Page, SentPayment } from '../../../application/ports/providerConnections.ts';
import type { Minor } from '../../../domain/kernel/money.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { PIX_OUT_FEE } from '../../../domain/payment/refund.ts';
import type { PayoutOutcome } from '../../../domain/payout/decisions.ts';
import { amountText, foldToAscii } from '../../../domain/pix/brCode.ts';
import type { Connection } from './charges.ts';
import type { Reply } from './client.ts';
import { nextPage, pageOf, pageQuery, placeOf } from './paging.ts';
import type { PayoutPreset } from './presets/preset.ts';
import { amountOf, at, idAt, REASON_MAX, shortTextAt, textAt, timeOf } from './reading.ts';

export interface SendOrder {
  /** Chosen by Quita, and never used for another payment. */
  readonly id: string;
  readonly amount: Minor;
  /** A Pix key. */
  readonly destination: string;
  readonly note: string | null;
}

type KnownOutcome = Exclude<PayoutOutcome, { kind: 'unknown' }>;
const UNKNOWN = { kind: 'unknown' } as const;
const NOTE_MAX = 140;
const SEND_ID = /^[a-zA-Z0-9]{1,35}$/;
const STATUSES: readonly (readonly [string, SentPayment['status']])[] = [
  ['EM_PROCESSAMENTO', 'processing'],
  ['REALIZADO', 'done'],
  ['NAO_REALIZADO', 'refused'],
];

const timeOfSent = (body: unknown): Timestamp | null => {
  const requestedAt = timeOf(at(body, 'horario', 'solicitacao'));
  return requestedAt === null ? null : (timeOf(at(body, 'horario', 'liquidacao')) ?? requestedAt);
};

const sentOf = (body: unknown): SentPayment | null => {
  // Only the answer of the PUT calls it `e2eId`.
  const endToEndId = idAt(body, 'endToEndId') ?? idAt(body, 'e2eId');
  const id = textAt(body, 'idEnvio') === null ? endToEndId : idAt(body, 'idEnvio');
  const amount = amountOf(at(body, 'valor'));
  const status = STATUSES.find(([name]) => name === at(body, 'status'))?.[1];
  const time = timeOfSent(body);
  if (id === null || amount === null || status === undefined || time === null) return null;
  return { id, endToEndId, status, amount, at: time };
};

/** A Pix that somebody sent in the bank's own app has no `idEnvio`. */
const readingOf = (body: unknown) => ({
  id: textAt(body, 'idEnvio') ?? textAt(body, 'endToEndId') ?? '',
  at: timeOfSent(body),
  item: sentOf(body),
});

/** Efí gives a reason only in callbacks. */
const NO_REASON = 'The institution could not send the Pix.';

export class Payouts implements PayoutRail {
  readonly #connection: Connection;
  readonly #preset: PayoutPreset;

  constructor(connection: Connection, preset: PayoutPreset) {
    this.#connection = connection;
    this.#preset = preset;
  }

  feeOf(): Minor {
    return PIX_OUT_FEE;
  }

  pay({ payoutId, amount, destination, note }: PayoutOrder): Promise<PayoutOutcome> {
    return this.send({ id: payoutId, amount, destination, note });
  }

  find({ payoutId, amount }: PayoutOrder): ReturnType<PayoutRail['find']> {
    return this.findSent({ id: payoutId, amount });
  }

  async send(order: SendOrder): Promise<PayoutOutcome> {
    const { id, amount, destination, note } = order;
    if (!SEND_ID.test(id)) return { kind: 'refused', reason: 'The id does not fit the institution.' };
    const infoPagador = foldToAscii(note ?? '', NOTE_MAX);
    const reply = await this.#call('PUT', this.#preset.pay(id), {
      valor: amountText(amount),
      pagador: { chave: this.#connection.terms.pixKey, ...(infoPagador !== '' && { infoPagador }) },
      favorecido: { chave: destination },
    });
    if (reply.kind === 'ok') return this.#matching(reply.body, order) ?? this.#lookUp(order);
    return reply.kind === 'refused' ? this.#judge(order, reply) : UNKNOWN;
  }

  async findSent(order: Pick<SendOrder, 'id' | 'amount'>): ReturnType<PayoutRail['find']> {
    if (!SEND_ID.test(order.id)) return { kind: 'known', value: null };
    const reply = await this.#call('GET', this.#preset.find(order.id));
    if (reply.kind === 'absent') return { kind: 'known', value: null };
    const outcome = reply.kind === 'ok' ? this.#matching(reply.body, order) : null;
    return outcome === null ? UNKNOWN : { kind: 'known', value: outcome };
  }

  async list(from: Timestamp, to: Timestamp, cursor: string | null): Promise<Known<Page<SentPayment>>> {
    const place = placeOf(cursor);
    const query = { inicio: from, fim: to, ...pageQuery(place) };
    const reply = await this.#call('GET', this.#preset.list, undefined, query);
    const items = reply.kind === 'ok' ? at(reply.body, 'pix') : undefined;
    const readings = Array.isArray(items) ? items.map(readingOf) : null;
    if (reply.kind !== 'ok' || readings === null || !readings.every(({ id }) => id !== '')) return UNKNOWN;
    const next = nextPage(
      reply.body,
      place,
      readings.map(({ id }) => id),
    );
    return { kind: 'known', value: pageOf(readings, next) };
  }

  async #judge(order: SendOrder, refusal: Extract<Reply, { kind: 'refused' }>): Promise<PayoutOutcome> {
    const found = await this.findSent(order);
    if (found.kind === 'unknown') return UNKNOWN;
    if (found.value !== null) return found.value;
    return refusal.status === 409 ? UNKNOWN : { kind: 'refused', reason: refusal.reason };
  }

  async #lookUp(order: SendOrder): Promise<PayoutOutcome> {
    const found = await this.findSent(order);
    return found.kind === 'known' ? (found.value ?? UNKNOWN) : UNKNOWN;
  }

  #matching(body: unknown, { id, amount }: Pick<SendOrder, 'id' | 'amount'>): KnownOutcome | null {
    const sent = sentOf(body);
    if (sent === null || sent.id !== id || sent.amount !== amount) return null;
    if (sent.status === 'processing') return { kind: 'processing' };
    if (sent.status === 'done') return { kind: 'confirmed', endToEndId: sent.endToEndId };
    return { kind: 'refused', reason: shortTextAt(REASON_MAX, body, 'gnExtras', 'erro', 'motivo') ?? NO_REASON };
  }

  #call(method: 'GET' | 'PUT', path: string, body?: object, query?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.#connection.client.call({
      method,
      path,
      isOutsideStandard: true,
      ...(body && { body }),
      ...(query && { query }),
      scopes: this.#preset.scopes,
    });
  }
}
