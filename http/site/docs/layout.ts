// The frame of the pages for developers: / and everything under /docs.
import { html, type Markup } from '../html.ts';
import { LOGO } from '../icons.ts';
import { type ChosenLanguage, LANGUAGE_TAG, languageSwitch } from '../language.ts';
import { DOCS_ASSETS } from './assets.ts';
import { CHROME } from './chrome.ts';

/** Content-Security-Policy of these pages: own files only, nothing inline, no framing. Scripts can call this server only. */
export const docsContentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface Link {
  readonly href: string;
  readonly text: string;
}

interface Page {
  readonly lang: 'en' | 'pt-BR';
  readonly title: string;
  readonly description: string;
  /** Additional elements of the head. They follow the common style sheets, so that the page's own sheet wins. */
  readonly head?: Markup;
  /** The body's class for the style sheet. */
  readonly kind: 'home' | 'docs';
  readonly skip: string;
  /** Target of the brand's link. */
  readonly home: string;
  readonly top: Markup;
  readonly main: Markup;
  readonly foot: Markup;
}

const asset = DOCS_ASSETS.urlOf;

export const styleSheet = (name: Parameters<typeof asset>[0]): Markup =>
  html`<link rel="stylesheet" href="${asset(name)}">`;
export const script = (name: Parameters<typeof asset>[0]): Markup => html`<script defer src="${asset(name)}"></script>`;

/** Returns a whole document. */
export const layout = ({ lang, title, description, head, kind, skip, home, top, main, foot }: Page): string =>
  html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f1f5f3" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0d1412" media="(prefers-color-scheme: dark)">
<meta name="description" content="${description}">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${asset('favicon.svg')}">
${styleSheet('preferences.css')}
${styleSheet('docs.css')}
${head ?? null}${script('docs.js')}
</head>
<body class="${kind}">
<a class="skip" href="#content">${skip}</a>
<header class="top"><a class="brand" href="${home}">${LOGO}Quita</a>${top}</header>
${main}
<footer class="foot">${foot}</footer>
</body>
</html>
`.markup;

/** Returns the links. The link to `current` is marked as the current page. */
export const links = (all: readonly Link[], current: string): readonly Markup[] =>
  all.map(({ href, text }) =>
    href === current ? html`<a href="${href}" aria-current="page">${text}</a>` : html`<a href="${href}">${text}</a>`,
  );

interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly head?: Markup;
  readonly guides: readonly Link[];
  /** The page's own sections. */
  readonly sections?: readonly Link[];
  readonly main: Markup;
  /** The chosen language, or null if the page exists only in English. */
  readonly translated?: ChosenLanguage | null;
}

/** Returns a page under /docs with the navigation beside it. */
export const docsPage = ({
  path,
  title,
  description,
  head,
  guides,
  sections = [],
  main,
  translated = null,
}: DocsPage): string => {
  const { language, keep } = translated ?? { language: 'en', keep: '' };
  const chrome = CHROME[language];
  const here = path + keep;
  return layout({
    lang: LANGUAGE_TAG[language],
    title: `${title} · Quita`,
    description,
    ...(head && { head }),
    kind: 'docs',
    skip: chrome.skip,
    home: `/${keep}`,
    top: html`<nav class="bar" aria-label="${chrome.site}">${links(
      [
        { href: '/docs', text: chrome.docs },
        { href: '/docs/errors', text: chrome.errors },
        { href: '/openapi.json', text: 'OpenAPI' },
      ],
      here,
    )}</nav>${translated && languageSwitch(path, language, chrome.language)}`,
    main: html`<div class="frame">
<nav class="side" aria-label="${chrome.documentation}"><p>${chrome.guides}</p>${links(guides, here)}<p>${chrome.reference}</p>${links(
      [
        { href: '/docs', text: chrome.api },
        { href: '/docs/errors', text: chrome.errors },
      ],
      here,
    )}${sections.length === 0 ? null : html`<p>Operations</p>${links(sections, path)}`}</nav>
<main id="content">${main}</main>
</div>`,
    foot: html`<a href="/${keep}">Quita</a><a href="/openapi.json">openapi.json</a><a href="/health/ready">${chrome.health}</a>`,
  });
};
