// An invitation in Chromium: an owner invites a user, who sets a password with the mailed link and signs in.
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { Mail, MailSender } from '../../application/ports/mail.ts';
import { EN } from '../../http/site/dashboard/texts/en.ts';
import { PT } from '../../http/site/dashboard/texts/pt.ts';
import { openBrowser, openPage } from '../support/browser.ts';
import { TestGateway } from '../world/gateway.ts';

describe('an invitation in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  const sent = Promise.withResolvers<Mail>();
  const mail: MailSender = {
    send: async (one) => sent.resolve(one),
    forget: async () => undefined,
    close: () => undefined,
  };
  before(async () => {
    gateway = await TestGateway.open({ mail });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await gateway.close();
  });

  it('leads from the team page to the first sign-in, and its link works once', async () => {
    const owner = await gateway.addUser('OWNER');
    const inviting = await openPage(await browser.newContext({ locale: 'en-US' }));
    await inviting.page.goto(`${gateway.baseUrl}/dashboard/test/settings/team`);
    await inviting.page.getByLabel(EN.signIn.email).first().fill(owner.email);
    await inviting.page.getByLabel(EN.signIn.password).fill(owner.password);
    await inviting.page.getByRole('button', { name: EN.signIn.button, exact: true }).click();
    await inviting.page.getByLabel(EN.signIn.email).fill('bia@example.com');
    await inviting.page.getByRole('button', { name: EN.team.inviteButton }).click();
    await inviting.page.getByText(EN.done.invited).waitFor();
    const [link = ''] = /http\S+account\/password#\S+/.exec((await sent.promise).text) ?? [];
    const { page, complaints } = await openPage(await browser.newContext({ locale: 'pt-BR' }));
    await page.goto(link);
    expect(page.url()).to.equal(`${gateway.baseUrl}/account/password`);
    await page.getByLabel(PT.password.wanted, { exact: true }).fill('uma frase bem longa');
    await page.getByLabel(PT.password.repeated).fill('outra frase bem longa');
    await page.getByRole('button', { name: PT.password.save }).click();
    await page.getByText(PT.password.mismatch).waitFor();
    await page.getByLabel(PT.password.repeated).fill('uma frase bem longa');
    await page.getByRole('button', { name: PT.password.save }).click();
    await page.getByText(PT.password.done).waitFor();
    await page.getByRole('link', { name: PT.password.signIn }).click();
    await page.getByLabel(PT.signIn.email).first().fill('bia@example.com');
    await page.getByLabel(PT.signIn.password).fill('uma frase bem longa');
    await page.getByRole('button', { name: PT.signIn.button, exact: true }).click();
    await page.locator('nav.sections').waitFor();
    await page.goto(link);
    await page.getByLabel(PT.password.wanted, { exact: true }).fill('uma terceira frase');
    await page.getByLabel(PT.password.repeated).fill('uma terceira frase');
    await page.getByRole('button', { name: PT.password.save }).click();
    await page.getByText(PT.password.dead).waitFor();
    expect(complaints).to.deep.equal([]);
  });
});
