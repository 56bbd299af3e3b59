// A merchant's color on the payer's page, in a separate style sheet because the pages allow no inline styles. Text in the color always
// has a contrast of at least 4.5 (WCAG 2.2, 1.4.3).
import { createHash } from 'node:crypto';
import type { Asset } from '../assets.ts';

/** `#rrggbb` */
type Color = string;

export const CONTRAST_MIN = 4.5;
/** The background of each scheme in preferences.css on which text is hardest to read. */
const GROUND = { light: '#f1f5f3', dark: '#16201d' } as const;
const [BLACK, WHITE] = ['#000000', '#ffffff'] as const;
/** Steps from the color to black or white. */
const STEPS = 32;

const channelsOf = (color: Color): readonly number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** Returns the relative luminance (WCAG 2.2), from 0 for black to 1 for white. */
const luminance = (color: Color): number => {
  const [red = 0, green = 0, blue = 0] = channelsOf(color)
    .map((channel) => channel / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** Returns the contrast ratio of two colors, from 1 to 21. */
export const contrast = (a: Color, b: Color): number => {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
};

const mixed = (color: Color, other: Color, share: number): Color => {
  const others = channelsOf(other);
  const channels = channelsOf(color).map((channel, i) => Math.round(channel + ((others[i] ?? 0) - channel) * share));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
};

/** Returns black or white, whichever has more contrast to the color: at least 4.58. */
export const textOn = (color: Color): Color => (contrast(color, WHITE) >= contrast(color, BLACK) ? WHITE : BLACK);

/** Returns the color if it is readable on the scheme's pages, or else the nearest readable step towards black or white. */
export const textOf = (color: Color, scheme: keyof typeof GROUND): Color => {
  const end = scheme === 'light' ? BLACK : WHITE;
  for (let step = 0; step < STEPS; step++) {
    const candidate = mixed(color, end, step / STEPS);
    if (contrast(candidate, GROUND[scheme]) >= CONTRAST_MIN) return candidate;
  }
  return end;
};

const FILE = /^([0-9a-f]{6})\.css$/;

/** Returns the style sheet served at `/pay/colors/<name>`, computed from the name, or null if the name is invalid. */
export const colorAsset = (name: string): Asset | null => {
  const hex = FILE.exec(name)?.[1];
  if (hex === undefined) return null;
  const color = `#${hex}`;
  const css = `:root{--accent:${color};--on-accent:${textOn(color)};--accent-text:${textOf(color, 'light')}}
@media (prefers-color-scheme:dark){:root{--accent-text:${textOf(color, 'dark')}}}
`;
  const body = Buffer.from(css);
  const version = createHash('sha256').update(body).digest('hex').slice(0, 16);
  return { contentType: 'text/css; charset=utf-8', body, version };
};

/** Returns the host-relative URL of a color's style sheet, which changes with its content. Throws RangeError if `color` is invalid. */
export const colorUrl = (color: Color): string => {
  const name = `${color.slice(1)}.css`;
  const asset = colorAsset(name);
  if (asset === null) throw new RangeError(`not a colour: ${color}`);
  return `/pay/colors/${name}?v=${asset.version}`;
};
