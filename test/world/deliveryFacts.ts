// Expected properties of webhook deliveries: schedule and signatures, implemented independently of the product. Also scripts for receivers.

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { REQUEST_MS_MAX } from '../../infrastructure/webhookSender/webhookSender.ts';
import type { TestGateway } from './gateway.ts';
import { rawIdOf } from './http.ts';
import type { Delivery } from './merchant.ts';
import { type Hit, Receiver, type Script } from './receiver.ts';

export const MAX_ATTEMPTS = 15;
/** Account time, in seconds, in which all attempts are made: more than 208,355 s plus 20 %. */
export const ALL_RETRIES_SECONDS = 4 * 86_400;

/** A failed attempt in the stream of a delivery. */
export interface FailedAttempt {
  readonly number: number;
  readonly at: string;
  readonly nextAttemptAt: string | null;
}

/** Returns the failed attempts in a delivery's stream. The first event has no number, so 1 is filled in. */
export const failedAttempts = async ({ storage }: TestGateway, deliveryId: string): Promise<FailedAttempt[]> => {
  const attempts: FailedAttempt[] = [];
  const stream = WEBHOOK_DELIVERY.stream(rawIdOf(deliveryId) as DeliveryId);
  for await (const { type, data } of storage.store.readStream(stream))
    if (type === 'WebhookDeliveryAttemptFailed')
      attempts.push(Object.assign({ number: 1 }, JSON.parse(data) as FailedAttempt));
  return attempts;
};

/** Seconds from attempt n to attempt n + 1 (rule W3), independent of the product. */
export const SCHEDULE_SECONDS: readonly number[] = [
  5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200,
];

export const deliveryIdOf = ({ headers }: Hit): string => String(headers['x-acme-delivery-id']);

export const secondsFrom = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1_000;

/** Expects `actual` to be `seconds` ± 20 %. */
export const expectAbout = (actual: number, seconds: number): void =>
  void expect(actual).to.be.within(seconds * 0.8, seconds * 1.2);

/** Expects the signatures that a receiver with the secret would compute (contract.md Headers on each delivery, rule W1). */
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

/** Expects `count` failed attempts in the stream, each at its due time and within the schedule. Returns them. */
export const expectSchedule = async (
  gateway: TestGateway,
  { id, createdAt }: Delivery,
  count: number,
): Promise<FailedAttempt[]> => {
  const attempts = await failedAttempts(gateway, id);
  expect(attempts.map(({ number }) => number)).to.deep.equal(Array.from({ length: count }, (_, i) => i + 1));
  expect(secondsFrom(createdAt, attempts[0]!.at)).to.be.within(0, 30); // The first attempt is immediate, unless the machine is slow.
  for (const [i, attempt] of attempts.slice(1).entries()) {
    expect(attempt.at).to.equal(attempts[i]!.nextAttemptAt);
    expectAbout(secondsFrom(attempts[i]!.at, attempt.at), SCHEDULE_SECONDS[i]!);
  }
  return attempts;
};

export const refuses: Script = (_hit, res) => void res.writeHead(500).end('no');
/** Fails with `Retry-After`, so that no retry falls due during the test on a slow machine. */
export const refusesFor =
  (seconds: number): Script =>
  (_hit, res) =>
    void res.writeHead(503, { 'retry-after': String(seconds) }).end();
export const answering =
  (status: (hit: Hit, n: number) => number): Script =>
  (hit, res, n) =>
    void res.writeHead(status(hit, n)).end();

/** A script that holds all responses until `open` is called, then answers with `status`. */
export const gate = (status = 200): { script: Script; open: () => void } => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { script: (_hit, res) => void opened.then(() => res.writeHead(status).end()), open };
};

/** Resolves when requests of waiting attempts have become too old, so that they are made again. */
export const requestsOutdated = async (gateway: TestGateway): Promise<void> => {
  const since = performance.now();
  while (performance.now() - since <= 1.2 * REQUEST_MS_MAX) await gateway.get('/v1/sandbox/clock');
};

/** Resolves when the sender of the gateway has been asked for `count` more attempts, whether they begin or wait. */
export const attemptsAsked = ({ gateway }: TestGateway, count: number): Promise<void> => {
  const { sender } = gateway.needs;
  const send = sender.sendInTurn.bind(sender);
  let asked = 0;
  return new Promise((resolve) => {
    sender.sendInTurn = (...attempt) => {
      if (++asked === count) {
        sender.sendInTurn = send;
        resolve();
      }
      return send(...attempt);
    };
  });
};

/** The receivers of one test. */
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
