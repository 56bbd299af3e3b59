// The operators’ system pages in Chromium: actions with and without scripts, and every page in both languages and all looks.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PLATFORM_PAGES } from '../../http/kernel/callers.ts';
import { EN } from '../../http/site/dashboard/texts/en.ts';
import { PT } from '../../http/site/dashboard/texts/pt.ts';
import { makeParked, untilNoRun } from '../http/examples/opsExamples.ts';
import { sealAllOf } from '../infrastructure/audit/auditWorld.ts';
import { findings, LOOKS, openBrowser, openPage, overflow } from '../support/browser.ts';
import { ALL_RETRIES_SECONDS, answering } from '../world/deliveryFacts.ts';
import { TestGateway, type TestUser } from '../world/gateway.ts';
import { Merchant } from '../world/merchant.ts';
import { paymentStream } from '../world/poison.ts';
import { Receiver } from '../world/receiver.ts';

const LONG = 'Auditores Independentes Associados de Santo Antônio do Descoberto e Região '.repeat(2).slice(0, 99);
const SUBJECT = { document: '39053344705', name: 'Zuleica Quaresma' };

describe('the operators’ pages about the system in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let user: TestUser;
  let receiver: Receiver;
  let stream: string;
  before(async () => {
    gateway = await TestGateway.open();
    browser = await openBrowser();
    user = await gateway.addUser('OPERATOR');
    receiver = await Receiver.open(answering(() => 500));
    stream = paymentStream((await makeParked(gateway)).parkedId);
    await makeDeadLetter();
    await makeFailedJob();
    await gateway.gateway.services.platform.issueAuditToken(LONG);
    const { id } = (await gateway.charge<{ id: string }>({ customer: SUBJECT })).body;
    await gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: SUBJECT });
    await sealAllOf(gateway);
  });
  after(async () => {
    await browser.close();
    await receiver.close();
    await gateway.close();
  });

  const makeDeadLetter = async (): Promise<void> => {
    const merchant = await Merchant.open(gateway);
    const hook = { url: receiver.url, events: ['charge.created'] };
    await gateway.post('/v1/webhooks/endpoints', hook, { key: merchant.tenant.testKey });
    await merchant.charge();
    await merchant.flushed();
    await merchant.advance(ALL_RETRIES_SECONDS);
    await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'FAILED'));
  };
  const makeFailedJob = async (): Promise<void> => {
    const text = `INSERT INTO jobs.job (id, name, data, group_id, group_tier, policy, state, completed_on, output, retry_count, retry_limit)
      SELECT $1, q.name, '{"payloads":[]}', $2, '', q.policy, 'failed', now(), jsonb_build_object('message', $3::text), 3, 3
      FROM jobs.queue q WHERE q.name = 'expire'`;
    const values = [randomUUID(), `test/${gateway.tenant.accountId}`, 'the bank was away '.repeat(12)];
    await gateway.storage.operations.query(text, values);
  };
  const signIn = async (page: Page): Promise<void> => {
    await page.goto(gateway.baseUrl + PLATFORM_PAGES);
    const form = page.locator('form').first();
    await form.locator('[name=email]').fill(user.email);
    await form.locator('[name=password]').fill(user.password);
    await form.locator('button').click();
    await page.locator('nav.sections').waitFor();
  };
  const opened = async (
    options: Parameters<Browser['newContext']>[0],
  ): Promise<[BrowserContext, Page, readonly string[]]> => {
    const context = await browser.newContext(options);
    const { page, complaints } = await openPage(context);
    await signIn(page);
    return [context, page, complaints];
  };
  const open = (page: Page, path: string) => page.goto(gateway.baseUrl + PLATFORM_PAGES + path);

  for (const scripts of [true, false])
    it(`let an operator check the system and verify read models with progress, ${scripts ? 'with' : 'without'} scripts`, async () => {
      const [context, page, complaints] = await opened({ locale: 'en-US', javaScriptEnabled: scripts });
      await page.getByRole('link', { name: EN.platform.sections.system }).click();
      // The page reloads by itself until there is a report.
      await page.getByRole('button', { name: EN.operations.system.checkNow }).click();
      await page.getByText(EN.done.checksStarted).waitFor();
      await page.getByRole('button', { name: EN.operations.system.checkNow }).waitFor();
      await page.getByRole('link', { name: EN.operations.tabs.readModels, exact: true }).click();
      await page.getByRole('button', { name: EN.operations.readModels.verify }).click();
      await page.getByText(EN.operations.reloads).first().waitFor();
      // The page reloads by itself until the work is done.
      await page.getByRole('button', { name: EN.operations.readModels.verify }).waitFor();
      expect(await page.getByText(/\d+ rows compared/).count()).to.be.greaterThan(0);
      expect(await page.getByText(EN.done.runStarted).count()).to.equal(0);
      expect(complaints).to.deep.equal([]);
      await context.close();
    });

  it('let an operator retry a parked stream and export a person’s data, without scripts', async () => {
    const [context, page] = await opened({ locale: 'pt-BR', javaScriptEnabled: false });
    await page.getByRole('link', { name: PT.platform.sections.system }).click();
    await page.getByRole('link', { name: PT.operations.tabs.parked }).click();
    await page.getByRole('link', { name: stream }).first().click();
    await page.getByRole('button', { name: PT.operations.retry }).click();
    await page.getByText('estacionou o stream de novo').waitFor();
    await page.getByRole('link', { name: PT.platform.sections.erasure }).click();
    await page.getByLabel(PT.operations.erasure.value).fill('390.533.447-05');
    await page.getByRole('button', { name: PT.operations.erasure.find }).click();
    await page.getByText(PT.operations.erasure.found(1)).waitFor();
    expect(page.url()).to.not.include('390');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'PDF' }).click();
    expect((await download).suggestedFilename()).to.equal('personal-data.pdf');
    await context.close();
  });

  it('let an operator export a person’s data as PDF and then as JSON, with scripts', async () => {
    const [context, page] = await opened({ locale: 'pt-BR' });
    await page.getByRole('link', { name: PT.platform.sections.erasure }).click();
    await page.getByLabel(PT.operations.erasure.value).fill('390.533.447-05');
    await page.getByRole('button', { name: PT.operations.erasure.find }).click();
    for (const format of ['PDF', 'JSON']) {
      const download = page.waitForEvent('download', { timeout: 10_000 });
      await page.getByRole('button', { name: format }).click();
      expect((await download).suggestedFilename()).to.equal(`personal-data.${format.toLowerCase()}`);
    }
    await context.close();
  });

  for (const [look, options] of LOOKS)
    it(`pass axe: ${look}`, async () => {
      const language = look.startsWith('light') ? 'pt' : 'en';
      const [context, page, complaints] = await opened({ ...options, locale: language === 'pt' ? 'pt-BR' : 'en-US' });
      const judge = async (name: string): Promise<void> => {
        expect(await findings(page), name).to.deep.equal([]);
        expect(await overflow(page), name).to.equal(0);
      };
      const paths = [
        '/system',
        '/parked',
        `/parked/${stream}`,
        '/parked?consumer=none',
        '/jobs',
        '/jobs?queue=deliver',
      ];
      paths.push('/dead-letters', '/dead-letters/redrive', '/dead-letters/redrive?accountId=x', '/audit', '/erasure');
      // With a fresh report, the page doesn’t reload while axe inspects it.
      await gateway.gateway.services.renewSystemReport();
      for (const path of paths) {
        await open(page, path);
        await judge(path);
      }
      const started = gateway.gateway.services.startReadModelRun({ work: 'verify', readModel: 'all', by: 'user:test' });
      await open(page, '/read-models?still=1');
      await judge('/read-models while one runs');
      expect(started).to.have.property('state', 'running');
      await untilNoRun(gateway);
      await open(page, '/read-models');
      await judge('/read-models');
      const form = page.locator('main form');
      await open(page, '/erasure');
      await form.locator('[name=value]').fill(SUBJECT.document);
      await form.getByRole('button').click();
      await judge('/erasure found');
      await form.locator('[name=reason]').fill('request 17');
      await form.locator('[name=confirm]').check();
      await form.locator('button.danger').click();
      await judge('/erasure refused');
      expect(complaints).to.deep.equal([]);
      await context.close();
    });
});
