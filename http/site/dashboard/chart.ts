// Bar charts as SVG, made on the server. Each is above a table of its numbers.
import { scaleBand, scaleLinear } from 'd3-scale';
import { html, type Markup } from '../html.ts';

interface Bar {
  readonly label: string;
  readonly value: number;
  /** The text shown on hover. */
  readonly title: string;
}

const [WIDTH, HEIGHT] = [960, 200];
const LABELS = 26;

/** Returns the chart. `description` describes it for screen readers; the table below it has the numbers. */
export const barChart = (bars: readonly Bar[], description: string): Markup => {
  const x = scaleBand<number>()
    .domain(bars.map((_, n) => n))
    .range([0, WIDTH])
    .padding(0.3);
  const top = Math.max(1, ...bars.map(({ value }) => value));
  const y = scaleLinear()
    .domain([0, top])
    .range([HEIGHT - LABELS, 8]);
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">
<line x1="0" x2="${WIDTH}" y1="${HEIGHT - LABELS}" y2="${HEIGHT - LABELS}"/>
${bars.map(({ label, value, title }, n) => {
  const left = Math.round(x(n) ?? 0);
  const width = Math.round(x.bandwidth());
  const at = Math.round(y(value));
  return html`<g><title>${title}</title><rect x="${left}" y="${at}" width="${width}" height="${HEIGHT - LABELS - at}" rx="3"/>
<text x="${left + width / 2}" y="${HEIGHT - 8}">${label}</text></g>`;
})}</svg>`;
};
