// The language of a page: the one in its address, or else the browser's preferred one, or else English.
import { LANGUAGES, type Language } from '../../domain/presentation/amount.ts';
import { matching } from '../kernel/query.ts';
import type { Preferences } from '../kernel/route.ts';
import { html, type Markup } from './html.ts';

/** Values of the attribute `lang` and of the header Content-Language. */
export const LANGUAGE_TAG = { pt: 'pt-BR', en: 'en' } as const satisfies { readonly [L in Language]: string };

/** Ignores unknown languages instead of rejecting them, because the page is for people. */
export const languageQuery = {
  lang: matching('The language of the page, `pt` or `en`.', 'a language', (text) => text),
} as const;

export interface ChosenLanguage {
  readonly language: Language;
  /** Query for links to other pages. It keeps a language that the reader chose, and is empty if the browser chose. */
  readonly keep: string;
}

/** Contains `pt-BR` in addition to `pt`, so that `pt-BR,en;q=0.9,pt;q=0.8` selects Portuguese. */
const OFFERED = ['en', 'pt-BR', 'pt'] as const;

export const chooseLanguage = (asked: string | undefined, prefers: Preferences): ChosenLanguage => {
  const chosen = LANGUAGES.find((each) => each === asked);
  if (chosen !== undefined) return { language: chosen, keep: `?lang=${chosen}` };
  const preferred = prefers.language(OFFERED) ?? 'en';
  return { language: preferred === 'en' ? 'en' : 'pt', keep: '' };
};

export const languageHeaders = (language: Language) => ({
  Vary: 'Accept-Language',
  'Content-Language': LANGUAGE_TAG[language],
});

/** Returns links to the same page in each language. */
export const languageSwitch = (path: string, current: Language, label: string): Markup => {
  const links = LANGUAGES.map((each) =>
    each === current
      ? html`<a href="${path}?lang=${each}" hreflang="${LANGUAGE_TAG[each]}" aria-current="true">${each.toUpperCase()}</a>`
      : html`<a href="${path}?lang=${each}" hreflang="${LANGUAGE_TAG[each]}" lang="${LANGUAGE_TAG[each]}">${each.toUpperCase()}</a>`,
  );
  return html`<nav class="languages" aria-label="${label}">${links}</nav>`;
};
