// The pages for people: /, /docs, the guides and the reference of errors.
import { request } from 'node:http';
import { expect } from 'chai';
import { LANGUAGES } from '../../../domain/presentation/amount.ts';
import { ERRORS } from '../../../http/kernel/errors.ts';
import { DOCS_ASSETS } from '../../../http/site/docs/assets.ts';
import { GUIDES, type GuideFacts, guidePages } from '../../../http/site/docs/guides.ts';
import { type HomeFacts, homePage } from '../../../http/site/home.ts';
import { TestGateway } from '../../world/gateway.ts';
import { expectError } from '../../world/http.ts';

const PAGES = ['/docs', '/docs/errors', ...GUIDES.map(({ path }) => path)];
const ENGLISH = { language: 'en', keep: '' } as const;
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the pages for developers', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open();
  });
  after(() => gateway.close());
  const open = (path: string, headers: Record<string, string> = {}) => gateway.get(path, { key: null, headers });
  /** fetch sends an Accept of its own. */
  const withoutAccept = (method: string): Promise<[number, string | undefined, string]> =>
    new Promise((resolve, reject) => {
      const sent = request(gateway.baseUrl, { method }, async (res) => {
        let text = '';
        for await (const chunk of res) text += String(chunk);
        resolve([res.statusCode ?? 0, res.headers['content-type'], text]);
      });
      sent.on('error', reject).end();
    });

  describe('/', () => {
    it('is JSON for programs', async () => {
      for (const accept of ['application/json', '*/*', 'application/json, text/html;q=0.5']) {
        const { status, headers, body } = await open('/', { accept });
        expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
        expect(headers.get('vary')).to.equal('Accept, Accept-Language');
        const at = gateway.baseUrl;
        expect(body['name']).to.equal('Quita');
        expect(body['version']).to.match(/^\d+\.\d+\.\d+/);
        expect(body['links']).to.deep.equal({
          api: `${at}/v1`,
          documentation: `${at}/docs`,
          openapi: `${at}/openapi.json`,
          errors: `${at}/docs/errors`,
          live: `${at}/health/live`,
          ready: `${at}/health/ready`,
        });
      }
      expect((await withoutAccept('GET')).slice(0, 2)).to.deep.equal([200, 'application/json; charset=utf-8']);
    });
    it('is a page for people, in the language that their browser likes best', async () => {
      const languages: readonly (readonly [string, string])[] = [
        ['pt-BR,pt;q=0.9,en;q=0.8', 'pt-BR'],
        ['pt-PT', 'pt-BR'],
        ['en-US,en;q=0.9', 'en'],
        ['en,pt;q=0.5', 'en'],
        ['de', 'en'],
      ];
      for (const [asked, told] of languages) {
        const { status, headers, text } = await open('/', { accept: BROWSER, 'accept-language': asked });
        expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
        expect(headers.get('content-language'), asked).to.equal(told);
        expect(headers.get('vary')).to.equal('Accept, Accept-Language');
        expect(text).to.include(`<html lang="${told}">`);
      }
    });
    it('is in the language that was chosen, whatever the browser likes', async () => {
      for (const [lang, told] of [
        ['pt', 'pt-BR'],
        ['en', 'en'],
      ])
        for (const liked of ['pt', 'en']) {
          const { text } = await open(`/?lang=${lang}`, { accept: BROWSER, 'accept-language': liked });
          expect(text).to.include(`<html lang="${told}">`);
        }
    });
    it('answers HEAD like GET, without the body', async () => {
      expect(await withoutAccept('HEAD')).to.deep.equal([200, 'application/json; charset=utf-8', '']);
    });
    it('shows the first steps where there is a demo account, and only there', () => {
      const facts: HomeFacts = { version: '1.2.3', publicUrl: 'http://127.0.0.1:3000', demoFile: null };
      const page = homePage(ENGLISH, { ...facts, demoFile: '/srv/quita/.data/demo.json' });
      for (const part of ['/srv/quita/.data/demo.json', 'http://127.0.0.1:3000/v1/charges', 'data-copy'])
        expect(page).to.include(part);
      expect(page).to.include('Create a charge of R$ 123.45').and.to.include('<figcaption><span>Shell</span>');
      expect(homePage({ language: 'pt', keep: '' }, { ...facts, demoFile: '/srv/demo.json' })).to.include(
        'Crie uma cobrança de R$ 123,45',
      );
      expect(homePage(ENGLISH, facts)).to.not.match(/demo\.json|demo account|testApiKey/);
    });
  });

  for (const path of ['/', ...PAGES])
    it(`${path} is a page under a strict policy, which a browser may keep for minutes`, async () => {
      const { status, headers, text } = await open(path, { accept: BROWSER });
      expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(headers.get('cache-control')).to.equal('public, max-age=300');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy'))
        .to.match(/^default-src 'none'/)
        .and.not.match(/unsafe|http/);
      expect(text.match(/<h1[ >]/g)).to.have.length(1);
      // Nothing inline, and nothing from elsewhere.
      expect(text).to.not.match(/<style|<script(?! defer src="\/docs\/assets\/)|\son\w+=|\sstyle=/);
      for (const [, from] of text.matchAll(/(?:src|<link rel="(?:stylesheet|icon)"[^>]*href)="([^"]+)"/g))
        expect(from).to.match(/^\/docs\/assets\/[\w.-]+\?v=[0-9a-f]{16}$/);
    });

  it('load the sheet of the house first: what a page adds to it wins', async () => {
    const { text } = await open('/docs');
    const sheets = [...text.matchAll(/<link rel="stylesheet" href="\/docs\/assets\/([\w.-]+)/g)].map(
      ([, name]) => name,
    );
    expect(sheets).to.deep.equal(['preferences.css', 'docs.css', 'reference.css']);
  });
  it('lead to what there is', async () => {
    const linked = new Set<string>();
    for (const path of ['/', ...PAGES])
      for (const [, href] of (await open(path, { accept: BROWSER })).text.matchAll(/href="(\/[^"]*)"/g))
        linked.add(href as string);
    for (const href of linked) {
      const [path, anchor] = href.split('#') as [string, string?];
      // The program has health, which is mounted beside the routes.
      if (path.startsWith('/health/')) continue;
      const { status, text } = await open(path, { accept: BROWSER });
      // The dashboard asks to sign in first.
      expect(status, href).to.equal(path === '/dashboard' ? 303 : 200);
      if (anchor && !anchor.startsWith('/')) expect(text, href).to.include(`id="${anchor}"`);
    }
  });
  it('have their files for good', async () => {
    const { status, headers, text } = await open(DOCS_ASSETS.urlOf('reference.js'));
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/javascript; charset=utf-8']);
    expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(text).to.include('data-page');
    for (const name of ['nothing.js', '..%2fdocs.css', 'package.json'])
      expectError(await open(`/docs/assets/${name}`), 404, 'not_found');
  });
  it('/docs/errors has an anchor for every code, where the Link of an error leads', async () => {
    const { text } = await open('/docs/errors');
    for (const code of Object.keys(ERRORS)) expect(text).to.include(`id="${code}"`);
    const refused = await open('/v1/charges');
    expectError(refused, 401, 'unauthorized');
    expect(refused.headers.get('link')).to.equal(`<${gateway.baseUrl}/docs/errors#unauthorized>; rel="help"`);
  });
});

describe('served guides', () => {
  const PUBLIC = 'https://pay.quita.example';
  /** All guides, in both languages. */
  const texts = (facts: GuideFacts) =>
    [...guidePages(facts).values()].flatMap((make) => LANGUAGES.map((language) => make({ language, keep: '' })));

  const LOCAL = { publicUrl: 'http://127.0.0.1:4321', demoFile: '/srv/a $& b/demo.json' };
  const KEY_FILE = 'require(&#39;/srv/a $&amp; b/demo.json&#39;)';
  /** Guides of what a merchant does with a key. Operators, auditors and analysts have guides without one. */
  const WITHOUT_KEY = 3;

  it('name the address of the running program and the file of its demo account', () => {
    const named = texts(LOCAL);
    for (const text of named) expect(text).to.not.match(/127\.0\.0\.1:3000|\.\/\.data/);
    const keyed = named.filter((text) => text.includes(KEY_FILE));
    expect(keyed).to.have.length(LANGUAGES.length * (GUIDES.length - WITHOUT_KEY));
    for (const text of keyed) expect(text).to.include('http://127.0.0.1:4321/v1/');
  });
  it('name no file of the server where there is no demo account, or others may read them', () => {
    const local = texts(LOCAL);
    for (const [n, text] of texts({ publicUrl: PUBLIC, demoFile: null }).entries()) {
      expect(text).to.not.match(/127\.0\.0\.1:3000|\.data|demo\.json/);
      if (local[n]?.includes(KEY_FILE)) expect(text).to.include('KEY=ak_test_…').and.include(`${PUBLIC}/v1/`);
    }
  });
});
