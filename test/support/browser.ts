// Debian's Chromium, and the accessibility problems that axe finds.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Chromium has no sandbox as root, and /dev/shm is small in containers. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** A phone and a desktop, each in light and dark. Animations are off, because axe measures colors. */
export const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = (['light', 'dark'] as const).flatMap(
  (colorScheme) =>
    ([390, 1280] as const).map((width) => [
      `${colorScheme}, ${width} px`,
      { colorScheme, viewport: { width, height: 844 }, reducedMotion: 'reduce' },
    ]),
);

/** Opens pages and records the browser's complaints: script errors and violations of the Content-Security-Policy. */
export const openPage = async (context: BrowserContext): Promise<{ page: Page; complaints: readonly string[] }> => {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (line) => {
    // A 4xx status is a valid answer.
    if (line.type() === 'error' && !line.text().startsWith('Failed to load resource')) complaints.push(line.text());
  });
  return { page, complaints };
};

/** Returns all violations that axe finds, best practices included, as `rule: selector`. */
export const findings = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
};

/** Returns the number of pixels by which the page is wider than the window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
