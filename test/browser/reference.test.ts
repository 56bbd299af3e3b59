// The API reference in Chromium: operations render when opened, by click or by link, and can be tried.
import { expect } from 'chai';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { API_ROUTES } from '../../http/api/routes.ts';
import { findings, openBrowser, openPage } from '../support/browser.ts';
import { TestGateway } from '../world/gateway.ts';

const textOf = async (locator: Locator): Promise<string> => (await locator.textContent()) ?? '';

describe('the API reference in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: readonly string[];
  before(async () => {
    gateway = await TestGateway.open();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await gateway.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ baseURL: gateway.baseUrl });
    ({ page, complaints } = await openPage(context));
  });
  afterEach(async () => {
    expect(complaints).to.deep.equal([]);
    await context.close();
  });

  const entry = (operationId: string): Locator => page.locator(`#${operationId}`);
  const shown = (operationId: string): Locator => entry(operationId).locator('[data-operation]');
  const open = async (operationId: string): Promise<void> => {
    await entry(operationId).locator('> summary').click();
    await shown(operationId).waitFor();
  };

  it('renders an operation when it is opened, and fetches it once', async () => {
    const fetched: string[] = [];
    page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
    await page.goto('/docs');
    expect(await page.locator('.entry').count()).to.be.at.least(API_ROUTES.length);
    expect(await page.locator('[data-operation]').count()).to.equal(0);
    await open('createCharge');
    expect(await textOf(shown('createCharge'))).to.include('expected_payer_tax_id');
    for (let click = 0; click < 2; click++) await entry('createCharge').locator('> summary').click();
    // It is opened afterwards, so a second fetch of createCharge would have happened by now.
    await open('getBalance');
    expect(await page.locator('[data-operation]').count()).to.equal(2);
    expect(fetched.filter((path) => path.startsWith('/docs/operations/'))).to.deep.equal([
      '/docs/operations/createCharge',
      '/docs/operations/getBalance',
    ]);
  });
  it('shows a link to the operation’s page if it can’t be fetched, and retries when reopened', async () => {
    await page.goto('/docs');
    await page.route('**/docs/operations/*', (route) => route.abort(), { times: 1 });
    const [failed] = await Promise.all([
      page.waitForEvent('requestfailed'),
      entry('createCharge').locator('> summary').click(),
    ]);
    expect(failed.url()).to.include('createCharge');
    await entry('createCharge').getByRole('link', { name: 'Read createCharge on its own page' }).waitFor();
    await entry('createCharge').locator('> summary').click();
    await open('createCharge');
  });
  for (const hash of ['#createPayment', '#/Payments/createPayment', '#onChargePaid'])
    it(`opens the operation of the link ${hash} and scrolls to it`, async () => {
      const operationId = hash.split(/[#/]/).at(-1) as string;
      await page.goto(`/docs${hash}`);
      await shown(operationId).waitFor();
      // It scrolls in the same turn in which it renders, to below the top bar.
      const top = await page.evaluate<number>(`document.getElementById('${operationId}').getBoundingClientRect().top`);
      expect(top).to.be.closeTo(88, 2);
      expect(await page.locator('.entry[open]').count()).to.equal(1);
    });
  it('opens operations by links within the page, and puts an opened operation’s anchor into the address', async () => {
    await page.goto('/docs#createCharge');
    await shown('createCharge').waitFor();
    await page.evaluate('location.hash = "#getPayment"');
    await shown('getPayment').waitFor();
    await open('listWallets');
    expect(new URL(page.url()).hash).to.equal('#listWallets');
    await page.evaluate('location.hash = "#nothing"');
    expect(await page.locator('.entry[open]').count()).to.equal(3);
  });
  it('is linked from the error reference', async () => {
    await page.goto('/docs/errors');
    await page.locator('#endpoint_limit_reached .from a').first().click();
    await shown('registerWebhookEndpoint').waitFor();
  });
  it('finds operations by words of their path, name and summary', async () => {
    await page.goto('/docs');
    await page.getByLabel('Find an operation').fill('REFUND list');
    const visible = page.locator('.entry:visible');
    await page.getByText(/^\d+ operations?$/).waitFor();
    expect(await visible.evaluateAll((all) => all.map(({ id }) => id))).to.deep.equal(['listRefunds']);
    expect(await page.locator('.group:visible').count()).to.equal(1);
    await page.getByLabel('Find an operation').fill('');
    expect(await visible.count()).to.be.at.least(API_ROUTES.length);
  });
  it('works without scripts, with a page for each operation', async () => {
    await context.close();
    context = await browser.newContext({ baseURL: gateway.baseUrl, javaScriptEnabled: false });
    ({ page, complaints } = await openPage(context));
    await page.goto('/docs');
    expect(await page.getByLabel('Find an operation').isVisible()).to.equal(false);
    await entry('createCharge').locator('> summary').click();
    await entry('createCharge').getByRole('link').click();
    await page.waitForURL('**/docs/operations/createCharge');
    expect(await textOf(page.locator('h1'))).to.equal('Create a Pix charge');
    for (const text of ['expected_payer_tax_id', 'br_code', 'invalid_amount'])
      expect(await page.locator('[data-operation]').textContent()).to.include(text);
    for (const name of ['Try it out', 'Copy'])
      expect(await page.getByRole('button', { name }).count(), name).to.equal(0);
  });

  describe('“Try it out”', () => {
    const form = (operationId: string): Locator => page.locator(`#try-${operationId}`);
    const tryOut = async (operationId: string): Promise<Locator> => {
      await page.goto(`/docs#${operationId}`);
      await shown(operationId).getByRole('button', { name: 'Try it out' }).click();
      return form(operationId);
    };
    const keyOf = async (of: Locator): Promise<string> => of.getByLabel('Idempotency-Key').inputValue();
    const bodyOf = async (of: Locator) => JSON.parse(await of.getByLabel('Body').inputValue());
    const send = async (of: Locator): Promise<string> => {
      await Promise.all([page.waitForResponse(/\/v1\//), of.getByRole('button', { name: 'Send' }).click()]);
      await of
        .getByRole('status')
        .filter({ hasText: /^\d{3} / })
        .waitFor();
      return textOf(of.getByRole('status'));
    };

    it('puts a fresh idempotency key into the header each time it is opened', async () => {
      const keys = new Set<string>();
      for (const visit of [1, 2]) {
        const opened = await tryOut('createCharge');
        keys.add(await keyOf(opened));
        const button = shown('createCharge').getByRole('button', { name: 'Try it out' });
        for (const expanded of ['false', 'true']) {
          await button.click();
          expect(await button.getAttribute('aria-expanded')).to.equal(expanded);
        }
        keys.add(await keyOf(opened));
        expect(keys.size).to.equal(visit * 2);
        await page.reload();
      }
      for (const key of keys) expect(key).to.match(/^try-[0-9a-f]{24}$/);
    });
    for (const operationId of ['createPayment', 'refundPayment'])
      it(`puts a fresh idempotency key into the body of ${operationId}`, async () => {
        const opened = await tryOut(operationId);
        const first = (await bodyOf(opened)).idempotencyKey;
        await opened.getByRole('button', { name: 'New idempotency key' }).click();
        const second = (await bodyOf(opened)).idempotencyKey;
        for (const key of [first, second]) expect(key).to.match(/^try-[0-9a-f]{24}$/);
        expect(first).to.not.equal(second);
      });
    it('sends the request: new, then replayed, then new with another key', async () => {
      const opened = await tryOut('createCharge');
      await opened.getByLabel('API key').fill(gateway.tenant.testKey);
      expect(await send(opened)).to.match(/^201 Created · \d+ ms · req_\w+$/);
      const first = JSON.parse(await textOf(opened.locator('pre'))) as { id: string; amount: number };
      expect(first.amount).to.equal(12345);
      expect(await send(opened)).to.match(/^201 Created .* · replayed$/);
      expect(JSON.parse(await textOf(opened.locator('pre')))).to.deep.equal(first);
      await opened.getByRole('button', { name: 'New idempotency key' }).click();
      expect(await send(opened)).to.match(/^201 Created · \d+ ms · req_\w+$/);
      expect(JSON.parse(await textOf(opened.locator('pre'))).id).to.not.equal(first.id);
      expect(await findings(page)).to.deep.equal([]);
      // The API key is kept for the next form.
      await open('getCharge');
      await shown('getCharge').getByRole('button', { name: 'Try it out' }).click();
      await form('getCharge').getByLabel('id').fill(first.id);
      expect(await send(form('getCharge'))).to.match(/^200 OK/);
    });
    it('shows the error answer, and sends nothing while a required field is missing', async () => {
      const opened = await tryOut('listCharges');
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url()));
      await opened.getByRole('button', { name: 'Send' }).click();
      expect(sent).to.deep.equal([]);
      await opened.getByLabel('API key').fill('ak_test_wrong');
      await opened.getByLabel('status').selectOption('paid');
      expect(await send(opened)).to.match(/^401 Unauthorized/);
      expect(sent).to.deep.equal([`${gateway.baseUrl}/v1/charges?status=paid`]);
      expect(JSON.parse(await textOf(opened.locator('pre'))).error.code).to.equal('unauthorized');
    });
    it('sends a file with its content type', async () => {
      const opened = await tryOut('uploadLogo');
      await opened.getByLabel('Dashboard token').fill('nobody');
      await opened
        .getByLabel('File')
        .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('PNG') });
      const [request] = await Promise.all([page.waitForRequest(/\/v1\//), send(opened)]);
      const headers = await request.allHeaders();
      expect([request.method(), headers['content-type'], headers['authorization']]).to.deep.equal([
        'PUT',
        'image/png',
        'Bearer nobody',
      ]);
    });
  });
});
