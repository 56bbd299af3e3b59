// The pages of the guides under /docs, from docs/guides/*.md (English) and docs/guides/pt/*.md (Portuguese).
import { readdirSync, readFileSync } from 'node:fs';
import { Marked, type RendererObject } from 'marked';
import type { Language } from '../../../domain/presentation/amount.ts';
import { escapeHtml, html, type Markup } from '../html.ts';
import { ICON } from '../icons.ts';
import type { ChosenLanguage } from '../language.ts';
import { CHROME } from './chrome.ts';
import { docsPage, type Link } from './layout.ts';

// --- Highlights JSON: keys, strings and other values have different colors ---

const TOKEN = /("(?:\\.|[^"\\])*"?)(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

/** Returns the text with highlighted JSON tokens. Other text is unchanged. */
const highlighted = (text: string): Markup => {
  let markup = '';
  let end = 0;
  for (const { 0: token, 1: quoted, 2: colon, index } of text.matchAll(TOKEN)) {
    const kind = quoted === undefined ? 'value' : colon === undefined ? 'text' : 'key';
    markup += `${escapeHtml(text.slice(end, index))}<span class="${kind}">${escapeHtml(token)}</span>`;
    end = index + token.length;
  }
  return { markup: markup + escapeHtml(text.slice(end)) };
};

/** Address and demo account in the guides' files: those of a fresh start in the source folder. Pages replace them. */
const ADDRESS = 'http://127.0.0.1:3000';
const DEMO_FILE = './.data/demo.json';
const DEMO_KEY = /\$\(node -p "require\('\.\/\.data\/demo\.json'\)\.(test|live)ApiKey"\)/g;

/** Facts of the running program that appear in its guides. */
export interface GuideFacts {
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** The file with the demo account's keys. Null if there is no demo account or if readers may be on other machines. */
  readonly demoFile: string | null;
}

interface GuideText {
  readonly title: string;
  /** The purpose of the guide in one line. */
  readonly summary: string;
  /** In Markdown, without the front matter. */
  readonly text: string;
}

/** A guide in English, and in Portuguese under `pt`. */
interface Guide extends GuideText {
  readonly path: string;
  /** Guides are read in ascending order. */
  readonly order: number;
  readonly pt: GuideText;
}

const FOLDER = new URL('../../../docs/guides/', import.meta.url);

/** Returns the guide in a file. Its front matter has lines `name: value` between two lines `---`. */
const guideFile = (file: string): GuideText & { readonly order: number } => {
  const [, head = '', text = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(readFileSync(new URL(file, FOLDER), 'utf8')) ?? [];
  const properties = Object.fromEntries([...head.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value]));
  const { title = '', summary = '', order } = properties;
  return { title, summary, order: Number(order), text };
};

const guideOf = (file: string): Guide => ({
  path: `/docs/${file.replace('.md', '')}`,
  ...guideFile(file),
  pt: guideFile(`pt/${file}`),
});

/** All guides in reading order. */
export const GUIDES: readonly Guide[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md'))
  .map(guideOf)
  .sort((a, b) => a.order - b.order);

const inLanguage = (each: Guide, language: Language): GuideText => (language === 'en' ? each : each[language]);

const guideLinks = ({ language, keep }: ChosenLanguage): readonly Link[] =>
  GUIDES.map((each) => ({ href: each.path + keep, text: inLanguage(each, language).title }));

/** Links for pages that exist only in English. */
export const GUIDE_LINKS = guideLinks({ language: 'en', keep: '' });

const LANGUAGES: { readonly [name: string]: string } = {
  sh: 'Shell',
  json: 'JSON',
  js: 'JavaScript',
  python: 'Python',
};

interface CodeBlockTexts {
  /** Defaults to the language of the code. */
  readonly title?: string;
  readonly copy?: string;
  readonly copied?: string;
}

/** Returns a block of code with a button to copy it, if scripts run. */
export const codeBlock = (
  text: string,
  language: string,
  { title = language, copy = CHROME.en.copy, copied = CHROME.en.copied }: CodeBlockTexts = {},
): Markup =>
  html`<figure class="code"><figcaption><span>${title}</span>
<button type="button" data-copy data-copied="${copied}">${ICON.copy}<span>${copy}</span></button></figcaption>
<pre tabindex="0"><code>${language === 'JSON' ? highlighted(text) : text}</code></pre></figure>`;

export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\w]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** `anchors` are the ids of the headings, in order. */
const renderer = (language: Language, anchors: readonly string[]): RendererObject => {
  const rest = anchors.values();
  return {
    heading({ tokens, depth }) {
      const inner = this.parser.parseInline(tokens);
      const id = rest.next().value ?? '';
      return depth === 1
        ? `<h1>${inner}</h1>\n`
        : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
    },
    code({ text, lang }) {
      return `${codeBlock(text, LANGUAGES[lang ?? ''] ?? '', CHROME[language]).markup}\n`;
    },
    table({ header, rows }) {
      const cells = (row: typeof header, tag: string) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
      const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
      return `<div class="wide" tabindex="0"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`;
    },
    // HTML in a guide is shown as text.
    html: ({ text }) => escapeHtml(text),
  };
};

/** Returns the ids of all headings of a text. */
const anchorsOf = (text: string): readonly string[] =>
  new Marked().lexer(text).flatMap((token) => (token.type === 'heading' ? [slugOf(token['text'])] : []));

/** Renders Markdown. */
export const markdown = (
  text: string,
  language: Language = 'en',
  anchors: readonly string[] = anchorsOf(text),
): Markup => {
  const marked = new Marked({ renderer: renderer(language, anchors) });
  return { markup: marked.parse(text, { async: false }) };
};

/** Returns the text of a guide for the running program. */
const written = (text: string, { publicUrl, demoFile }: GuideFacts): string =>
  text
    .replaceAll(ADDRESS, () => publicUrl)
    .replaceAll(DEMO_KEY, (line, mode: string) =>
      demoFile === null ? `ak_${mode}_…` : line.replace(DEMO_FILE, () => demoFile),
    );

/** Returns the text with the language kept in its links to other guides. */
const linkedText = (text: string, keep: string): string =>
  GUIDES.reduce((before, { path }) => before.replaceAll(`](${path})`, `](${path}${keep})`), text);

const steps = (index: number, { language, keep }: ChosenLanguage): Markup => {
  const chrome = CHROME[language];
  const [before, next] = [GUIDES[index - 1], GUIDES[index + 1]].map(
    (each) => each && { href: each.path + keep, text: inLanguage(each, language).title },
  );
  const { href, text } = next ?? { href: '/docs', text: chrome.apiReference };
  return html`<nav class="steps" aria-label="${chrome.guides}">${
    before
      ? html`<a href="${before.href}" rel="prev"><small>${chrome.before}</small>${before.text}</a>`
      : html`<span></span>`
  }<a href="${href}" rel="next"><small>${chrome.next}</small>${text}</a></nav>`;
};

export type GuidePage = (chosen: ChosenLanguage) => string;

/** Returns a page renderer for the path of each guide. Headings have the same anchors in all languages, so that links keep working. */
export const guidePages = (facts: GuideFacts): ReadonlyMap<string, GuidePage> =>
  new Map(
    GUIDES.map((each, index) => [
      each.path,
      (chosen) => {
        const { language, keep } = chosen;
        const { title, summary, text } = inLanguage(each, language);
        const article = markdown(linkedText(written(text, facts), keep), language, anchorsOf(each.text));
        return docsPage({
          path: each.path,
          title,
          description: summary,
          guides: guideLinks(chosen),
          main: html`<article class="prose">${article}</article>${steps(index, chosen)}`,
          translated: chosen,
        });
      },
    ]),
  );
