// axe reports nothing on any page, and pages paint quickly.
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { GUIDES } from '../../http/site/docs/guides.ts';
import { findings, LOOKS, openBrowser, openPage, overflow } from '../support/browser.ts';
import { newKey, TestGateway } from '../world/gateway.ts';
import { rawIdOf } from '../world/http.ts';

const OPENED = ['createCharge', 'createPayment', 'listCharges', 'uploadLogo', 'onChargePaid'];
/** Emulates a processor four times as slow as this one. */
const SLOWER = 4;
const FIRST_PAINT_MS = 1_000;
const VISITS = 8;
/** A slow machine may take as long as painting a single word this many times. */
const PAINTS_OF_A_WORD = 8;

describe('pages in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let pending: string;
  let paid: string;
  let several: string;
  before(async () => {
    gateway = await TestGateway.open();
    browser = await openBrowser();
    const charge = async () => rawIdOf((await gateway.charge<{ id: string }>()).body.id);
    [pending, paid] = [await charge(), await charge()];
    await gateway.post(`/v1/sandbox/charges/${paid}/pay`);
    const body = { amount: 12_345, paymentMethods: ['PIX', 'BOLETO', 'CREDIT_CARD'], idempotencyKey: newKey() };
    several = rawIdOf((await gateway.post<{ id: string }>('/v1/payments', body)).body.id);
  });
  after(async () => {
    await browser.close();
    await gateway.close();
  });

  const openAll = async (page: Page, operationIds: readonly string[]): Promise<void> => {
    for (const operationId of operationIds) {
      await page.locator(`#${operationId} > summary`).click();
      await page.locator(`#${operationId} [data-operation]`).waitFor();
    }
  };
  const openFolds = (page: Page) =>
    page.evaluate('for (const fold of document.querySelectorAll("[data-operation] details")) fold.open = true');
  const tryOut = async (page: Page): Promise<void> => {
    for (const button of await page.getByRole('button', { name: 'Try it out' }).all()) await button.click();
  };

  const pages: readonly (readonly [string, () => string, ((page: Page) => Promise<unknown>)?])[] = [
    ['the home page', () => '/?lang=en'],
    ['the home page in Portuguese', () => '/?lang=pt'],
    ['the reference', () => '/docs'],
    [
      'the reference with operations opened',
      () => '/docs',
      async (page) => {
        await openAll(page, OPENED);
        await openFolds(page);
      },
    ],
    [
      'the reference where operations are tried',
      () => '/docs',
      async (page) => {
        await openAll(page, OPENED);
        await tryOut(page);
      },
    ],
    [
      'the page of an operation',
      () => '/docs/operations/createCharge',
      async (page) => {
        await openFolds(page);
        await tryOut(page);
      },
    ],
    ['the page of a webhook', () => '/docs/operations/onChargePaid', openFolds],
    ['the errors', () => '/docs/errors'],
    ['an error that is linked to', () => '/docs/errors#invalid_amount'],
    ['a page that does not exist', () => '/nothing'],
    ['/login', () => '/login'],
    ['a checkout', () => `/pay/${pending}`],
    ['a checkout of several methods', () => `/pay/${several}`],
    ['a paid checkout', () => `/pay/${paid}`],
    ['a checkout that does not exist', () => `/pay/${'0'.repeat(26)}`],
    ['the password page', () => '/account/password#token'],
  ];
  const guides = GUIDES.flatMap(({ path, title, pt }): (typeof pages)[number][] => [
    [`the guide ${title}`, () => path],
    [`the guide ${pt.title} in Portuguese`, () => `${path}?lang=pt`],
  ]);
  /** Guides share one layout, so each is checked once on a phone and once on a desktop, one of them dark. */
  const isLook = (n: number, look: number): boolean => [0, 3].includes(look) === n % 4 < 2;
  for (const [number, [look, options]] of LOOKS.entries())
    for (const [name, path, act] of [...pages, ...guides.filter((_, n) => isLook(n, number))])
      it(`pass axe on ${name} (${look})`, async () => {
        const context = await browser.newContext({ ...options, baseURL: gateway.baseUrl });
        const { page, complaints } = await openPage(context);
        await page.goto(path());
        await act?.(page);
        expect(await findings(page)).to.deep.equal([]);
        expect(await overflow(page)).to.equal(0);
        expect(complaints).to.deep.equal([]);
        await context.close();
      });

  it('pass axe with every operation open', async () => {
    const context = await browser.newContext({ baseURL: gateway.baseUrl, reducedMotion: 'reduce' });
    const { page } = await openPage(context);
    await page.goto('/docs');
    await page.evaluate('for (const entry of document.querySelectorAll(".entry")) entry.open = true');
    await page.locator('.entry:not(:has([data-operation]))').first().waitFor({ state: 'detached' });
    expect(await findings(page)).to.deep.equal([]);
    await context.close();
  });

  /** Returns the time of the first contentful paint, in milliseconds. */
  const paintOf = async (path: string): Promise<number> => {
    const context = await browser.newContext({ baseURL: gateway.baseUrl });
    const page = await context.newPage();
    await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    await page.goto(path);
    const painted = await page.evaluate<number>(`new Promise((resolve) =>
      new PerformanceObserver((list) => {
        for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
      }).observe({ type: 'paint', buffered: true }))`);
    await context.close();
    return painted;
  };

  for (const path of ['/docs', '/docs/operations/createCharge', '/docs/errors', '/docs/webhooks'])
    it(`paint ${path} within a second on a processor four times as slow`, async () => {
      // Other programs may use the processor meanwhile, so one of several visits must be fast, or as fast as this machine can be.
      let isFast = false;
      for (let visit = 0; visit < VISITS && !isFast; visit++) {
        const wordMs = await paintOf('data:text/html,<p>word');
        isFast = (await paintOf(path)) < Math.max(FIRST_PAINT_MS, PAINTS_OF_A_WORD * wordMs);
      }
      expect(isFast).to.equal(true);
    });
});
