// A table that scrolls by itself where the page is narrow.
import { html, type Markup } from '../html.ts';

export const tableOf = (heads: readonly string[], rows: readonly Markup[]): Markup =>
  html`<div class="scroll"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
