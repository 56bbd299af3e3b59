// A code with a button to copy it. Without scripts, the payer can select and copy the code.
import { html, type Markup } from '../html.ts';
import { ICON } from '../icons.ts';

interface Copyable {
  readonly label: string;
  readonly shown: string;
  /** The text to copy, if it differs from the shown text. */
  readonly copied: string;
  readonly button: string;
  readonly done: string;
}

/** checkout.js finds button, code and note by their data attributes within `data-copying`. */
export const copyButton = (text: string): Markup =>
  html`<button type="button" class="scripted" data-copy><span class="idle">${ICON.copy}${text}</span><span class="done">${ICON.check}Código copiado</span></button>`;

export const copyNote = (done: string): Markup =>
  html`<p class="note" role="status" data-note data-done="${done}" data-failed="Não foi possível copiar. O código está selecionado: copie pelo menu do aparelho."></p>`;

export const copyBlock = ({ label, shown, copied, button, done }: Copyable): Markup =>
  html`<div class="copying" data-copying><h3>${label}</h3>
<code class="code" translate="no" data-code="${copied}">${shown}</code>
${copyButton(button)}
${copyNote(done)}</div>
`;
