// Secrets that are shown once, on the page that answers the form.
import { html, type Markup } from '../html.ts';
import type { Person } from './page.ts';

/** A text with a button that copies it. */
export const copied = (text: string, { texts }: Pick<Person, 'texts'>): Markup =>
  html`<code class="copy">${text}</code> <button class="quiet copier" type="button" data-copy="${text}" data-copied="${texts.copied}" hidden>${texts.copy}</button>`;

/** A secret that no later page contains. `what` names it. */
export const shownOnce = (secret: string, what: string, lead: string, reader: Pick<Person, 'texts'>): Markup =>
  html`<section class="panel"><h2>${what}</h2><p class="notice good" role="status">${reader.texts.shownOnce}</p>
<p>${copied(secret, reader)}</p><p class="muted">${lead}</p></section>`;

/** A dangerous action that needs a second click, after a warning. `seen`: what the form was shown for, so that it acts once. */
export const confirmed = (
  summary: string,
  warning: string,
  action: string,
  { csrf }: Pick<Person, 'csrf'>,
  seen: Markup | null = null,
): Markup =>
  html`<details><summary>${summary}</summary><form method="post" action="${action}" class="action narrow">${csrf}${seen}<p class="muted">${warning}</p><button class="danger">${summary}</button></form></details>`;
