// Debian's Chromium, and what axe finds in it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** As root, Chromium has no sandbox; a container's /dev/shm is small. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** A phone and a desk, by day and by night. Nothing moves: axe measures colours. */
export const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = (['light', 'dark'] as const).flatMap(
  (colorScheme) =>
    ([390, 1280] as const).map((width) => [
      `${colorScheme}, ${width} px`,
      { colorScheme, viewport: { width, height: 844 }, reducedMotion: 'reduce' },
    ]),
);

/** Opens pages that note what the browser complains of: errors of scripts, and what the content security policy forbids. */
export const openPage = async (context: BrowserContext): Promise<{ page: Page; complaints: readonly string[] }> => {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (line) => {
    // A status of 4xx is an answer like any other.
    if (line.type() === 'error' && !line.text().startsWith('Failed to load resource')) complaints.push(line.text());
  });
  return { page, complaints };
};

/** Returns what any rule of axe finds, best practices included: `rule: selector`. */
export const findings = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
};

/** Returns by how many pixels the page is wider than the window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
