// A hostile tenant’s pages in Chromium: no code runs and no layout breaks. Also file uploads with and without scripts.
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { EN } from '../../http/site/dashboard/texts/en.ts';
import { findings, openBrowser, openPage, overflow } from '../support/browser.ts';
import { jpegImage, pngImage } from '../support/images.ts';
import { EvidenceDesk } from '../world/evidenceDesk.ts';
import { TestGateway, type TestUser } from '../world/gateway.ts';
import { type HostileTenant, openHostileTenant } from '../world/hostileTenant.ts';
import { rawIdOf } from '../world/http.ts';

describe('the dashboard in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let hostile: HostileTenant;
  before(async () => {
    gateway = await TestGateway.open();
    browser = await openBrowser();
    hostile = await openHostileTenant(gateway);
  });
  after(async () => {
    await browser.close();
    await hostile.close();
    await gateway.close();
  });

  const signIn = async (page: Page, user: TestUser): Promise<void> => {
    await page.goto(`${gateway.baseUrl}/dashboard`);
    const form = page.locator('form').first();
    await form.locator('[name=email]').fill(user.email);
    await form.locator('[name=password]').fill(user.password);
    await form.locator('button').click();
    await page.locator('nav.sections').waitFor();
  };

  for (const [width, locale] of [
    [390, 'pt-BR'],
    [1_200, 'en-US'],
  ] as const)
    it(`runs no code and keeps its layout for a hostile tenant, at ${width} px`, async () => {
      const context = await browser.newContext({ locale, viewport: { width, height: 844 }, reducedMotion: 'reduce' });
      const { page, complaints } = await openPage(context);
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await signIn(page, hostile.owner);
      for (const path of hostile.pages) {
        await page.goto(`${gateway.baseUrl}/dashboard/test${path}`);
        for (const details of await page.locator('main details').all())
          await details.evaluate('(one) => { one.open = true; }');
        expect(await overflow(page), path).to.equal(0);
        expect(await findings(page), path).to.deep.equal([]);
      }
      expect([complaints, dialogs]).to.deep.equal([[], []]);
      await context.close();
    });

  for (const scripts of [true, false])
    it(`uploads evidence ${scripts ? 'with progress' : 'without scripts'}, and says what was rejected`, async () => {
      const desk = await EvidenceDesk.open(gateway);
      const user = await gateway.addUser('MEMBER', { tenant: desk.merchant.tenant });
      const context = await browser.newContext({ locale: 'en-US', javaScriptEnabled: scripts });
      const { page, complaints } = await openPage(context);
      await signIn(page, user);
      await page.goto(`${gateway.baseUrl}/dashboard/test/disputes/${rawIdOf(desk.caseId)}`);
      const send = async (...files: readonly { name: string; mimeType: string; buffer: Buffer }[]) => {
        await page.locator('input[type=file]').setInputFiles([...files]);
        await page.getByRole('button', { name: EN.uploads.send, exact: true }).click();
      };
      const png = { name: 'a.png', mimeType: 'image/png', buffer: pngImage() };
      await send(png, { name: 'no.png', mimeType: 'image/png', buffer: Buffer.from('not an image') });
      await page.getByText(EN.uploads.refused(1, 2)).waitFor();
      await send({ name: 'b.jpg', mimeType: 'image/jpeg', buffer: jpegImage() });
      await page.getByText(EN.done.evidenceSent).waitFor();
      expect((await desk.list()).map(({ file_name }) => file_name).toSorted()).to.deep.equal(['a.png', 'b.jpg']);
      expect(complaints).to.deep.equal([]);
      await context.close();
    });

  it('uploads files that were dropped on the form', async () => {
    const desk = await EvidenceDesk.open(gateway);
    const context = await browser.newContext({ locale: 'en-US' });
    const { page } = await openPage(context);
    await signIn(page, await gateway.addUser('MEMBER', { tenant: desk.merchant.tenant }));
    await page.goto(`${gateway.baseUrl}/dashboard/test/disputes/${rawIdOf(desk.caseId)}`);
    const dropped = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from(atob('${pngImage().toString('base64')}'), (char) => char.charCodeAt(0));
      transfer.items.add(new File([bytes], 'dropped.png', { type: 'image/png' }));
      return transfer;
    })()`);
    await page.locator('.drop').dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByRole('button', { name: EN.uploads.send, exact: true }).click();
    await page.getByText(EN.done.evidenceSent).waitFor();
    expect((await desk.list()).map(({ file_name }) => file_name)).to.deep.equal(['dropped.png']);
    await context.close();
  });
});
