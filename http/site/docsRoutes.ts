// The public pages: /, /docs and /openapi.json. Each is rendered once, on its first request or while the process is idle, and kept in
// memory, so that the start doesn't wait for them.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import { reject } from '../../domain/kernel/rejection.ts';
import { LANGUAGES } from '../../domain/presentation/amount.ts';
import { OPERATIONS } from '../kernel/health.ts';
import { pathParam, type Route, route } from '../kernel/route.ts';
import { NOT_MODIFIED } from '../kernel/send.ts';
import { openApiDocument } from '../openapi/document.ts';
import { sentAsset } from './assets.ts';
import { DOCS_ASSETS } from './docs/assets.ts';
import { errorsPage } from './docs/errorsPage.ts';
import { type GuidePage, guidePages } from './docs/guides.ts';
import { docsContentSecurityPolicy } from './docs/layout.ts';
import { type Group, groupsOf } from './docs/reference/model.ts';
import { operationPage } from './docs/reference/operation.ts';
import { referencePage } from './docs/referencePage.ts';
import { type HomeFacts, homeJson, homePage } from './home.ts';
import { type ChosenLanguage, chooseLanguage, languageHeaders, languageQuery } from './language.ts';

const gzip = promisify(gzipWithCallback);

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Pages and document change only when the program restarts, so browsers may cache them for minutes. */
const FOR_MINUTES = 'public, max-age=300';
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

/** Renders a page once for each language, and once more for readers who chose the language. */
const onceEach = (make: (chosen: ChosenLanguage) => string): ((chosen: ChosenLanguage) => string) => {
  const made = new Map<string, string>();
  return (chosen) => {
    const key = chosen.language + chosen.keep;
    const page = made.get(key) ?? make(chosen);
    made.set(key, page);
    return page;
  };
};
/** The variants that most readers get. */
const UNCHOSEN: readonly ChosenLanguage[] = LANGUAGES.map((language) => ({ language, keep: '' }));

const forAll = { tag: OPERATIONS, principal: 'public' } as const;

const homeRoute = (facts: HomeFacts): Route => {
  const pageOf = onceEach((chosen) => homePage(chosen, facts));
  const json = once(() => JSON.stringify(homeJson(facts)));
  return route('GET', '/', {
    ...forAll,
    prepare: () => void [...UNCHOSEN.map(pageOf), json()],
    operationId: 'showHome',
    summary: 'Show the home page, or its links as JSON',
    query: languageQuery,
    responses: {
      200: {
        kind: 'bytes',
        description: 'HTML or JSON, depending on the Accept header.',
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
      const chosen = chooseLanguage(query.lang, prefers);
      const headers = { ...PAGE_HEADERS, ...languageHeaders(chosen.language), ...vary };
      return { status: 200, headers, contentType: HTML, bytes: pageOf(chosen) };
    },
  });
};

/** A document kept in memory, plain and compressed. */
interface CachedDocument {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** ETag of the plain document, in quotes. */
  readonly etag: string;
}

const cachedDocument = async (text: string): Promise<CachedDocument> => {
  const plain = Buffer.from(text);
  const version = createHash('sha256').update(plain).digest('hex').slice(0, 16);
  return { plain, gzipped: await gzip(plain), etag: `"${version}"` };
};

const documentRoute = (make: () => object): Route => {
  const document = once(() => cachedDocument(JSON.stringify(make())));
  // The document is public, so tools on other sites may read it.
  const headers = { 'Cache-Control': FOR_MINUTES, 'Access-Control-Allow-Origin': '*', Vary: 'Accept-Encoding' };
  return route('GET', '/openapi.json', {
    ...forAll,
    operationId: 'getOpenApiDocument',
    prepare: () => void document().catch(() => undefined), // the next request reports the error
    summary: 'Get the OpenAPI document of this server',
    responses: {
      200: { kind: 'bytes', description: 'The OpenAPI 3.1 document.', contentTypes: ['application/json'] },
      304: NOT_MODIFIED,
    },
    handle: async ({ prefers }) => {
      const { plain, gzipped, etag } = await document();
      const found = { status: 200, contentType: JSON_TYPE } as const;
      return prefers.encoding(['gzip', 'identity']) === 'gzip'
        ? { ...found, headers: { ...headers, ETag: `W/${etag}`, 'Content-Encoding': 'gzip' }, bytes: gzipped }
        : { ...found, headers: { ...headers, ETag: etag }, bytes: plain };
    },
  });
};

const operationIdOf = (path: string): string =>
  `show${path.replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase())}`;

const pageRoute = (path: string, make: () => string): Route => {
  const page = once(make);
  return route('GET', path, {
    ...forAll,
    operationId: operationIdOf(path),
    summary: 'Show a page of the documentation',
    prepare: page,
    responses: { 200: { kind: 'page', description: 'The page.' } },
    handle: async () => ({ status: 200, headers: PAGE_HEADERS, page: page() }),
  });
};

const guideRoute = (path: string, make: GuidePage): Route => {
  const pageOf = onceEach(make);
  return route('GET', path, {
    ...forAll,
    operationId: operationIdOf(path),
    summary: 'Show a guide in English or Portuguese',
    query: languageQuery,
    prepare: () => void UNCHOSEN.map(pageOf),
    responses: { 200: { kind: 'page', description: 'The page in the chosen language.' } },
    handle: async ({ prefers, query }) => {
      const chosen = chooseLanguage(query.lang, prefers);
      const headers = { ...PAGE_HEADERS, ...languageHeaders(chosen.language) };
      return { status: 200, headers, page: pageOf(chosen) };
    },
  });
};

const assetRoute = route('GET', '/docs/assets/{name}', {
  ...forAll,
  operationId: 'getDocsAsset',
  summary: 'Get a file of the documentation pages',
  params: {
    name: pathParam(
      'The name of the file.',
      (text) => DOCS_ASSETS.find(text) ?? reject('not_found', 'There is no such file.'),
    ),
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The file. Its URL in the pages changes with its content.',
      contentTypes: ['text/css', 'text/javascript', 'image/svg+xml'],
    },
    304: NOT_MODIFIED,
  },
  handle: async ({ params: { name: asset } }) => sentAsset(asset),
});

const operationRoute = (groups: () => readonly Group[], publicUrl: string): Route => {
  const pages = new Map<string, string>();
  const pageOf = (operationId: string): string | null => {
    const operation = groups()
      .flatMap(({ operations }) => operations)
      .find((each) => each.operationId === operationId);
    if (operation === undefined) return null;
    const page = pages.get(operationId) ?? operationPage(operation, publicUrl);
    pages.set(operationId, page);
    return page;
  };
  return route('GET', '/docs/operations/{operationId}', {
    ...forAll,
    operationId: 'showDocsOperation',
    summary: 'Show the page of one operation; the reference loads it when the operation is opened',
    params: {
      operationId: pathParam(
        'The operationId.',
        (text) => pageOf(text) ?? reject('not_found', 'There is no such operation.'),
      ),
    },
    responses: { 200: { kind: 'page', description: 'The page.' } },
    handle: async ({ params: { operationId: page } }) => ({ status: 200, headers: PAGE_HEADERS, page }),
  });
};

/** `routes` are the routes that the OpenAPI document describes. */
export const docsRoutes = (routes: readonly Route[], site: Omit<HomeFacts, 'version'>): readonly Route[] => {
  const { publicUrl } = site;
  const document = once(() => openApiDocument(routes, publicUrl));
  const groups = once(() => groupsOf(document()));
  const pages = new Map([
    ['/docs', () => referencePage(groups())],
    ['/docs/errors', () => errorsPage(routes)],
  ]);
  return [
    homeRoute({ ...site, version }),
    documentRoute(document),
    assetRoute,
    operationRoute(groups, publicUrl),
    ...[...pages].map(([path, make]) => pageRoute(path, make)),
    ...[...guidePages(site)].map(([path, make]) => guideRoute(path, make)),
  ];
};
