// The frame that all pages for payers share.

import { html, type Markup } from '../html.ts';
import { ICON, LOGO } from '../icons.ts';
import { checkoutAssetUrl } from './assets.ts';
import { colorUrl } from './brandColor.ts';
import { type CheckoutView, logoPath } from './view.ts';

type Brand = Pick<CheckoutView, 'merchantName' | 'logo' | 'color'>;

interface Layout {
  readonly title: string;
  readonly testMode: boolean;
  /** Whether the page watches the status and needs checkout.js. */
  readonly script: boolean;
  /** Whether the page shows more than a Pix code and needs methods.css. */
  readonly methods: boolean;
  /** Attributes of the body, with a leading space: the state, and the data for checkout.js. */
  readonly attributes: Markup;
  /** The merchant's branding, or null if the page has no known merchant. */
  readonly brand: Brand | null;
  readonly main: Markup;
  readonly footnote: Markup;
}

const colorSheet = (brand: Brand | null): Markup | null =>
  brand?.color ? html`<link rel="stylesheet" href="${colorUrl(brand.color)}">\n` : null;

const masthead = (brand: Brand | null): Markup =>
  brand?.logo
    ? html`<span class="merchant"><img src="${logoPath(brand.logo)}" alt="${brand.merchantName}"></span>`
    : html`<span class="brand">${LOGO}Quita</span>`;

/**
 * Returns a whole document. The page's address is a capability, so it is neither indexed nor sent as a referrer. Phones don't turn digits
 * into links.
 */
export const layout = ({ title, testMode, script, methods, attributes, brand, main, footnote }: Layout): string =>
  html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f1f5f3" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0d1412" media="(prefers-color-scheme: dark)">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${checkoutAssetUrl('favicon.svg')}">
<link rel="stylesheet" href="${checkoutAssetUrl('preferences.css')}">
<link rel="stylesheet" href="${checkoutAssetUrl('checkout.css')}">
${colorSheet(brand)}${methods ? html`<link rel="stylesheet" href="${checkoutAssetUrl('methods.css')}">\n` : null}${script ? html`<script type="module" src="${checkoutAssetUrl('checkout.js')}"></script>\n` : null}</head>
<body${attributes}>
<header>${masthead(brand)}${testMode ? html`<span class="badge">Ambiente de teste</span>` : null}</header>
<main>
${main}</main>
<footer>${ICON.lock}<p>${footnote}</p></footer>
</body>
</html>
`.markup;
