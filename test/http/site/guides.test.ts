// The guides under /docs in English and Portuguese: how the language is chosen and kept.
import { expect } from 'chai';
import { GUIDES } from '../../../http/site/docs/guides.ts';
import { TestGateway } from '../../world/gateway.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PORTUGUESE = { language: 'pt-BR', title: 'Sua primeira cobrança', side: 'Guias', next: 'Próximo' };
const ENGLISH = { language: 'en', title: 'Your first charge', side: 'Guides', next: 'Next' };

describe('the guides in two languages', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open();
  });
  after(() => gateway.close());

  const open = async (path: string, accepted = '') => {
    const headers = { accept: BROWSER, 'accept-language': accepted };
    const reply = await gateway.get(path, { key: null, headers });
    expect([reply.status, reply.headers.get('content-type')], path).to.deep.equal([200, 'text/html; charset=utf-8']);
    return reply;
  };
  const idsOf = (text: string) => [...text.matchAll(/<h\d id="(.*?)"/g)].map(([, id]) => id);
  /** Returns a page’s links to guides, except those of the language switch. */
  const guideLinksOf = (text: string) =>
    [...text.replace(/<nav class="languages".*?<\/nav>/s, '').matchAll(/href="(\/docs\/[\w-]+)([^"]*)"/g)]
      .filter(([, path]) => GUIDES.some((guide) => guide.path === path))
      .map(([, path = '', rest = '']) => ({ path, rest }));

  const choices: readonly (readonly [query: string, accepted: string, expected: typeof ENGLISH])[] = [
    ['', '', ENGLISH],
    ['', '*', ENGLISH],
    ['', 'de', ENGLISH],
    ['', 'de,pt;q=0.1', PORTUGUESE],
    ['', 'pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7', PORTUGUESE],
    ['', 'pt-BR,en;q=0.9', PORTUGUESE],
    ['', 'pt-BR,en;q=0.9,pt;q=0.8', PORTUGUESE],
    ['', 'pt-PT', PORTUGUESE],
    ['', 'en-GB,pt;q=0.9', ENGLISH],
    ['', 'pt;q=0.4,en;q=0.5', ENGLISH],
    ['', 'pt;q=0', ENGLISH],
    ['?lang=pt', 'en', PORTUGUESE],
    ['?lang=en', 'pt-BR', ENGLISH],
    ['?lang=fr', 'pt-BR', PORTUGUESE],
    ['?lang=', 'pt-BR', PORTUGUESE],
  ];
  for (const [query, accepted, { language, title, side, next }] of choices)
    it(`are in ${language} for "${query}" and "${accepted}", including navigation and headers`, async () => {
      const { headers, text } = await open(`/docs/first-charge${query}`, accepted);
      expect([headers.get('content-language'), headers.get('vary')]).to.deep.equal([language, 'Accept-Language']);
      expect(text).to.include(`<html lang="${language}">`).and.to.include(`<h1>${title}</h1>`);
      expect(text).to.include(`<p>${side}</p>`).and.to.include(`<small>${next}</small>`);
    });

  it('link to the same page in the other language, and keep the chosen language in their links', async () => {
    for (const { path, title, pt } of GUIDES)
      for (const [query, name, other] of [
        ['?lang=pt', pt.title, 'en'],
        ['?lang=en', title, 'pt'],
      ]) {
        const { text } = await open(path + query);
        expect(text).to.include(`<title>${name} · Quita</title>`).and.to.include(`href="${path}?lang=${other}"`);
        expect(text).to.include(`<a href="${path}${query}" aria-current="page">${name}</a>`);
        const links = guideLinksOf(text);
        expect(links.length).to.be.at.least(GUIDES.length);
        for (const { path: to, rest } of links) expect(rest, to).to.equal(query);
        expect(text).to.include(`<a class="brand" href="/${query}">`);
      }
  });
  it('set no language in their links if the browser chose it', async () => {
    for (const accepted of ['pt-BR', 'en'])
      for (const { path } of GUIDES)
        for (const { rest } of guideLinksOf((await open(path, accepted)).text)) expect(rest).to.equal('');
  });
  it('have the same unique anchors in both languages', async () => {
    for (const { path } of GUIDES) {
      const [pt, en] = [idsOf((await open(`${path}?lang=pt`)).text), idsOf((await open(`${path}?lang=en`)).text)];
      expect(pt).to.deep.equal(en);
      expect(new Set(en).size).to.equal(en.length);
      expect(en).to.not.include('');
    }
  });
  it('render the same page again, whatever was requested in between', async () => {
    const first = (await open('/docs/webhooks?lang=pt')).text;
    await open('/docs/webhooks', 'pt');
    expect((await open('/docs/webhooks?lang=pt', 'en')).text).to.equal(first);
  });
  it('are linked from the home page in the language chosen there', async () => {
    for (const lang of ['pt', 'en'])
      expect((await open(`/?lang=${lang}`)).text).to.include(`href="/docs/first-charge?lang=${lang}"`);
    expect((await open('/', 'pt')).text).to.include('href="/docs/first-charge"');
  });
});
