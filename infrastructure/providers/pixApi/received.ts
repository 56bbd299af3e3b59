// Payments received: GET /pix/{e2eid}, GET /pix, and the Pix of a charge.

import type { Known, PaymentProvider, ReceivedPayment } from '../../../application/ports/paymentProvider.ts';
import type { Page } from '../../../application/ports/providerConnections.ts';
import {
  addMillis,
  earlier,
  fromMillis,
  HOUR_MS,
  later,
  SECOND_MS,
  type Timestamp,
} from '../../../domain/kernel/time.ts';
import { SANDBOX_PEOPLE } from '../../../domain/pix/sandboxPeople.ts';
import type { Charges, Connection } from './charges.ts';
import type { Reply } from './client.ts';
import type { PixApiNeeds } from './needs.ts';
import { nextPage, pageOf, pageQuery, placeOf } from './paging.ts';
import { at, isObject, listOf, textAt, timeOf } from './reading.ts';
import { isReadEndToEndId, receivedOf } from './wire.ts';

const UNKNOWN = { kind: 'unknown' } as const;
const known = <T>(value: T): Known<T> => ({ kind: 'known', value });

/** How often a list is requested again after 429, and the longest wait. */
const PATIENT_TRIES = 3;
const PATIENCE_MS = 30_000;
const CPF_LENGTH = 11;
/** The banks' clocks may differ, and the period of a list includes only exact times. */
const AROUND_MS = HOUR_MS;
/** Pages of the Pix of one txid that are searched. */
const SEARCHED_PAGES = 10;

/** Two valid documents of each kind that belong to no one: the control query uses one that is not the expected one. */
const CONTROLS: Readonly<Record<'cpf' | 'cnpj', readonly [string, string]>> = {
  cpf: [SANDBOX_PEOPLE[4].document, SANDBOX_PEOPLE[3].document],
  cnpj: ['99999999000191', '99999998000147'],
};

type CheckedPix = Parameters<PaymentProvider['checkPayer']>[1];

export class ReceivedPix {
  readonly #connection: Connection;
  readonly #charges: Charges;
  readonly #needs: Pick<PixApiNeeds, 'clock' | 'stopwatch'>;

  constructor(connection: Connection, charges: Charges, needs: Pick<PixApiNeeds, 'clock' | 'stopwatch'>) {
    this.#connection = connection;
    this.#charges = charges;
    this.#needs = needs;
  }

  async find(endToEndId: string): Promise<Known<ReceivedPayment | null>> {
    if (!isReadEndToEndId(endToEndId)) return known(null);
    const { client, preset, keys } = this.#connection;
    const reply = await client.call({ method: 'GET', path: `/pix/${endToEndId}`, scopes: preset.scopes.collect });
    if (reply.kind === 'absent') return known(null);
    const found = reply.kind === 'ok' ? receivedOf(reply.body, preset) : null;
    if (found === null || found.received.incoming.providerPaymentId !== endToEndId) return UNKNOWN;
    return known(found.key === null || keys.includes(found.key) ? found.received : null);
  }

  async ofCharge(txid: string): Promise<Known<readonly ReceivedPayment[]>> {
    const charge = await this.#charges.read(txid);
    if (charge.kind === 'unknown') return UNKNOWN;
    const items = listOf(at(charge.value, 'pix'));
    if (items === undefined) return UNKNOWN;
    const all = (items ?? []).map((item) => receivedOf(item, this.#connection.preset)?.received ?? null);
    if (!all.every((one) => one !== null && (one.txid === null || one.txid === txid))) return UNKNOWN;
    const received = (all as readonly ReceivedPayment[]).map((one) => ({ ...one, txid }));
    return known(received.toSorted((a, b) => (a.incoming.paidAt < b.incoming.paidAt ? -1 : 1)));
  }

  async list(from: Timestamp, to: Timestamp, cursor: string | null): Promise<Known<Page<ReceivedPayment>>> {
    const { preset, keys, movedKeys } = this.#connection;
    let page = await this.#page({ inicio: from, fim: to }, cursor);
    // Institutions may refuse a period that ends in the future.
    const now = fromMillis(this.#needs.clock.now());
    if (page.kind === 'unknown' && page.isRefused && from <= now && now < to)
      page = await this.#page({ inicio: from, fim: now }, cursor);
    if (page.kind === 'unknown') return UNKNOWN;
    // The list covers all keys of the account, and other keys may belong to other connections.
    const readings = page.value.items.flatMap((item) => {
      const key = textAt(item, 'chave');
      if (key !== null && !keys.includes(key)) return [];
      const isMoved = key !== null && movedKeys.includes(key);
      const received = receivedOf(item, preset)?.received ?? null;
      // The other connection reports it.
      if (isMoved && received === null) return [];
      const one = received && { ...received, ...(isMoved && { hasMovedKey: true as const }) };
      return [{ id: idOf(item), at: timeOf(at(item, 'horario')), item: one }];
    });
    return known(pageOf(readings, page.value.next));
  }

  async checkPayer(pix: CheckedPix): ReturnType<PaymentProvider['checkPayer']> {
    const kind = pix.expectedTaxId.length === CPF_LENGTH ? 'cpf' : 'cnpj';
    const [first, second] = CONTROLS[kind];
    const byExpected = await this.#lists(pix, { [kind]: pix.expectedTaxId });
    if (byExpected === 'unanswered') return UNKNOWN;
    if (byExpected === 'refused') return known('unknown');
    if (!byExpected) {
      const control = await this.#lists(pix, {});
      if (control === 'unanswered') return UNKNOWN;
      return known(control === true ? 'mismatch' : 'unknown');
    }
    const byOther = await this.#lists(pix, { [kind]: pix.expectedTaxId === first ? second : first });
    if (byOther === 'unanswered') return UNKNOWN;
    // An institution that ignores the filter lists the Pix for any document.
    return known(byOther === false ? 'match' : 'unknown');
  }

  /** Returns whether the Pix is among those of the txid that the filter lets through. */
  async #lists(pix: CheckedPix, filter: Readonly<Record<string, string>>): Promise<boolean | 'refused' | 'unanswered'> {
    // Institutions may refuse a period that ends in the future, and may report a time without its milliseconds.
    const soonest = later(addMillis(pix.paidAt, SECOND_MS), fromMillis(this.#needs.clock.now()));
    const query = {
      inicio: addMillis(pix.paidAt, -AROUND_MS),
      fim: earlier(addMillis(pix.paidAt, AROUND_MS), soonest),
      [this.#connection.preset.txidParameter]: pix.txid,
      ...filter,
    };
    let cursor: string | null = null;
    for (let pages = 0; pages < SEARCHED_PAGES; pages++) {
      const page = await this.#page(query, cursor);
      if (page.kind === 'unknown') return page.isRefused ? 'refused' : 'unanswered';
      if (page.value.items.some((item) => at(item, 'endToEndId') === pix.endToEndId)) return true;
      cursor = page.value.next;
      if (cursor === null) return false;
    }
    return false;
  }

  async #page(query: Readonly<Record<string, string>>, cursor: string | null) {
    const place = placeOf(cursor);
    const reply = await this.#patiently({ ...query, ...pageQuery(place) });
    const items = reply.kind === 'ok' ? listedIn(reply.body) : null;
    if (items === null || reply.kind !== 'ok') {
      const isRefused = reply.kind === 'refused' && reply.status !== 409;
      return { kind: 'unknown', isRefused } as const;
    }
    const next = nextPage(reply.body, place, items.map(idOf));
    return { kind: 'known', value: { items, next } } as const;
  }

  /** Lists are long, so it waits as long as a 429 requests. */
  async #patiently(query: Readonly<Record<string, string>>): Promise<Reply> {
    const { client, preset } = this.#connection;
    for (let tries = 1; ; tries++) {
      const reply = await client.call({ method: 'GET', path: '/pix', query, scopes: preset.scopes.collect });
      const waitMs = reply.kind === 'unavailable' ? reply.retryAfterMs : null;
      if (waitMs === null || waitMs > PATIENCE_MS || tries === PATIENT_TRIES) return reply;
      await this.#needs.stopwatch.pause(waitMs);
    }
  }
}

/** Items without an id are refused with their list. */
const idOf = (item: unknown): string => textAt(item, 'endToEndId') ?? '';

/** Returns the items of a list, or null if it can't be read. An empty list may be left out, but not its parameters. */
const listedIn = (body: unknown): readonly unknown[] | null => {
  const items = at(body, 'pix');
  if (items === undefined && isObject(at(body, 'parametros'))) return [];
  return Array.isArray(items) && items.every((item) => textAt(item, 'endToEndId') !== null) ? items : null;
};
