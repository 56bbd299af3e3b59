// A receiver that fails: what the delivery shows, and when it is retried (rules W3, W4; contract.md Delivery behaviour).
import { expect } from 'chai';
import {
  ALL_RETRIES_SECONDS,
  answering,
  deliveryIdOf,
  expectAbout,
  expectSchedule,
  failedAttempts,
  MAX_ATTEMPTS,
  refuses,
  SCHEDULE_SECONDS,
  secondsFrom,
} from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { type Delivery, Merchant } from '../../../world/merchant.ts';
import type { Hit, Receiver, Script } from '../../../world/receiver.ts';

describe('webhook attempts', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  /** Registers an endpoint with this script, creates a charge, and waits for all pending deliveries. */
  const toldOf = async (script: Script): Promise<Receiver> => {
    const receiver = await receivers.open(script);
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await merchant.flush();
    return receiver;
  };

  describe('that fail', () => {
    const failures: readonly (readonly [string, Script, number | null, RegExp, string | undefined])[] = [
      ['500', refuses, 500, /^status: 500$/, 'no'],
      ['404', (_hit, res) => void res.writeHead(404).end('{"não":1}'), 404, /^status: 404$/, '{"não":1}'],
      ['410', (_hit, res) => void res.writeHead(410).end(), 410, /^status: 410$/, undefined],
      [
        '301',
        (_hit, res) => void res.writeHead(301, { location: '/else' }).end(),
        301,
        /^redirect: 301 to /,
        undefined,
      ],
      [
        'a body that breaks off',
        (_hit, res) => void res.writeHead(200, { 'content-length': '9' }).write('a', () => res.destroy()),
        200,
        /^connection: /,
        'a',
      ],
      ['a closed socket', (_hit, res) => void res.destroy(), null, /^connection: /, undefined],
      [
        'a long body',
        (_hit, res) => void res.writeHead(500).end('x'.repeat(9_000)),
        500,
        /^status: 500$/,
        'x'.repeat(4_096),
      ],
    ];
    for (const [name, script, statusCode, error, body] of failures)
      it(`are shown and retried in 5 s after ${name}`, async () => {
        const receiver = await toldOf(script);
        const delivery = await merchant.delivery();
        const { id, endpointId, lastError, nextRetryAt, createdAt, updatedAt } = delivery;
        const expected: Delivery = {
          id: deliveryIdOf(receiver.got[0]!),
          endpointId,
          eventType: 'charge.created',
          status: 'PENDING',
          attempts: 1,
          maxAttempts: MAX_ATTEMPTS,
          lastStatusCode: statusCode,
          lastError,
          ...(body !== undefined && { lastResponseBody: body }),
          nextRetryAt,
          deliveredAt: null,
          createdAt,
          updatedAt,
          payload: receiver.got[0]!.body,
        };
        expect(delivery).to.deep.equal(expected);
        expect(lastError).to.match(error);
        expectAbout(secondsFrom(updatedAt, nextRetryAt!), SCHEDULE_SECONDS[0]!);
        expect((await failedAttempts(gateway, id)).map(({ at }) => at)).to.deep.equal([updatedAt]);
        expect(receiver.got.map(({ path }) => path)).to.deep.equal(['/hook']); // a redirect is not followed
      });
    it('show a refused connection or a missing TLS as the error', async () => {
      const plain = await receivers.open();
      for (const [url, error] of [
        ['http://127.0.0.1:1024/', /^connection: /],
        [plain.url.replace('http:', 'https:'), /^tls: /],
      ] as const) {
        merchant = await Merchant.open(gateway);
        await merchant.register(url, ['charge.created']);
        await merchant.charge();
        await merchant.flush();
        const delivery = await merchant.delivery();
        expect(delivery)
          .to.include({ status: 'PENDING', attempts: 1, lastStatusCode: null })
          .and.not.have.property('lastResponseBody');
        expect(delivery.lastError).to.match(error);
      }
      expect(plain.got).to.deep.equal([]);
    });
    it('are retried 30 s after the second one and 2 minutes after the third', async () => {
      await toldOf(refuses);
      for (const [advance, attempts] of [
        [6, 2],
        [36, 3],
      ] as const) {
        await merchant.advance(advance);
        const { updatedAt, nextRetryAt, ...delivery } = await merchant.delivery();
        expect(delivery).to.include({ status: 'PENDING', attempts });
        expectAbout(secondsFrom(updatedAt, nextRetryAt!), SCHEDULE_SECONDS[attempts - 1]!);
      }
    });
    it('are retried after 5 s of real time', async () => {
      const receiver = await toldOf(answering((_hit, n) => (n === 1 ? 500 : 200)));
      await receiver.until((hit) => hit !== receiver.got[0]);
      await merchant.flush();
      const delivery = await merchant.delivery();
      expect(delivery).to.include({
        status: 'DELIVERED',
        attempts: 2,
        lastStatusCode: 200,
        lastError: null,
        nextRetryAt: null,
      });
      expect(delivery).to.not.have.property('lastResponseBody');
      const [first, second] = receiver.got as [Hit, Hit];
      expect(second.at - first.at).to.be.within(4_000, 20_000);
      expect(receiver.got.length).to.equal(2);
    });
  });

  describe('with Retry-After', () => {
    const telling =
      (status: number, retryAfter: string): Script =>
      (_hit, res) =>
        void res.writeHead(status, { 'retry-after': retryAfter }).end();
    for (const [status, seconds, least, most] of [
      [429, '100', 100, 120],
      [503, '7200', 7_200, 8_640],
      [429, '999999999', 86_400, 86_400],
      [429, '0', 4, 6],
      [429, 'soon', 4, 6],
      [500, '100', 4, 6],
    ] as const)
      it(`are retried ${least} to ${most} s after ${status} and ${seconds}`, async () => {
        await toldOf(telling(status, seconds));
        const { updatedAt, nextRetryAt, lastStatusCode } = await merchant.delivery();
        expect(lastStatusCode).to.equal(status);
        expect(secondsFrom(updatedAt, nextRetryAt!)).to.be.within(least, most);
      });
    it('are retried at its date or at most 20 % later', async () => {
      const date = new Date(Math.ceil(Date.now() / 1_000 + 600) * 1_000);
      await toldOf(telling(429, date.toUTCString()));
      const { createdAt, nextRetryAt } = await merchant.delivery();
      const asked = secondsFrom(createdAt, date.toISOString());
      expect(secondsFrom(createdAt, nextRetryAt!)).to.be.within(asked, asked * 1.2 + 2);
    });
    it('stay on schedule to the last attempt if it is always 1 s', async () => {
      const receiver = await toldOf(telling(429, '1'));
      await merchant.advance(18);
      expect(await merchant.delivery()).to.include({ status: 'PENDING', attempts: 2 });
      await merchant.advance(ALL_RETRIES_SECONDS);
      const delivery = await merchant.delivery();
      expect(delivery).to.include({ status: 'FAILED', attempts: MAX_ATTEMPTS });
      await expectSchedule(gateway, delivery, MAX_ATTEMPTS);
      expect(receiver.got.length).to.equal(MAX_ATTEMPTS);
    });
    it('are not retried before its end, and once afterwards', async () => {
      const receiver = await toldOf(telling(429, '3600'));
      await merchant.advance(3_590);
      expect(receiver.got.length).to.equal(1);
      await merchant.advance(3_600 * 0.2 + 10);
      expect(receiver.got.length).to.equal(2);
      expect(await merchant.delivery()).to.include({ status: 'PENDING', attempts: 2 });
    });
  });
});
