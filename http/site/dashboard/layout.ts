// The frame of every page of the dashboard: navigation, mode, language, and the result of the last action.
import { ACCOUNT } from '../../../domain/account/account.ts';
import { LANGUAGES, type Language } from '../../../domain/presentation/amount.ts';
import { assetFolder } from '../assets.ts';
import { html, type Markup } from '../html.ts';
import { LOGO } from '../icons.ts';
import { LANGUAGE_TAG } from '../language.ts';
import type { Reader } from './reader.ts';
import type { Texts } from './texts/texts.ts';

const here = (name: string): URL => new URL(name, import.meta.url);
export const DASHBOARD_ASSETS = assetFolder('/dashboard/assets', {
  'preferences.css': here('../preferences.css'),
  'dashboard.css': here('dashboard.css'),
  'dashboard.js': here('dashboard.js'),
  'favicon.svg': here('../favicon.svg'),
});
const asset = DASHBOARD_ASSETS.urlOf;

interface Document {
  readonly language: Language;
  readonly title: string;
  /** The class of the body. */
  readonly kind: string;
  /** Addresses of scripts of this page alone. */
  readonly scripts?: readonly string[];
  readonly body: Markup;
}

/** Returns a whole document. */
export const documentOf = ({ language, title, kind, scripts = [], body }: Document): string =>
  html`<!doctype html>
<html lang="${LANGUAGE_TAG[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="format-detection" content="telephone=no">
<title>${title} · Quita</title>
<link rel="icon" type="image/svg+xml" href="${asset('favicon.svg')}">
<link rel="stylesheet" href="${asset('preferences.css')}">
<link rel="stylesheet" href="${asset('dashboard.css')}">
<script type="module" src="${asset('dashboard.js')}"></script>${scripts.map((one) => html`<script type="module" src="${one}"></script>`)}
</head>
<body class="${kind}">
${body}
</body>
</html>
`.markup;

/** Returns links to the same page in each language. They drop the page's query and the submitted form. */
export const languages = (current: Language, label: string, path: string): Markup =>
  html`<nav class="languages" aria-label="${label}">${LANGUAGES.map((each) =>
    each === current
      ? html`<a href="${path}?lang=${each}" aria-current="true" hreflang="${LANGUAGE_TAG[each]}">${each.toUpperCase()}</a>`
      : html`<a href="${path}?lang=${each}" hreflang="${LANGUAGE_TAG[each]}" lang="${LANGUAGE_TAG[each]}">${each.toUpperCase()}</a>`,
  )}</nav>`;

/** Returns a page outside the navigation. */
export const pageAlone = (
  language: Language,
  title: string,
  home: string,
  aside: Markup | null,
  main: Markup,
): string =>
  documentOf({
    ...{ language, title, kind: 'alone' },
    body: html`<header><div class="bar"><a class="brand" href="${home}">${LOGO}<span>Quita</span></a>${aside}</div></header>
<main id="content">${main}</main>`,
  });

export const notice = (text: Markup | string | null, isProblem: boolean): Markup | null =>
  text === null
    ? null
    : html`<p class="notice ${isProblem ? 'bad' : 'good'}" role="${isProblem ? 'alert' : 'status'}">${text}</p>`;

interface Frame {
  readonly title: string;
  readonly section: string;
  readonly main: Markup;
  readonly language: Language;
  readonly texts: Texts;
  readonly reader: Reader;
  readonly notice: string | null;
  readonly isProblem: boolean;
  /** Whether the page itself has the search for payments. */
  readonly hasSearch: boolean;
}

const SECTIONS = [
  ['', 'overview'],
  ['/payments', 'payments'],
  ['/wallet', 'wallet'],
  ['/payouts', 'payouts'],
  ['/disputes', 'disputes'],
  ['/webhooks', 'webhooks'],
  ['/developers', 'developers'],
  ['/sandbox', 'sandbox'],
  ['/settings', 'settings'],
] as const;
/** Sections of test mode only. */
const TEST_ONLY: readonly string[] = ['/sandbox'];

/** The search for payments at the top of each page. */
const search = ({ texts: { payments }, to }: Reader): Markup =>
  html`<form action="${to('/payments')}" class="find" role="search" aria-label="${payments.find}"><input type="search" name="q" aria-label="${payments.find}" placeholder="${payments.find}" title="${payments.searchHint}"></form>`;

export const frame = (shown: Frame): string => {
  const { title, section, main, language, texts, reader, notice: text, isProblem, hasSearch } = shown;
  const { mode, caller, to, csrf } = reader;
  const link = (href: string, words: string, isCurrent: boolean): Markup =>
    isCurrent ? html`<a href="${href}" aria-current="page">${words}</a>` : html`<a href="${href}">${words}</a>`;
  const ofMode = (other: 'test' | 'live'): Markup =>
    other === mode
      ? html`<a class="${other}" href="/dashboard/${other}" aria-current="true">${texts.mode[other]}</a>`
      : html`<a class="${other}" href="/dashboard/${other}">${texts.mode[other]}</a>`;
  return documentOf({
    language,
    title,
    kind: `in ${mode}`,
    body: html`<a class="skip" href="#content">${texts.skip}</a>
<header>${mode === 'test' ? html`<p class="band">${texts.mode.testNote}</p>` : null}<div class="bar">
<a class="brand" href="${to()}">${LOGO}<span>Quita</span></a>
<nav class="mode" aria-label="${texts.mode.label}">${ofMode('test')}${ofMode('live')}</nav>
${hasSearch ? null : search(reader)}<div class="me"><span class="who" title="${ACCOUNT.idPrefix}${caller.account.accountId}">${caller.account.settings.merchantName}</span>
${languages(language, texts.language, to(section))}
<form method="post" action="/dashboard/sign-out">${csrf}<button class="quiet">${texts.signOut}</button></form></div></div>
</header>
<nav class="sections" aria-label="${texts.navigation}">${SECTIONS.filter(([path]) => mode === 'test' || !TEST_ONLY.includes(path)).map(([path, name]) => link(to(path), texts.pages[name], path === section))}
<a class="aside" href="/docs">${texts.documentation}</a></nav>
<main id="content">
<h1>${title}</h1>
${notice(text, isProblem)}
${main}
</main>`,
  });
};
