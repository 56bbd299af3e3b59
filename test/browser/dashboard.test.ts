// The dashboard in Chromium: a shop’s work with its payments, and every page in both languages and all looks.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { EN } from '../../http/site/dashboard/texts/en.ts';
import { PT } from '../../http/site/dashboard/texts/pt.ts';
import { openedCase } from '../http/examples/caseExamples.ts';
import { makePayouts } from '../http/examples/payoutExamples.ts';
import { findings, LOOKS, openBrowser, openPage, overflow } from '../support/browser.ts';
import { TestGateway, type TestUser } from '../world/gateway.ts';
import { operatorsScene } from '../world/operatorsScene.ts';
import { refusedReturn } from '../world/refusedReturn.ts';

const LONG = 'Associação dos Comerciantes de Santo Antônio do Descoberto e Região Metropolitana '.repeat(2).trim();

describe('the dashboard in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let user: TestUser;
  before(async () => {
    gateway = await TestGateway.open();
    browser = await openBrowser();
    user = await gateway.addUser('OWNER');
  });
  after(async () => {
    await browser.close();
    await gateway.close();
  });

  const signIn = async (page: Page, at = '/dashboard'): Promise<void> => {
    await page.goto(gateway.baseUrl + at);
    const form = page.locator('form').first();
    await form.locator('[name=email]').fill(user.email);
    await form.locator('[name=password]').fill(user.password);
    await form.locator('button').click();
    await page.locator('nav.sections').waitFor();
  };
  const opened = async (options: Parameters<Browser['newContext']>[0]): Promise<BrowserContext> =>
    browser.newContext(options);

  for (const scripts of [true, false])
    it(`lets a shop create, pay and refund a charge, ${scripts ? 'with' : 'without'} scripts`, async () => {
      const context = await opened({ locale: 'en-US', javaScriptEnabled: scripts });
      const { page, complaints } = await openPage(context);
      await signIn(page);
      await page.getByRole('link', { name: EN.payments.create }).click();
      await page.getByLabel(EN.create.amount).fill('149.90');
      await page.getByRole('button', { name: EN.create.button }).click();
      await page.getByText(EN.done.created).waitFor();
      expect(await page.locator('.link img').getAttribute('src')).to.match(/\/qr\.png$/);
      await page.getByRole('button', { name: EN.payment.pay, exact: true }).click();
      await page.locator('.status.paid').waitFor();
      await page.getByLabel(EN.payment.refundAmount).fill('74.95');
      await page.getByRole('button', { name: EN.payment.refund, exact: true }).click();
      await page.getByRole('button', { name: EN.payment.refundConfirm }).click();
      await page.getByText(EN.done.refunded).waitFor();
      await page.getByRole('button', { name: EN.signOut }).click();
      await page.getByText(EN.signIn.signedOut).waitFor();
      expect(complaints).to.deep.equal([]);
      await context.close();
    });

  it('updates a payment to paid without a reload', async () => {
    const context = await opened({ locale: 'pt-BR' });
    const { page, complaints } = await openPage(context);
    await signIn(page);
    const { id } = (await gateway.charge<{ id: string }>()).body;
    await page.goto(`${gateway.baseUrl}/dashboard/test/payments/${id}`);
    await page.getByText(PT.statuses.pending).first().waitFor();
    await gateway.post(`/v1/sandbox/charges/${id}/pay`);
    await page.locator('.status.paid').waitFor();
    expect(complaints).to.deep.equal([]);
    await context.close();
  });

  it('updates the overview with new payments, and keeps text that is being typed', async () => {
    const context = await opened({ locale: 'en-US' });
    const { page, complaints } = await openPage(context);
    await signIn(page);
    await page.goto(`${gateway.baseUrl}/dashboard/test`);
    const { id } = (await gateway.charge<{ id: string }>()).body;
    await page.locator(`a[href$="${id.slice(3)}"]`).waitFor();
    await gateway.post(`/v1/sandbox/charges/${id}/pay`);
    await page
      .locator('tr', { has: page.locator(`a[href$="${id.slice(3)}"]`) })
      .locator('.status.paid')
      .waitFor();
    await page.goto(`${gateway.baseUrl}/dashboard/test/payments/${id}`);
    await page.getByLabel(EN.payment.refundAmount).fill('1.23');
    const refund = { amount: 100, idempotencyKey: 'of-another-program' };
    await gateway.post(`/v1/payments/${id.slice(3)}/refund`, refund);
    await page.getByText(EN.refundStatuses.REFUNDED).waitFor();
    expect(await page.getByLabel(EN.payment.refundAmount).inputValue()).to.equal('1.23');
    expect(complaints).to.deep.equal([]);
    await context.close();
  });

  it('finds a payment from any page, filters without scripts and exports the filtered list', async () => {
    const context = await opened({ locale: 'pt-BR', javaScriptEnabled: false });
    const { page } = await openPage(context);
    await signIn(page);
    const { id } = (await gateway.charge<{ id: string }>({ amount: 77_713 })).body;
    await page.goto(`${gateway.baseUrl}/dashboard/test/wallet`);
    await page.getByRole('searchbox').fill(` ${id} `);
    await page.getByRole('searchbox').press('Enter');
    await page.waitForURL(`**/payments/${id.slice(3)}`);
    await page.goto(`${gateway.baseUrl}/dashboard/test/payments`);
    await page.getByText(PT.payments.moreFilters).click();
    await page.getByLabel(PT.payments.min).fill('777,13');
    await page.getByLabel(PT.payments.max).fill('777,13');
    await page.getByRole('button', { name: PT.apply }).click();
    expect(await page.locator('tbody tr').count()).to.equal(1);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: PT.payments.download }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).to.match(/^quita-test-.*pagamentos\.csv$/);
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
    expect(lines).to.have.length(2);
    expect(lines[1]).to.include(`${id};`).and.include(';777,13;');
    await context.close();
  });

  /** Returns paths of disputes, one open and one closed, and of payouts, one paid and one awaiting approval. */
  const moneyPages = async (): Promise<readonly string[]> => {
    const { caseId } = await openedCase(gateway, { reason: LONG });
    const ended = (await openedCase(gateway)).caseId;
    await gateway.post(`/v1/sandbox/med/cases/${ended}/decide`, { result: 'agreed' });
    const { payoutId, waitingPayoutId } = await makePayouts(gateway);
    return [
      ...['/disputes', '/disputes?status=accepted', `/disputes/${caseId.slice(4)}`, `/disputes/${ended.slice(4)}`],
      ...['/payouts', '/payouts/new', `/payouts/${payoutId.slice(3)}`, `/payouts/${waitingPayoutId.slice(3)}`],
    ];
  };

  for (const [look, options] of LOOKS)
    it(`passes axe on every page: ${look}`, async () => {
      const language = look.startsWith('light') ? 'pt' : 'en';
      const context = await opened({ ...options, locale: language === 'pt' ? 'pt-BR' : 'en-US' });
      const { page, complaints } = await openPage(context);
      const pages: string[] = ['/dashboard/sign-in'];
      const { id } = (await gateway.charge<{ id: string }>({ customer: { name: LONG }, description: 'x'.repeat(190) }))
        .body;
      await gateway.post(`/v1/sandbox/charges/${id}/pay`);
      const open = (await gateway.charge<{ id: string }>({ metadata: { ['k'.repeat(40)]: LONG } })).body.id;
      const own = ['', '/payments', '/payments/new', `/payments/${id}`, `/payments/${open}`, '/wallet', '/webhooks'];
      own.push(...(await moneyPages()));
      own.push(
        '/webhooks/endpoints/new',
        '/webhooks/redrive',
        '/developers',
        '/developers/requests',
        '/sandbox',
        '/settings',
        '/settings/team',
      );
      await gateway.addUser('VIEWER', { password: null });
      const hook = { url: `https://example.com/${'x'.repeat(150)}`, events: ['*'] };
      own.push(`/webhooks/endpoints/${(await gateway.post<{ id: string }>('/v1/webhooks/endpoints', hook)).body.id}`);
      pages.push(
        ...own.map((path) => `/dashboard/test${path}`),
        '/dashboard/live',
        '/dashboard/live/payments?status=paid',
        '/dashboard/test/payments?q=nothing&from=2026-11-02&to=2026-11-01&min=x&max=y&customer=z',
        `/dashboard/test/payments?q=${'x'.repeat(300)}&sort=highest`,
      );
      await page.goto(gateway.baseUrl + (pages[0] as string));
      expect(await findings(page)).to.deep.equal([]);
      await signIn(page);
      for (const path of pages.slice(1)) {
        await page.goto(gateway.baseUrl + path);
        expect(await findings(page), path).to.deep.equal([]);
        expect(await overflow(page), path).to.equal(0);
      }
      expect(complaints).to.deep.equal([]);
      await context.close();
    });
});

describe('the operators’ pages in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let user: TestUser;
  before(async () => {
    gateway = await TestGateway.open();
    browser = await openBrowser();
    user = await gateway.addUser('OPERATOR');
  });
  after(async () => {
    await browser.close();
    await gateway.close();
  });

  const signIn = async (page: Page): Promise<void> => {
    await page.goto(`${gateway.baseUrl}/dashboard`);
    const form = page.locator('form').first();
    await form.locator('[name=email]').fill(user.email);
    await form.locator('[name=password]').fill(user.password);
    await form.locator('button').click();
    await page.locator('.platform nav.sections').waitFor();
  };

  for (const scripts of [true, false])
    it(`let an operator settle held money and suspend an account, ${scripts ? 'with' : 'without'} scripts`, async () => {
      await refusedReturn(gateway);
      const tenant = await gateway.newTenant();
      await gateway.untilProjected();
      const context = await browser.newContext({ locale: 'en-US', javaScriptEnabled: scripts });
      const { page, complaints } = await openPage(context);
      await signIn(page);
      const { overview, held, accounts } = EN.platform;
      await page.locator('a.tile', { hasText: overview.held }).click();
      await page.locator('tbody a').first().click();
      await page.getByLabel(held.how).selectOption('writtenOff');
      await page.getByLabel(EN.platform.reason).fill('The account is closed.');
      await page.getByRole('button', { name: held.settle }).click();
      await page.getByText(EN.done.heldSettled).waitFor();
      await page.goto(`${gateway.baseUrl}/dashboard/platform/accounts?q=acct_${tenant.accountId}`);
      await page.locator('summary', { hasText: accounts.suspend }).click();
      await page.getByRole('button', { name: accounts.suspend }).click();
      await page.getByText(EN.done.accountSuspended).waitFor();
      await page.getByRole('button', { name: EN.signOut }).click();
      await page.getByText(EN.signIn.signedOut).waitFor();
      expect(complaints).to.deep.equal([]);
      await context.close();
    });

  it('pass axe with and without data, on a light phone and a dark desktop', async () => {
    const empty = ['', '/held', '/disputes', '/payouts', '/connections', '/connections/findings', '/security'];
    const check = async (options: object, locale: string, paths: readonly string[]): Promise<void> => {
      const context = await browser.newContext({ ...options, locale });
      const { page, complaints } = await openPage(context);
      await signIn(page);
      for (const path of paths) {
        await page.goto(`${gateway.baseUrl}/dashboard/platform${path}`);
        expect(await findings(page), path).to.deep.equal([]);
        expect(await overflow(page), path).to.equal(0);
      }
      expect(complaints).to.deep.equal([]);
      await context.close();
    };
    const [phone, desktop] = [LOOKS[0]?.[1] ?? {}, LOOKS[3]?.[1] ?? {}];
    await check(phone, 'pt-BR', empty);
    const all = await operatorsScene(gateway, LONG);
    await check(phone, 'pt-BR', all);
    await check(desktop, 'en-US', all);
  });
});
