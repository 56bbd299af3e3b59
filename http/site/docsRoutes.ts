// What is for developers and for whoever opens the address: /, /docs and /openapi.json. All of it is made at start and kept in memory.
import { readFileSync } from 'node:fs';
import type { Express, Request, Response } from 'express';
import helmet from 'helmet';
import { sendError } from '../kernel/errors.ts';
import type { Route } from '../kernel/route.ts';
import { openApiDocument } from '../openapi/document.ts';
import { DOCS_ASSETS } from './docs/assets.ts';
import { errorsPage } from './docs/errorsPage.ts';
import { guidePages } from './docs/guides.ts';
import { docsContentSecurityPolicy } from './docs/layout.ts';
import { referencePage } from './docs/referencePage.ts';
import { type HomeFacts, homeJson, homePage, LANGUAGES, type Language } from './home.ts';

/** Pages and document change only with a start: a browser may keep them so long. */
const FRESH_SECONDS = 300;
const YEAR_SECONDS = 31_536_000;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const protect = helmet({ contentSecurityPolicy: false, hsts: false, referrerPolicy: { policy: 'same-origin' } });

const send = (res: Response, contentType: string, body: string): void => {
  res.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  res.setHeader('Cache-Control', `public, max-age=${FRESH_SECONDS}`);
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.end(body);
};

const sendPage = (res: Response, page: string): void => {
  res.setHeader('Content-Security-Policy', docsContentSecurityPolicy);
  send(res, 'text/html', page);
};

/** The one asked for by `lang`, else the one that the browser likes best. */
const languageOf = (req: Request): Language => {
  const asked = LANGUAGES.find((language) => language === req.query['lang']);
  return asked ?? (req.acceptsLanguages('pt', 'en') === 'pt' ? 'pt' : 'en');
};

const mountHome = (app: Express, facts: HomeFacts): void => {
  const pages = new Map(LANGUAGES.map((language) => [language, homePage(language, facts)]));
  const json = JSON.stringify(homeJson(facts));
  app.get('/', protect, (req, res) => {
    res.setHeader('Vary', 'Accept, Accept-Language');
    if (req.accepts('json', 'html') !== 'html') return send(res, 'application/json', json);
    const language = languageOf(req);
    res.setHeader('Content-Language', language === 'pt' ? 'pt-BR' : 'en');
    return sendPage(res, pages.get(language) as string);
  });
};

export const mountDocs = (
  app: Express,
  { routes, ...facts }: Omit<HomeFacts, 'version'> & { readonly routes: readonly Route[] },
): void => {
  const { publicUrl } = facts;
  const document = JSON.stringify(openApiDocument(routes, publicUrl));
  mountHome(app, { ...facts, version });
  app.get('/openapi.json', (_req, res) => {
    // It is the same for everybody and holds no secret: tools on other sites may read it.
    res.setHeader('Access-Control-Allow-Origin', '*');
    send(res, 'application/json', document);
  });
  app.use('/docs', protect);
  app.get('/docs/assets/:name', (req: Request<{ name: string }>, res) => {
    const asset = DOCS_ASSETS.find(req.params.name);
    if (!asset) return sendError(req, res, { code: 'not_found', message: 'There is no such file.' });
    res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
    res.setHeader('ETag', `"${asset.version}"`);
    return res.setHeader('Content-Type', asset.contentType).end(asset.body);
  });
  const pages = new Map([['/docs', referencePage()], ['/docs/errors', errorsPage(routes)], ...guidePages(publicUrl)]);
  for (const [path, page] of pages) app.get(path, (_req, res) => sendPage(res, page));
};
