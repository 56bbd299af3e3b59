// Actions of the merchant, payers, banks and acquirers of the recorded day, over HTTP, with fixed idempotency keys.
import { setTimeout as pause } from 'node:timers/promises';
import { Receiver } from '../../world/receiver.ts';
import type { Side } from '../side.ts';

const LOOK_EVERY_MS = 75;
/** Number of consecutive looks that find the log unchanged. */
const LOOKS_QUIET = 3;
const NO_REFUND = `rf_${'0'.repeat(26)}`;
/** Longest wait for a job, such as one that issues a code, to finish a requested change. */
const PATIENCE_MS = 20_000;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly id: string;
}

export class Merchant {
  readonly #side: Side;
  readonly #receiver: Receiver;
  /** Requests and their answers, in order. */
  readonly answers: string[] = [];
  readonly ids: string[] = [];
  readonly cases: string[] = [];
  readonly #endpoint: { isBroken: boolean };
  #asked = 0;

  private constructor(side: Side, receiver: Receiver, endpoint: { isBroken: boolean }) {
    this.#side = side;
    this.#receiver = receiver;
    this.#endpoint = endpoint;
  }

  static async open(side: Side): Promise<Merchant> {
    const endpoint = { isBroken: true };
    const receiver = await Receiver.open(({ path }, res) => {
      res.statusCode = path.endsWith('/broken') && endpoint.isBroken ? 500 : 200;
      res.end();
    });
    return new Merchant(side, receiver, endpoint);
  }

  get hook(): string {
    return this.#receiver.url;
  }
  /** Received webhooks, in order of arrival. */
  get webhooks(): readonly string[] {
    return this.#receiver.got.map(({ path, headers, rawBody }) =>
      [path, headers['x-acme-event-type'], headers['x-acme-sequence'], rawBody].join(' '),
    );
  }
  close(): Promise<void> {
    return this.#receiver.close();
  }

  async endpoints(): Promise<void> {
    await this.#post('/v1/webhooks/endpoints', { url: `${this.hook}/all`, events: ['*'] });
    await this.#post('/v1/webhooks/endpoints', {
      url: `${this.hook}/some`,
      events: ['charge.paid', 'payment.refunded'],
    });
  }

  async charge(more: object): Promise<string> {
    const body = { amount: this.#nextAmount(), payment_method: 'pix', ...more };
    return this.#created(await this.#post('/v1/charges', body));
  }
  async payment(more: object): Promise<string> {
    const body = { amount: this.#nextAmount(), idempotencyKey: this.#nextKey(), ...more };
    return this.#created(await this.#post('/v1/payments', body));
  }
  async pay(id: string, how: object = {}): Promise<void> {
    await this.#post(`/v1/sandbox/charges/${id}/pay`, how);
  }
  async act(id: string, act: string, body: object): Promise<void> {
    await this.#post(`/v1/sandbox/payments/${id}/${act}`, body);
  }
  async cancel(id: string): Promise<void> {
    await this.#post(`/v1/payments/${id}/cancel`, {});
  }
  /** Decides on held money as an operator. */
  async review(id: string, verdict: 'release' | 'return'): Promise<void> {
    this.answers.push(`held ${verdict} ${await this.#side.cli('held', verdict, id.replace(/^ch_/, 'tx_'), '--json')}`);
    await this.quiet();
  }
  async resend(id: string): Promise<void> {
    await this.#post(`/v1/payments/${id}/resend-webhook`, {});
  }
  /** Returns the id of the refund, or `NO_REFUND` if it was rejected. */
  async refund(id: string, body: object): Promise<string> {
    return (await this.#post(`/v1/payments/${id}/refund`, { idempotencyKey: this.#nextKey(), ...body })).id;
  }
  async decide(refund: string, how: 'confirm' | 'fail', body: object): Promise<void> {
    await this.#post(`/v1/sandbox/refunds/${refund}/${how}`, body);
  }
  async med(id: string, report: object = {}): Promise<string> {
    const answer = await this.#post(`/v1/sandbox/charges/${id}/med`, report);
    if (answer.status === 201) this.cases.push(answer.id);
    return answer.id;
  }
  async onCase(id: string, act: string, body: object): Promise<void> {
    await this.#post(`/v1/sandbox/med/cases/${id}/${act}`, body);
  }
  async answer(id: string, act: 'accept' | 'appeal', body: object = {}): Promise<void> {
    await this.#post(`/v1/med/cases/${id}/${act}`, body);
  }
  async settings(body: object): Promise<void> {
    await this.#post('/v1/sandbox/settings', body);
  }
  async advance(seconds: number): Promise<void> {
    await this.#post('/v1/sandbox/clock/advance', { seconds });
  }
  /** Sends the same request twice, then another one with its key. */
  async replayed(first: object, other: object): Promise<void> {
    const key = this.#nextKey();
    const amount = this.#nextAmount();
    this.#created(await this.#post('/v1/charges', { amount, ...first }, key));
    await this.#post('/v1/charges', { amount, ...first }, key);
    await this.#post('/v1/charges', { amount, ...other }, key);
  }
  async refused(path: string, body: object): Promise<void> {
    await this.#post(path, { idempotencyKey: this.#nextKey(), ...body });
  }
  /** Registers an endpoint that fails until `mendEndpoint`. */
  async breakEndpoint(): Promise<void> {
    const url = `${this.hook}/broken`;
    await this.#post('/v1/webhooks/endpoints', { url, events: ['payment.completed', 'payment.refunded'] });
  }
  async mendEndpoint(): Promise<void> {
    this.#endpoint.isBroken = false;
    await this.#post('/v1/webhooks/deliveries/redrive', { status: 'FAILED' });
  }
  async rotateOverrideSecret(): Promise<void> {
    await this.#post('/v1/webhooks/override-secret/rotate', {});
  }

  /** Records the answer, and waits until all its effects are complete. */
  async #post(path: string, body: object, key = this.#nextKey()): Promise<Answer> {
    let answer = await this.#ask(path, body, key);
    // The sandbox returns 409 until a job has finalised the payment.
    const untilMs = performance.now() + PATIENCE_MS;
    while (answer.status === 409 && /finalis/.test(answer.text) && performance.now() < untilMs) {
      await pause(LOOK_EVERY_MS);
      answer = await this.#ask(path, body, key);
    }
    // A slow machine returns 202 instead of 200. The log and the reads show the outcome.
    const isSoFar = answer.status === 202 || answer.status === 200;
    this.answers.push(`POST ${path} ${isSoFar ? 'done' : `${answer.status} ${answer.text}`}`);
    await this.quiet();
    return answer;
  }

  async #ask(path: string, body: object, key: string): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${this.#side.port}${path}`, {
      method: 'POST',
      headers: { apikey: this.#side.apiKeys[0] as string, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, id: (JSON.parse(text) as { id?: string }).id ?? 'none' };
  }

  /**
   * Resolves when no work is in progress and the log stops growing. The sandbox bank answers an unknown refund when the account is idle.
   */
  async quiet(): Promise<void> {
    let [length, looks] = [-1, 0];
    while (looks < LOOKS_QUIET) {
      await this.#ask(`/v1/sandbox/refunds/${NO_REFUND}/confirm`, {}, 'a-key-that-is-not-looked-at');
      const now = await this.#side.count('event_store.events');
      looks = now === length ? looks + 1 : 0;
      length = now;
      await pause(LOOK_EVERY_MS);
    }
  }

  #created({ status, text, id }: Answer): string {
    if (status === 201) this.ids.push(id);
    else if (!text.includes('"error"')) throw new Error(`a creation answered ${status} ${text}`);
    return id;
  }
  #nextKey(): string {
    this.#asked++;
    return `key-of-request-${String(this.#asked).padStart(6, '0')}`;
  }
  #nextAmount(): number {
    return 10_000 + this.#asked * 7;
  }
}
