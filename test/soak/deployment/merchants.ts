// The merchants’ programs. Each request has an idempotency key and is retried on the other API until it succeeds.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import type { EventStore } from '../../../application/ports/eventStore.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { makeEndToEndId } from '../../../domain/pix/ids.ts';
import { loadToolConfig } from '../../../infrastructure/config/config.ts';
import { openEventStoreDb } from '../../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../../../infrastructure/eventStore/postgres/store.ts';
import { knownKeyring } from '../../../infrastructure/secrets/secretsKey.ts';
import { codecWith } from '../../support/programLog.ts';
import { eachOf } from '../../world/eachOf.ts';
import { openTenants } from '../../world/tenants.ts';
import type { Inbox } from './inbox.ts';

const ANSWER_MS = 20_000;
/** Concurrent requests during preparation and reconciliation. */
export const AT_ONCE = 16;
/** A request that no API answers for this long is an error. */
const INSIST_MS = 90_000;
const WAIT_MS_MAX = 500;
/** One charge in this many is requested on both APIs at once, with the same key. */
const TWICE_EVERY = 8;

export interface Merchant {
  readonly name: string;
  readonly apiKey: string;
}
export interface Acknowledged {
  readonly merchant: Merchant;
  readonly key: string;
  readonly amount: number;
  /** The body of the response, byte for byte. */
  readonly text: string;
  readonly id: string;
  readonly endToEndId: string;
}
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
}
export interface Ask {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly apiKey: string;
  readonly body?: unknown;
  readonly key?: string;
}

const once = async (base: string, ask: Ask, answerMs: number): Promise<Answer> => {
  const { method, path, apiKey, body, key } = ask;
  const answer = await request(base + path, {
    method,
    headers: {
      apikey: apiKey,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    bodyTimeout: answerMs,
    headersTimeout: answerMs,
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, replayed: answer.headers['idempotent-replayed'] === 'true' };
};

const isNoAnswer = ({ status, text }: Answer): boolean =>
  status >= 500 || (status === 409 && text.includes('idempotency_request_in_progress'));

/** The APIs, as a merchant uses them behind a load balancer. */
export class Apis {
  #bases: readonly string[];
  readonly #answerMs: number;
  /** Requests in progress by base URL. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();
  #turn = 0;
  /** Number of retries, because the API was down, responded with 5xx, or still processed the first request. */
  repeats = 0;
  /** Failed requests by status and route. */
  readonly refusals: Record<string, number> = {};

  /** `answerMs` is how long a request waits for its response before it is sent to the other API. */
  constructor(bases: readonly string[], answerMs = ANSWER_MS) {
    this.#bases = bases;
    this.#answerMs = answerMs;
  }

  add(base: string): void {
    this.#bases = [...this.#bases, base];
  }
  /** Resolves when the last request to it has ended. */
  async remove(base: string): Promise<void> {
    this.#bases = this.#bases.filter((one) => one !== base);
    await Promise.all(this.#underWay.get(base) ?? []);
  }

  /** Sends the request to the APIs in turn, starting with `first`, until one succeeds. Throws after 90 s. */
  async insist(ask: Ask, first = this.#turn++): Promise<Answer> {
    const beganAtMs = performance.now();
    for (let attempt = 0; performance.now() - beganAtMs < INSIST_MS; attempt++) {
      const base = this.#bases[(first + attempt) % this.#bases.length] as string;
      const answer = await this.#ask(base, ask);
      if (answer !== null && !isNoAnswer(answer)) return answer;
      const why = `${answer === null ? 'no connection' : answer.status} ${ask.method} ${routeOf(ask)}`;
      this.refusals[why] = (this.refusals[why] ?? 0) + 1;
      this.repeats += 1;
      await pause(Math.min(10 * 2 ** attempt, WAIT_MS_MAX));
    }
    throw new Error(`${ask.method} ${ask.path} was not answered for ${INSIST_MS} ms`);
  }

  async #ask(base: string, ask: Ask): Promise<Answer | null> {
    const answer = once(base, ask, this.#answerMs).catch(() => null);
    const underWay = this.#underWay.get(base) ?? new Set();
    this.#underWay.set(base, underWay.add(answer));
    const answered = await answer;
    underWay.delete(answer);
    return answered;
  }
}

const routeOf = ({ path }: Ask): string => path.replace(/\?.*/, '').replaceAll(/\/ch_[^/]+/g, '/{id}');

/** The environment of a deployment's processes. */
export interface DeploymentEnv extends Readonly<Record<string, string>> {
  readonly DATABASE_URL: string;
}

/** Opens the event log of the deployment. */
export const openLog = ({ DATABASE_URL: connectionString, EVENTSTORE_URL: url }: DeploymentEnv): Promise<EventStore> =>
  url === undefined ? openPostgresEventStore({ connectionString }) : openEventStoreDb({ connectionString: url });

/** Opens accounts, each with an endpoint at the inbox. */
export const openMerchants = async (
  count: number,
  apis: Apis,
  inbox: Inbox,
  { dataDir, env }: { readonly dataDir: string; readonly env: DeploymentEnv },
): Promise<readonly Merchant[]> => {
  const keyring = await knownKeyring(loadToolConfig({ ...env, DATA_DIR: dataDir }));
  const store = await openLog(env);
  const { codec, close } = codecWith(env.DATABASE_URL, keyring, env['EVENTSTORE_URL'] === undefined);
  const tenants = await openTenants({ store, codec }, count);
  await Promise.all([store.close(), close()]);
  const merchants = tenants.map(({ testKey }, n): Merchant => ({ name: `loja${n}`, apiKey: testKey }));
  await eachOf(merchants, AT_ONCE, async ({ name, apiKey }) => {
    const body = { url: inbox.urlOf(name), events: ['charge.created', 'charge.paid'] };
    const { status, text } = await apis.insist({ method: 'POST', path: '/v1/webhooks/endpoints', apiKey, body });
    if (status !== 201) throw new Error(`the endpoint was refused: ${text}`);
    inbox.learnSecret(name, (JSON.parse(text) as { secret: string }).secret);
  });
  return merchants;
};

/** Only this payer may pay the charge. */
const LOCK = { customer: { name: 'Ana Souza' }, expected_payer_tax_id: '12345678909' };

/** Returns the request for a charge. Every other charge is locked to a payer. */
export const chargeAsk = (merchant: Merchant, key: string, amount: number): Ask => ({
  method: 'POST',
  path: '/v1/charges',
  apiKey: merchant.apiKey,
  body: { amount, payment_method: 'pix', ...(amount % 2 === 0 && LOCK) },
  key,
});

/** Sells to one buyer after another: creates a charge, then pays it. */
export class Till {
  readonly #apis: Apis;
  readonly acknowledged: Acknowledged[] = [];
  /** Different responses under one key, and rejected requests. Must stay empty. */
  readonly wrong: string[] = [];
  /** Payments with a 202 response, whose effect was not visible within 5 s. */
  late = 0;
  #sales = 0;

  constructor(apis: Apis) {
    this.#apis = apis;
  }

  async sell(merchant: Merchant): Promise<void> {
    const sale = this.#sales++;
    const key = `soak-${randomBytes(9).toString('hex')}`;
    const amount = 1_000 + (sale % 9_000);
    const ask = chargeAsk(merchant, key, amount);
    const asks = sale % TWICE_EVERY === 0 ? [0, 1] : [sale];
    const [created, other = created] = await Promise.all(asks.map((first) => this.#apis.insist(ask, first)));
    if (created?.status !== 201 || other?.status !== 201 || other.text !== created.text)
      return void this.wrong.push(`${key}: ${created?.text} | ${other?.text}`);
    const { id } = JSON.parse(created.text) as { id: string };
    const suffix = randomBytes(6).toString('hex').slice(0, 11);
    const endToEndId = makeEndToEndId({ ispb: '99999004', at: fromMillis(Date.now()), suffix });
    const path = `/v1/sandbox/charges/${id}/pay`;
    const body = { end_to_end_id: endToEndId, payer: { document: LOCK.expected_payer_tax_id } };
    const paid = await this.#apis.insist({ method: 'POST', path, apiKey: merchant.apiKey, body });
    if (paid.status === 202) this.late += 1;
    else if (paid.status !== 200) this.wrong.push(`${id}: ${paid.text}`);
    this.acknowledged.push({ merchant, key, amount, text: created.text, id, endToEndId });
  }
}

interface Selling {
  /** Each till serves the merchants in turn. */
  readonly tills: number;
  /** Pause between two buyers at a till, in milliseconds. */
  readonly restMs?: number;
}

/** Sells until `work` ends. Returns its result. */
export const sellDuring = async <T>(
  till: Till,
  merchants: readonly Merchant[],
  { tills, restMs = 0 }: Selling,
  work: () => Promise<T>,
): Promise<T> => {
  let isOver = false;
  let turn = 0;
  const selling = Array.from({ length: tills }, async () => {
    while (!isOver) {
      await till.sell(merchants[turn++ % merchants.length] as Merchant);
      await pause(restMs);
    }
  });
  const sold = Promise.all(selling);
  sold.catch(() => undefined); // The race below reports the error.
  try {
    return await Promise.race([work(), sold.then(() => Promise.reject(new Error('nobody sells any more')))]);
  } finally {
    isOver = true;
    await sold;
  }
};
