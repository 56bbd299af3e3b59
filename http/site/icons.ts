// Line icons on a 24 × 24 grid; stroke and size come from the style sheet. All are decorative and hidden from screen readers.
import { html, type Markup } from './html.ts';

const icon = (shape: Markup): Markup => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${shape}</svg>`;

export const ICON = {
  check: icon(html`<path class="draw" d="m5 12.5 4.7 4.7L19 7.5"/>`),
  clock: icon(html`<circle cx="12" cy="12" r="8.5"/><path d="M12 7v5.3l3.3 2"/>`),
  cross: icon(html`<path d="m7 7 10 10M17 7 7 17"/>`),
  alert: icon(html`<path d="M12 6.5v7M12 17.4v.1"/>`),
  back: icon(html`<path d="M9.5 6 5 10.5 9.5 15M5 10.5h9a5 5 0 0 1 0 10h-2"/>`),
  search: icon(html`<circle cx="10.8" cy="10.8" r="6"/><path d="m15.4 15.4 4.6 4.6"/>`),
  scales: icon(
    html`<path d="M12 4v16M8 20h8M5 7h14M5 7l-2.5 6.5a2.7 2.7 0 0 0 5 0zM19 7l-2.5 6.5a2.7 2.7 0 0 0 5 0z"/>`,
  ),
  card: icon(html`<rect x="3" y="5.5" width="18" height="13" rx="2.5"/><path d="M3 10h18M7 14.8h3"/>`),
  file: icon(
    html`<path d="M13.5 3.5H7a1.5 1.5 0 0 0-1.5 1.5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5zM13.5 3.5v5h5"/>`,
  ),
  copy: icon(
    html`<rect x="8.5" y="8.5" width="11" height="11" rx="2"/><path d="M15.5 5.5a1 1 0 0 0-1-1h-9a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1"/>`,
  ),
  lock: icon(html`<rect x="5" y="10.5" width="14" height="9.5" rx="2"/><path d="M8 10.5V8a4 4 0 0 1 8 0v2.5"/>`),
} as const;

/** Quita's mark: the same shape as favicon.svg. */
export const LOGO = html`<svg class="logo" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="7"/><path d="m6.5 12.4 3.8 3.8 7.2-8"/></svg>`;
