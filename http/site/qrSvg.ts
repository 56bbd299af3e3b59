// A QR code inside the page, so that no address and no cache contains its text.
import { html, type Markup } from './html.ts';
import { qrRuns } from './qrRuns.ts';

/** Light modules around the symbol, as ISO/IEC 18004 requires. */
const QUIET_MODULES = 4;

/** Returns the QR code of a text, dark on white in every color scheme. Throws if the text is empty or too long for a symbol. */
export const qrSvg = (text: string, label: string): Markup => {
  const { size, runs } = qrRuns(text);
  const side = size + 2 * QUIET_MODULES;
  const path = runs
    .map(({ row, column, length }) => `M${column + QUIET_MODULES} ${row + QUIET_MODULES}h${length}v1h-${length}z`)
    .join('');
  return html`<svg class="qr" viewBox="0 0 ${side} ${side}" role="img" aria-label="${label}"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path fill="#000" d="${path}"/></svg>`;
};
