// The guides under /docs: docs/guides/*.md as pages, rendered once at start.
import { readFileSync } from 'node:fs';
import { Marked } from 'marked';
import { escapeHtml, html, type Markup } from '../html.ts';
import { ICON } from '../icons.ts';
import { docsPage, type Link } from './layout.ts';

/** The address that the guides are written for: that of a fresh start. */
const WRITTEN_FOR = 'http://127.0.0.1:3000';

interface Guide {
  readonly path: string;
  readonly title: string;
  /** What it is for, in one line. */
  readonly summary: string;
}

const guide = (name: string, title: string, summary: string): Guide => ({ path: `/docs/${name}`, title, summary });

/** In the order in which they are read. */
export const GUIDES: readonly Guide[] = [
  guide('first-charge', 'First charge', 'From nothing to a paid Pix in five minutes.'),
  guide('webhooks', 'Webhooks', 'Hear of a payment, and know that it was us.'),
  guide('refunds', 'Refunds', 'Give money back, in full or in part.'),
  guide('disputes', 'Disputes', 'Answer when a payer’s bank disputes a Pix.'),
  guide('test-clock', 'Test clock', 'See an hour or a week pass in a second.'),
  guide('going-live', 'Going live', 'What to check before real money moves.'),
];

export const GUIDE_LINKS: readonly Link[] = GUIDES.map(({ path, title }) => ({ href: path, text: title }));

const LANGUAGES: { readonly [name: string]: string } = {
  sh: 'Shell',
  json: 'JSON',
  js: 'JavaScript',
  python: 'Python',
};

/** Returns a block of code that can be copied with one click, where scripts run. */
export const codeBlock = (text: string, language: string, copy = 'Copy', copied = 'Copied'): Markup =>
  html`<figure class="code"><figcaption><span>${language}</span><button type="button" data-copy data-copied="${copied}" hidden>${ICON.copy}<span>${copy}</span></button></figcaption><pre tabindex="0"><code>${text}</code></pre></figure>`;

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\w]+/g, '-')
    .replaceAll(/^-|-$/g, '');

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      const inner = this.parser.parseInline(tokens);
      return depth === 1
        ? `<h1>${inner}</h1>\n`
        : `<h${depth} id="${slugOf(text)}"><a class="anchor" href="#${slugOf(text)}">${inner}</a></h${depth}>\n`;
    },
    code({ text, lang }) {
      return `${codeBlock(text, LANGUAGES[lang ?? ''] ?? '').markup}\n`;
    },
    table({ header, rows }) {
      const cells = (row: typeof header, tag: string) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
      const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
      return `<div class="wide" tabindex="0"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`;
    },
    // A guide is text: what looks like markup in it is shown.
    html: ({ text }) => escapeHtml(text),
  },
});

/** Returns a text in Markdown as markup; code in it addresses this server. */
export const markdown = (text: string, publicUrl: string): Markup => ({
  markup: marked.parse(text.replaceAll(WRITTEN_FOR, publicUrl), { async: false }),
});

export const guideText = ({ path }: Guide): string =>
  readFileSync(new URL(`../../../docs/guides/${path.split('/').at(-1)}.md`, import.meta.url), 'utf8');

const steps = (index: number): Markup => {
  const [before, after] = [GUIDES[index - 1], GUIDES[index + 1]];
  const next = after ?? { path: '/docs', title: 'API reference' };
  return html`<nav class="steps" aria-label="Guides">${
    before ? html`<a href="${before.path}" rel="prev"><small>Before</small>${before.title}</a>` : html`<span></span>`
  }<a href="${next.path}" rel="next"><small>Next</small>${next.title}</a></nav>`;
};

/** What makes every guide's page, by its path. */
export const guidePages = (publicUrl: string): ReadonlyMap<string, () => string> =>
  new Map(
    GUIDES.map((each, index) => [
      each.path,
      () =>
        docsPage({
          path: each.path,
          title: each.title,
          description: each.summary,
          guides: GUIDE_LINKS,
          main: html`<article class="prose">${markdown(guideText(each), publicUrl)}</article>${steps(index)}`,
        }),
    ]),
  );
