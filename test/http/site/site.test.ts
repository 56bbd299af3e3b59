// The pages for developers: /, /docs, the guides and the error reference.
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
  /** Sends a request without an Accept header, which fetch would add. */
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
    it('returns JSON to programs', async () => {
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
    it('returns a page to browsers, in their preferred language', async () => {
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
    it('uses the chosen language over the browser’s preference', async () => {
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
    it('shows the first steps only if there is a demo account', () => {
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
    it(`include ${path} as a page under a strict policy, cacheable for five minutes`, async () => {
      const { status, headers, text } = await open(path, { accept: BROWSER });
      expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(headers.get('cache-control')).to.equal('public, max-age=300');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy'))
        .to.match(/^default-src 'none'/)
        .and.not.match(/unsafe|http/);
      expect(text.match(/<h1[ >]/g)).to.have.length(1);
      // Pages contain no inline code and nothing from other hosts.
      expect(text).to.not.match(/<style|<script(?! defer src="\/docs\/assets\/)|\son\w+=|\sstyle=/);
      for (const [, from] of text.matchAll(/(?:src|<link rel="(?:stylesheet|icon)"[^>]*href)="([^"]+)"/g))
        expect(from).to.match(/^\/docs\/assets\/[\w.-]+\?v=[0-9a-f]{16}$/);
    });

  it('load the shared style sheet first, so that a page’s own rules win', async () => {
    const { text } = await open('/docs');
    const sheets = [...text.matchAll(/<link rel="stylesheet" href="\/docs\/assets\/([\w.-]+)/g)].map(
      ([, name]) => name,
    );
    expect(sheets).to.deep.equal(['preferences.css', 'docs.css', 'reference.css']);
  });
  it('link only to existing pages and anchors', async () => {
    const linked = new Set<string>();
    for (const path of ['/', ...PAGES])
      for (const [, href] of (await open(path, { accept: BROWSER })).text.matchAll(/href="(\/[^"]*)"/g))
        linked.add(href as string);
    for (const href of linked) {
      const [path, anchor] = href.split('#') as [string, string?];
      // Only the program serves health; it is mounted next to the routes.
      if (path.startsWith('/health/')) continue;
      const { status, text } = await open(path, { accept: BROWSER });
      // The dashboard redirects to sign-in.
      expect(status, href).to.equal(path === '/dashboard' ? 303 : 200);
      if (anchor && !anchor.startsWith('/')) expect(text, href).to.include(`id="${anchor}"`);
    }
  });
  it('serve their assets as immutable, and no other files', async () => {
    const { status, headers, text } = await open(DOCS_ASSETS.urlOf('reference.js'));
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/javascript; charset=utf-8']);
    expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(text).to.include('data-page');
    for (const name of ['nothing.js', '..%2fdocs.css', 'package.json'])
      expectError(await open(`/docs/assets/${name}`), 404, 'not_found');
  });
  it('/docs/errors has an anchor for every code, which the Link header of an error points to', async () => {
    const { text } = await open('/docs/errors');
    for (const code of Object.keys(ERRORS)) expect(text).to.include(`id="${code}"`);
    const refused = await open('/v1/charges');
    expectError(refused, 401, 'unauthorized');
    expect(refused.headers.get('link')).to.equal(`<${gateway.baseUrl}/docs/errors#unauthorized>; rel="help"`);
  });
});

describe('the served guides', () => {
  const PUBLIC = 'https://pay.quita.example';
  /** Returns all guides in both languages. */
  const texts = (facts: GuideFacts) =>
    [...guidePages(facts).values()].flatMap((make) => LANGUAGES.map((language) => make({ language, keep: '' })));

  const LOCAL = { publicUrl: 'http://127.0.0.1:4321', demoFile: '/srv/a $& b/demo.json' };
  const KEY_FILE = 'require(&#39;/srv/a $&amp; b/demo.json&#39;)';
  /** Guides for operators, auditors and analysts, which use no API key. */
  const WITHOUT_KEY = 3;

  it('show the address of the running program and its demo account’s file', () => {
    const named = texts(LOCAL);
    for (const text of named) expect(text).to.not.match(/127\.0\.0\.1:3000|\.\/\.data/);
    const keyed = named.filter((text) => text.includes(KEY_FILE));
    expect(keyed).to.have.length(LANGUAGES.length * (GUIDES.length - WITHOUT_KEY));
    for (const text of keyed) expect(text).to.include('http://127.0.0.1:4321/v1/');
  });
  it('show no server file without a demo account', () => {
    const local = texts(LOCAL);
    for (const [n, text] of texts({ publicUrl: PUBLIC, demoFile: null }).entries()) {
      expect(text).to.not.match(/127\.0\.0\.1:3000|\.data|demo\.json/);
      if (local[n]?.includes(KEY_FILE)) expect(text).to.include('KEY=ak_test_…').and.include(`${PUBLIC}/v1/`);
    }
  });
});
