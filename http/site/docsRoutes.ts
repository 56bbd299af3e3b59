// What is for developers and for whoever opens the address: /, /docs and /openapi.json. Each of them is made once, when it is first asked
// for or nothing else is to be done, and kept in memory: no start waits for it.
import { readFileSync } from 'node:fs';
import { reject } from '../../domain/kernel/rejection.ts';
import { matching } from '../kernel/queryRules.ts';
import { type Route, route } from '../kernel/route.ts';
import { openApiDocument } from '../openapi/document.ts';
import { DOCS_ASSETS } from './docs/assets.ts';
import { errorsPage } from './docs/errorsPage.ts';
import { guidePages } from './docs/guides.ts';
import { docsContentSecurityPolicy } from './docs/layout.ts';
import { referencePage } from './docs/referencePage.ts';
import { type HomeFacts, homeJson, homePage, LANGUAGES } from './home.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Pages and document change only with a start: a browser may keep them so long. */
const FOR_MINUTES = 'public, max-age=300';
const FOR_EVER = 'public, max-age=31536000, immutable';
const PAGE_HEADERS = { 'Cache-Control': FOR_MINUTES, 'Content-Security-Policy': docsContentSecurityPolicy };
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

const forAll = { method: 'GET', tag: 'Operations', principal: 'public', errors: [] } as const;

const homeRoute = (facts: HomeFacts): Route => {
  const pages = { pt: once(() => homePage('pt', facts)), en: once(() => homePage('en', facts)) };
  const json = once(() => JSON.stringify(homeJson(facts)));
  return route({
    ...forAll,
    path: '/',
    prepare: () => void [pages.pt(), pages.en(), json()],
    operationId: 'showHome',
    summary: 'What this server is: a page for people, JSON for programs',
    query: {
      // One that is no language is no error: the page is for people.
      lang: matching('The language of the page.', 'a language', (text) => text),
    },
    responses: {
      200: {
        kind: 'bytes',
        description: 'As the Accept header wishes.',
        contentTypes: ['application/json', 'text/html'],
      },
    },
    handle: async ({ prefers, query }) => {
      const vary = { Vary: 'Accept, Accept-Language' };
      if (prefers.type(['json', 'html']) !== 'html')
        return {
          status: 200,
          headers: { ...vary, 'Cache-Control': FOR_MINUTES },
          contentType: JSON_TYPE,
          bytes: json(),
        };
      const chosen = LANGUAGES.find((language) => language === query.lang);
      const language = chosen ?? prefers.language(LANGUAGES) ?? 'en';
      const headers = { ...PAGE_HEADERS, ...vary, 'Content-Language': language === 'pt' ? 'pt-BR' : 'en' };
      return { status: 200, headers, contentType: HTML, bytes: pages[language]() };
    },
  });
};

const documentRoute = (routes: readonly Route[], publicUrl: string): Route => {
  const bytes = once(() => JSON.stringify(openApiDocument(routes, publicUrl)));
  // It is the same for everybody and holds no secret: tools on other sites may read it.
  const headers = { 'Cache-Control': FOR_MINUTES, 'Access-Control-Allow-Origin': '*' };
  return route({
    ...forAll,
    path: '/openapi.json',
    operationId: 'getOpenApiDocument',
    prepare: bytes,
    summary: 'The OpenAPI document of this server',
    responses: { 200: { kind: 'bytes', description: 'OpenAPI 3.1.', contentTypes: ['application/json'] } },
    handle: async () => ({ status: 200, headers, contentType: JSON_TYPE, bytes: bytes() }),
  });
};

const pageRoute = (path: string, make: () => string): Route => {
  const page = once(make);
  return route({
    ...forAll,
    path,
    operationId: `show${path.replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: 'A page of the documentation',
    prepare: page,
    responses: { 200: { kind: 'page', description: 'The page.' } },
    handle: async () => ({ status: 200, headers: PAGE_HEADERS, page: page() }),
  });
};

const assetRoute = route({
  ...forAll,
  path: '/docs/assets/{name}',
  operationId: 'getDocsAsset',
  summary: 'A file of the documentation',
  params: {
    name: {
      description: 'The name of the file.',
      schema: { type: 'string' },
      parse: (text: string) => DOCS_ASSETS.find(text) ?? reject('not_found', 'There is no such file.'),
    },
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The file. Its URL in the pages changes with it.',
      contentTypes: ['text/css', 'text/javascript', 'image/svg+xml'],
    },
  },
  errors: ['not_found'],
  handle: async ({ params: { name: asset } }) => {
    const headers = { 'Cache-Control': FOR_EVER, ETag: `"${asset.version}"` };
    return { status: 200, headers, contentType: asset.contentType, bytes: asset.body };
  },
});

/** `routes`: those that the document describes. */
export const docsRoutes = (routes: readonly Route[], site: Omit<HomeFacts, 'version'>): readonly Route[] => {
  const { publicUrl } = site;
  const pages = new Map([
    ['/docs', referencePage],
    ['/docs/errors', () => errorsPage(routes)],
    ...guidePages(publicUrl),
  ]);
  return [
    homeRoute({ ...site, version }),
    documentRoute(routes, publicUrl),
    assetRoute,
    ...[...pages].map(([path, make]) => pageRoute(path, make)),
  ];
};
