// A newcomer’s path with `npm start` and a browser, from the printed address to a payment’s webhook, without reading documentation.
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { EN } from '../../http/site/dashboard/texts/en.ts';
import { openBrowser, openPage } from '../support/browser.ts';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const MS_MAX = 120_000;
const PRINTED = /The dashboard is at (\S+) \((\S+), password (\S+)\)/;

describe('a newcomer', () => {
  let program: Program;
  let browser: Browser;
  let receiver: Receiver;
  before(async () => {
    program = await new Program({ dataDir: await newDataDir(), port: await freePort(), viaNpm: true }).ready();
    browser = await openBrowser();
    receiver = await Receiver.open();
  });
  after(async () => {
    await receiver.close();
    await browser.close();
    await program.stop();
    await removeDataDir(program.dataDir);
  });

  it('signs in as printed, creates a charge, sees it paid, refunds half of it and finds its webhook', async () => {
    const startedAt = performance.now();
    const [, address = '', email = '', password = ''] = PRINTED.exec(program.output) ?? [];
    const context = await browser.newContext({ locale: 'en-US' });
    const asked: string[] = [];
    context.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const { page, complaints } = await openPage(context);
    await page.goto(address);
    await page.getByLabel(EN.signIn.email).first().fill(email);
    await page.getByLabel(EN.signIn.password).fill(password);
    await page.getByRole('button', { name: EN.signIn.button, exact: true }).click();

    await page.getByRole('link', { name: EN.payments.create }).click();
    await page.getByLabel(EN.create.amount).fill('149.90');
    await page.getByRole('button', { name: EN.create.button }).click();
    await page.getByText(EN.done.created).waitFor();

    // It is paid in another tab; the first tab shows it without a reload.
    await page.evaluate('window.isSameDocument = true');
    const { page: payer } = await openPage(context);
    await payer.goto(page.url());
    await payer.getByRole('button', { name: EN.payment.pay, exact: true }).click();
    await page.locator('.status.paid').waitFor();
    expect(await page.evaluate('window.isSameDocument')).to.equal(true);

    await page.getByLabel(EN.payment.refundAmount).fill('74.95');
    await page.getByRole('button', { name: EN.payment.refund, exact: true }).click();
    await page.getByRole('button', { name: EN.payment.refundConfirm }).click();
    await page.getByText(EN.done.refunded).waitFor();
    await page.getByText(EN.refundStatuses.REFUNDED).waitFor();
    const ofPayment = page.url().replace(/\?.*/, '');

    // There is no endpoint yet. The page says so and links to the form.
    await page.getByText(EN.webhooks.noneOfPayment).waitFor();
    await page.getByRole('main').getByRole('link', { name: EN.webhooks.create }).click();
    await page.getByLabel(EN.webhooks.url).fill(receiver.url);
    await page.getByRole('button', { name: EN.webhooks.createButton }).click();
    await page.getByText(EN.shownOnce).waitFor();
    await page.getByRole('link', { name: EN.pages.payments, exact: true }).click();
    await page.locator('tbody a').first().click();
    expect(page.url()).to.equal(ofPayment);
    await page.getByRole('button', { name: EN.payment.resend }).click();
    await page.getByText(EN.done.resent).waitFor();
    const id = ofPayment.split('/').at(-1) as string;
    const hit = await receiver.until((one) => typeOf(one).startsWith('charge.') && one.rawBody.includes(id));
    await page.getByRole('link', { name: EN.pages.webhooks, exact: true }).click();
    await page
      .getByRole('link', { name: typeOf(hit), exact: true })
      .first()
      .click();
    await page.getByText(EN.webhooks.request).waitFor();
    expect(await page.locator('pre').first().textContent()).to.include(id);

    expect(performance.now() - startedAt).to.be.below(MS_MAX);
    expect(asked.filter((path) => path.startsWith('/docs'))).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  }).timeout(MS_MAX);
});
