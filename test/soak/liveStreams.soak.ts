// POST /v1/charges beside ten live streams of the dashboard (`npm run soak -- liveStreams`): a client that only holds the streams and
// reopens each when it ends, and ten pages that also reload, as browsers do. Rounds alternate.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { GatewayUnderTest } from '../bench/gatewayUnderTest.ts';
import { LoadGenerator } from '../bench/load.ts';
import { median } from '../bench/statistics.ts';
import { cookieOf } from '../world/browser.ts';

const STREAMS = 10;
const ROUNDS = Number(process.env['ROUNDS'] ?? 8);
const ROUND_MS = 5_000;
/** The pause of the page (http/site/dashboard/dashboard.js). */
const PAUSE_MS = 2_000;
/** The minimum medians of paired rounds. Held streams cost no more than the noise of the machine; pages are also rendered. */
const LEAST_SHARE = { streams: 0.97, pages: 0.85 };
const PAGE = '/dashboard/test';

describe('POST /v1/charges beside ten live streams', function () {
  this.timeout(0);
  let gateway: GatewayUnderTest;
  let generator: LoadGenerator;
  let headers: Readonly<Record<string, string>>;
  let streams = 0;
  before(async () => {
    gateway = await GatewayUnderTest.start();
    generator = new LoadGenerator();
    const { token } = await gateway.call<{ token: string }>('/v1/auth/login', gateway.user);
    headers = { accept: 'text/html', ...cookieOf({ authorization: `Bearer ${token}` }) };
  });
  after(async () => {
    generator.close();
    await gateway.stop();
  });

  const get = (path: string, signal: AbortSignal) =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers, signal });
  const versionIn = (text: string): string => /"?version"?[=:]"([0-9a-f]{32})"/.exec(text)?.[1] ?? '';

  /** Runs one client until the signal. With `isPage` it also loads the page whenever the stream ends. */
  const watch = async (isPage: boolean, signal: AbortSignal): Promise<void> => {
    let shown = versionIn(await (await get(PAGE, signal)).text());
    while (!signal.aborted) {
      const stream = await get(`${PAGE}/events?shown=${shown}`, signal);
      expect(stream.status).to.equal(200);
      streams++;
      const heard = await stream.text();
      shown = versionIn(isPage ? await (await get(PAGE, signal)).text() : heard.slice(heard.lastIndexOf('data:')));
      await pause(PAUSE_MS, null, { signal });
    }
  };

  const measured = async (): Promise<number> => {
    const load = { apiKeys: [gateway.apiKey], connections: 32, durationMs: ROUND_MS, perSecond: null };
    const { perSecond } = await generator.run({ port: gateway.port, ...load });
    await gateway.caughtUp();
    return perSecond;
  };
  const beside = async (isPage: boolean): Promise<number> => {
    const abort = new AbortController();
    const clients = Array.from({ length: STREAMS }, () =>
      watch(isPage, abort.signal).catch((error: unknown) => {
        if (!abort.signal.aborted) throw error;
      }),
    );
    await pause(500);
    const rate = await measured();
    abort.abort();
    await Promise.all(clients);
    return rate;
  };

  for (const [what, least, isPage] of [
    ['held by one client', LEAST_SHARE.streams, false],
    ['of pages that reload when they end', LEAST_SHARE.pages, true],
  ] as const)
    it(`keeps at least ${100 * least} % of its rate with streams ${what}`, async () => {
      const shares: number[] = [];
      await measured();
      for (let round = 0; round < ROUNDS; round++) {
        const of = { alone: 0, beside: 0 };
        const both = ['alone', 'beside'] as const;
        for (const side of round % 2 === 0 ? both : both.toReversed())
          of[side] = side === 'alone' ? await measured() : await beside(isPage);
        shares.push(of.beside / of.alone);
        console.log(
          `      ${Math.round(of.alone)}/s alone, ${Math.round(of.beside)}/s beside (${streams} streams so far)`,
        );
      }
      console.log(`      median ${(median(shares) * 100).toFixed(1)} %`);
      expect(median(shares)).to.be.at.least(least);
    });
});
