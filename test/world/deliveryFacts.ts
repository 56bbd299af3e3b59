// What must be true of a webhook delivery: its schedule and its signatures, told again, apart from the product; receivers that misbehave.

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { TestGateway } from './gateway.ts';
import { rawIdOf } from './http.ts';
import type { Delivery } from './merchant.ts';
import { type Hit, Receiver, type Script } from './receiver.ts';

/** Attempts of a delivery, and account time in seconds after which all have been made: 208,355 s and 20 %. */
export const MAX_ATTEMPTS = 15;
export const ALL_RETRIES_SECONDS = 4 * 86_400;

/** What the stream of a delivery says of one attempt that failed. */
export interface FailedAttempt {
  readonly number: number;
  readonly at: string;
  readonly nextAttemptAt: string | null;
}

/** The failed attempts of a delivery as its stream holds them, which says no number of the first. */
export const failedAttempts = async ({ storage }: TestGateway, deliveryId: string): Promise<FailedAttempt[]> => {
  const attempts: FailedAttempt[] = [];
  const stream = WEBHOOK_DELIVERY.stream(rawIdOf(deliveryId) as DeliveryId);
  for await (const { type, data } of storage.store.readStream(stream))
    if (type === 'WebhookDeliveryAttemptFailed')
      attempts.push(Object.assign({ number: 1 }, JSON.parse(data) as FailedAttempt));
  return attempts;
};

/** Seconds after attempt n until attempt n + 1 (rule W3), told again, apart from the product. */
export const SCHEDULE_SECONDS: readonly number[] = [
  5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200,
];

export const deliveryIdOf = ({ headers }: Hit): string => String(headers['x-acme-delivery-id']);

export const secondsFrom = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1_000;

/** `seconds` within ±20 %. */
export const expectAbout = (actual: number, seconds: number): void =>
  void expect(actual).to.be.within(seconds * 0.8, seconds * 1.2);

/** What a receiver that knows the secret would compute (contract.md Headers on each delivery, rule W1). */
export const expectSigned = ({ headers, rawBody }: Hit, secret: string, form: 'canonical' | 'legacy'): void => {
  const hmac = (text: string, encoding: 'hex' | 'base64') =>
    createHmac('sha256', Buffer.from(secret, 'utf8')).update(text, 'utf8').digest(encoding);
  const t = String(headers['webhook-timestamp']);
  expect(t).to.match(/^\d{10}$/);
  expect(headers['x-acme-signature']).to.equal(
    form === 'canonical' ? `t=${t},v1=${hmac(`${t}.${rawBody}`, 'hex')}` : `sha256=${hmac(rawBody, 'hex')}`,
  );
  expect(headers['webhook-signature']).to.equal(`v1,${hmac(`${headers['webhook-id']}.${t}.${rawBody}`, 'base64')}`);
};

/** `count` attempts failed by the stream, each at its due time, which is within the schedule after the one before. */
export const expectSchedule = async (
  gateway: TestGateway,
  { id, createdAt }: Delivery,
  count: number,
): Promise<FailedAttempt[]> => {
  const attempts = await failedAttempts(gateway, id);
  expect(attempts.map(({ number }) => number)).to.deep.equal(Array.from({ length: count }, (_, i) => i + 1));
  expect(secondsFrom(createdAt, attempts[0]!.at)).to.be.within(0, 30); // at once, as far as the machine goes on
  for (const [i, attempt] of attempts.slice(1).entries()) {
    expect(attempt.at).to.equal(attempts[i]!.nextAttemptAt);
    expectAbout(secondsFrom(attempts[i]!.at, attempt.at), SCHEDULE_SECONDS[i]!);
  }
  return attempts;
};

export const refuses: Script = (_hit, res) => void res.writeHead(500).end('no');
/** Refuses, and is not tried again before: no retry falls due while a slow machine goes on with the test. */
export const refusesFor =
  (seconds: number): Script =>
  (_hit, res) =>
    void res.writeHead(503, { 'retry-after': String(seconds) }).end();
export const answering =
  (status: (hit: Hit, n: number) => number): Script =>
  (hit, res, n) =>
    void res.writeHead(status(hit, n)).end();

/** A receiver that answers nothing until `open` is called; then 200, or what `status` says. */
export const gate = (status = 200): { script: Script; open: () => void } => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { script: (_hit, res) => void opened.then(() => res.writeHead(status).end()), open };
};

/** Receivers of one test. */
export class Receivers {
  readonly #open: Receiver[] = [];

  async open(script?: Script): Promise<Receiver> {
    const receiver = await Receiver.open(script);
    this.#open.push(receiver);
    return receiver;
  }
  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((receiver) => receiver.close()));
  }
}
