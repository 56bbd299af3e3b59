// A table that scrolls separately on a narrow page, also by keyboard.
import { html, type Markup } from '../html.ts';

export const tableOf = (label: string, heads: readonly string[], rows: readonly Markup[]): Markup =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
