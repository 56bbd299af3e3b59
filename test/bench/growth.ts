// `node test/bench/growth.ts` shows the size of each table and its indexes, as a plot in docs/images/growth.svg and a table for
// docs/bench-history.md. It reads the results of `npm run soak -- bulk` for several lengths of the log (bench-results/bulk-<events>.json).
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import type { BulkReport, Size } from './bulk.ts';

const ROOT = join(import.meta.dirname, '../..');
const TABLES_DRAWN = 10;
const [WIDTH, HEIGHT] = [960, 560] as const;
const MARGIN = { top: 20, right: 320, bottom: 50, left: 70 } as const;
const LABEL_PX = 15;
const MB = 1_000_000;
/** Colours that colour-blind people can distinguish (Okabe and Ito). */
const COLOURS = ['#000000', '#e69f00', '#56b4e9', '#009e73', '#0072b2', '#d55e00', '#cc79a7', '#7f7f7f'];

type Part = 'tableBytes' | 'indexBytes';
interface Point {
  readonly events: number;
  readonly mb: number;
}

const reports = (
  await Promise.all(
    globSync(join(ROOT, 'bench-results/bulk-*.json')).map(
      async (file) => JSON.parse(await readFile(file, 'utf8')) as BulkReport,
    ),
  )
).sort((a, b) => a.events - b.events);
const [longest] = reports.slice(-1);
if (longest === undefined || reports.length < 2)
  throw new Error('run `EVENTS=<n> npm run soak -- bulk` for at least two lengths of the log first');

const sizeIn = ({ sizes }: BulkReport, name: string): Size | undefined => sizes.find((size) => size.name === name);
const pointsOf = (name: string, part: Part): readonly Point[] =>
  reports.flatMap((report) => {
    const bytes = sizeIn(report, name)?.[part] ?? 0;
    return bytes === 0 ? [] : [{ events: report.events, mb: bytes / MB }];
  });

const perEvent = (report: BulkReport, name: string, part: Part): string => {
  const size = sizeIn(report, name);
  return size === undefined ? '' : (size[part] / report.events).toFixed(0);
};

const table = (): string => {
  const counts = reports.map(({ events }) => events.toLocaleString('en'));
  const head = [
    'table',
    'rows',
    'MB',
    'indexes, MB',
    ...counts.map((count) => `bytes an event at ${count}: table, indexes`),
  ];
  const rows = longest.sizes.map(({ name, rows: count, tableBytes, indexBytes }) => [
    `\`${name}\``,
    count.toLocaleString('en'),
    (tableBytes / MB).toFixed(0),
    (indexBytes / MB).toFixed(0),
    ...reports.map((report) => `${perEvent(report, name, 'tableBytes')}, ${perEvent(report, name, 'indexBytes')}`),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
};

const plot = (): string => {
  const drawn = longest.sizes.slice(0, TABLES_DRAWN).map(({ name }) => name);
  const series = drawn.flatMap((name, n) =>
    (['tableBytes', 'indexBytes'] as const).map((part) => {
      return { name, part, colour: COLOURS[n % COLOURS.length] as string, points: pointsOf(name, part) };
    }),
  );
  const all = series.flatMap(({ points }) => points);
  const counts = reports.map(({ events }) => events);
  const x = scaleLog([Math.min(...counts), Math.max(...counts)], [MARGIN.left, WIDTH - MARGIN.right]);
  const most = Math.max(...all.map(({ mb }) => mb));
  const y = scaleLog([1, most], [HEIGHT - MARGIN.bottom, MARGIN.top]).clamp(true);
  const path = line<Point>(
    ({ events }) => x(events),
    ({ mb }) => y(mb),
  );
  const lines = series.map(
    ({ part, colour, points }) =>
      `<path d="${path(points as Point[]) ?? ''}" fill="none" stroke="${colour}" stroke-width="2"${part === 'indexBytes' ? ' stroke-dasharray="5 4"' : ''}/>`,
  );
  // From top to bottom, each label is at the end of its line, or below the previous label.
  let below = Number.NEGATIVE_INFINITY;
  const labels = series
    .map((one) => ({ ...one, at: y(one.points.at(-1)?.mb ?? 1) }))
    .sort((a, b) => a.at - b.at)
    .map(({ name, part, colour, at, points }) => {
      below = Math.max(at, below + LABEL_PX);
      const what = part === 'indexBytes' ? `${name}, indexes` : name;
      return `<text x="${WIDTH - MARGIN.right + 8}" y="${(below + 4).toFixed(1)}" fill="${colour}">${what} ${(points.at(-1)?.mb ?? 0).toFixed(0)}</text>`;
    });
  const xTicks = counts.map(
    (count) =>
      `<text x="${x(count)}" y="${HEIGHT - MARGIN.bottom + 20}" text-anchor="middle">${count.toLocaleString('en')}</text>`,
  );
  const yTicks = [1, 10, 100, 1_000, 10_000]
    .filter((mb) => mb <= most)
    .map(
      (mb) =>
        `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(mb)}" y2="${y(mb)}" stroke="#ddd"/>` +
        `<text x="${MARGIN.left - 8}" y="${y(mb) + 4}" text-anchor="end">${mb.toLocaleString('en')} MB</text>`,
    );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img">
<title>Size of the largest tables and their indexes by length of the log, both axes logarithmic</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${[...yTicks, ...xTicks, ...lines, ...labels].join('\n')}
<text x="${(MARGIN.left + WIDTH - MARGIN.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">events in the log</text>
</svg>
`;
};

await writeFile(join(ROOT, 'docs/images/growth.svg'), plot());
process.stdout.write(`${table()}\n`);
