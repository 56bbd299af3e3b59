// The frame of every page of operators. Its band and color keep it apart from the pages of merchants.
import { html, type Markup } from '../../html.ts';
import { LOGO } from '../../icons.ts';
import { documentOf, languages, notice } from '../layout.ts';
import type { Person } from '../reader.ts';
import { SECTIONS, SYSTEM_TABS } from './sections.ts';

interface Frame {
  readonly title: string;
  readonly section: string;
  readonly main: Markup;
  readonly operator: Person;
  readonly notice: string | null;
  readonly isProblem: boolean;
}

export const platformFrame = ({ title, section, main, operator, notice: text, isProblem }: Frame): string => {
  const { language, texts, caller, to, csrf } = operator;
  const { platform, operations } = texts;
  const hasTabs = SYSTEM_TABS.some(([path]) => path === section);
  const current = hasTabs ? SYSTEM_TABS[0][0] : section;
  const link = (path: string, words: string, isCurrent: boolean): Markup =>
    isCurrent ? html`<a href="${to(path)}" aria-current="page">${words}</a>` : html`<a href="${to(path)}">${words}</a>`;
  const tabs = html`<nav class="tabs" aria-label="${platform.sections.system}">${SYSTEM_TABS.map(([path, name]) => link(path, operations.tabs[name], path === section))}</nav>`;
  return documentOf({
    language,
    title: `${title} · ${platform.name}`,
    kind: 'in platform',
    body: html`<a class="skip" href="#content">${texts.skip}</a>
<header><p class="band">${platform.band}</p><div class="bar">
<a class="brand" href="${to()}">${LOGO}<span>Quita</span></a>
<div class="me"><span class="who" title="${caller.email}">${caller.name}</span>
${languages(language, texts.language, to(section))}
<form method="post" action="/dashboard/sign-out">${csrf}<button class="quiet">${texts.signOut}</button></form></div></div>
</header>
<nav class="sections" aria-label="${platform.navigation}">${SECTIONS.map(([path, name]) => link(path, platform.sections[name], path === current))}</nav>
<main id="content">
${hasTabs ? tabs : null}<h1>${title}</h1>
${notice(text, isProblem)}
${main}
</main>`,
  });
};
