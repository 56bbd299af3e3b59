// What a hostile receiver can do to a delivery, through the whole gateway: each outcome is as documented, and memory stays flat (rules W3,
// W4).
import tls from 'node:tls';
import { expect } from 'chai';
import { openWebhookSender } from '../../../../infrastructure/webhookSender/webhookSender.ts';
import { type Receiver as RawReceiver, webhook } from '../../../infrastructure/webhookSender/receiver.ts';
import { EXPIRED, RECEIVER } from '../../../support/tls/certificates.ts';
import { Receivers, secondsFrom } from '../../../world/deliveryFacts.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { hostileReceivers, type Outcome } from '../../../world/hostileReceivers.ts';
import { openReady } from '../../../world/http.ts';
import { type Delivery, Merchant } from '../../../world/merchant.ts';
import { StoppableClock } from '../../../world/stoppableClock.ts';

/** A tenth of the product’s deadline. */
const DEADLINE_MS = 3_000;
const HOSTILE = hostileReceivers(DEADLINE_MS);
/** Concurrent attempts at each receiver of a flood, and their deadline. */
const FLOOD = 32;
const FLOOD_DEADLINE_MS = 1_000;
/** The peak memory may grow by this much while 24 GB are offered. */
const GROWTH_BYTES_MAX = 128 * 1_048_576;
const peakBytes = (): number => process.resourceUsage().maxRSS * 1_024;

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'hooks.example.test': ['127.0.0.1'],
  'other.example.test': ['127.0.0.1'],
  'elsewhere.example.test': ['127.0.0.1'],
  'forbidden.example.test': ['169.254.169.254', '0.0.0.0', '::ffff:127.0.0.1'],
};
const resolver = {
  resolve: async (name: string) => {
    const addresses = NAMES[name];
    if (addresses === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    return addresses;
  },
  close: () => undefined,
};

describe('hostile receivers', () => {
  let gateway: TestGateway;
  const opened: RawReceiver[] = [];
  const trusted = tls.getCACertificates('default');

  before(async () => {
    tls.setDefaultCACertificates([...trusted, EXPIRED.cert, RECEIVER.cert]);
    const clock = new StoppableClock();
    clock.stop(); // no attempt is repeated
    gateway = await openReady({ webhookSender: { deadlineMs: DEADLINE_MS, resolver }, clock });
  });
  after(async () => {
    tls.setDefaultCACertificates(trusted);
    await gateway.close();
    await Promise.all(opened.map((receiver) => receiver.close()));
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  /** Creates a charge in a new account with this receiver, and returns its deliveries after all attempts have ended. */
  const attempted = async (name: string): Promise<readonly Delivery[]> => {
    const { open, host } = HOSTILE[name]!;
    const receiver = await open();
    opened.push(receiver);
    const merchant = await Merchant.open(gateway);
    const url =
      host === undefined ? receiver.url : receiver.url.replace('127.0.0.1', host).replace('http:', schemeOf(name));
    await merchant.register(url, ['charge.created']);
    await merchant.charge();
    await gateway.gateway.reacted.caughtUp(5_000);
    // A flush waits at most 5 s, while attempts last until their deadline.
    while ((await gateway.post('/v1/sandbox/deliveries/flush', {}, merchant)).status === 202);
    return (await merchant.deliveries()).data;
  };
  const schemeOf = (name: string): string => (/certificate|TLS|handshake/.test(name) ? 'https:' : 'http:');

  const expectOutcome = (
    delivery: Delivery,
    { status, lastStatusCode, lastError, lastResponseBody }: Outcome,
  ): void => {
    expect(delivery).to.include({ status, lastStatusCode, attempts: 1 });
    if (lastError === null) expect(delivery.lastError).to.equal(null);
    else expect(delivery.lastError).to.match(lastError);
    expect(delivery.lastError?.length ?? 0).to.be.at.most(300);
    if (lastResponseBody instanceof RegExp) expect(delivery.lastResponseBody).to.match(lastResponseBody);
    else expect(delivery.lastResponseBody).to.equal(lastResponseBody);
    if (status === 'DELIVERED')
      expect([delivery.nextRetryAt, delivery.deliveredAt !== null]).to.deep.equal([null, true]);
    else expect(secondsFrom(delivery.updatedAt, delivery.nextRetryAt!)).to.be.within(4, 6);
  };

  describe('of each kind', () => {
    // All run concurrently, as most of their time is spent waiting for the deadline.
    let outcomes: Readonly<Record<string, readonly Delivery[]>>;
    before(async () => {
      const names = Object.keys(HOSTILE);
      const all = await Promise.all(names.map((name) => attempted(name)));
      outcomes = Object.fromEntries(names.map((name, i) => [name, all[i]!]));
    });
    for (const [name, { outcome }] of Object.entries(HOSTILE))
      it(`get the documented outcome if one ${name}: ${outcome.lastError?.source.split(':')[0]?.slice(1) ?? 'delivered'}`, () => {
        const [delivery, ...others] = outcomes[name] as [Delivery];
        expect(others).to.deep.equal([]);
        expectOutcome(delivery, outcome);
      });
  });

  it('that never stop sending leave memory flat', async () => {
    const sender = openWebhookSender({ allowPrivate: true, deadlineMs: FLOOD_DEADLINE_MS, connections: FLOOD });
    const endless = Object.entries(HOSTILE).filter(([name]) => /endless|bomb/.test(name));
    const receivers = await Promise.all(endless.map(([, { open }]) => open()));
    opened.push(...receivers);
    const before = Math.max(peakBytes(), process.memoryUsage().rss);
    const attempts = receivers.flatMap(({ url }) => Array.from({ length: FLOOD }, () => sender.send(webhook(url))));
    for (const { responseBody } of await Promise.all(attempts))
      expect(Buffer.byteLength(responseBody ?? '')).to.be.at.most(4_096);
    await sender.close();
    expect(peakBytes() - before).to.be.below(GROWTH_BYTES_MAX);
  });

  describe('with Retry-After', () => {
    const receivers = new Receivers();
    afterEach(() => receivers.close());
    /** Returns an HTTP date in each form: the current one and two obsolete ones (RFC 9110 §5.6.7). */
    const dates = (at: Date) => {
      const fixdate = at.toUTCString();
      const [, weekday, day, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(fixdate)!;
      const long = at.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
      return {
        'IMF-fixdate': fixdate,
        'RFC 850': `${long}, ${day}-${month}-${year?.slice(2)} ${time} GMT`,
        asctime: `${weekday} ${month} ${day?.replace(/^0/, ' ')} ${time} ${year}`,
      };
    };
    /** Minimum and maximum seconds until the next attempt. */
    const ORDINARY = [4, 6] as const;
    const DAY = [86_400, 86_400] as const;
    const cases: [string, number, string | readonly string[], readonly [number, number]][] = [];
    for (const status of [429, 503]) {
      cases.push(['600 s', status, '600', [600, 720]]);
      // Attempts may be minutes later, and a date has no fractions.
      for (const [form, date] of Object.entries(dates(new Date(Date.now() + 3_600_000))))
        cases.push([`an hour, as ${form}`, status, date, [3_000, 4_320]]);
      for (const [what, value, expected] of [
        ['a day', '86400', DAY],
        ['a year', '31536000', DAY],
        ['four hundred digits', '9'.repeat(400), DAY],
        ['the year 9999', 'Fri, 31 Dec 9999 23:59:59 GMT', DAY],
        ['nothing', '', ORDINARY],
        ['0 s', '0', ORDINARY],
        ['a negative number', '-600', ORDINARY],
        ['a fraction', '600.5', ORDINARY],
        ['an exponent', '1e9', ORDINARY],
        ['hex', '0xffff', ORDINARY],
        ['a word', 'soon', ORDINARY],
        ['a date gone by', 'Sun, 06 Nov 1994 08:49:37 GMT', ORDINARY],
        ['a day that does not exist', 'Sun, 99 Nov 2099 08:49:37 GMT', ORDINARY],
        ['an ISO date', '2099-01-01T00:00:00Z', ORDINARY],
        ['two values', ['600', '700'], ORDINARY],
      ] as const)
        cases.push([what, status, value, expected]);
    }
    for (const status of [400, 500, 502, 504]) cases.push(['600 s', status, '600', ORDINARY]);

    for (const [what, status, value, [least, most]] of cases)
      it(`are retried in ${least} to ${most} s after ${status} and ${what}`, async () => {
        const headers = { 'retry-after': value as string };
        const receiver = await receivers.open((_hit, res) => void res.writeHead(status, headers).end());
        const merchant = await Merchant.open(gateway);
        await merchant.register(receiver.url, ['charge.created']);
        await merchant.charge();
        await merchant.flush();
        const { lastError, updatedAt, nextRetryAt } = await merchant.delivery();
        expect(lastError).to.equal(`status: ${status}`);
        expect(secondsFrom(updatedAt, nextRetryAt!)).to.be.within(least, most);
      });
  });
});
