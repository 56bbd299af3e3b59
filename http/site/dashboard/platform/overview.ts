// /dashboard/platform: work that waits for an operator.
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { PAGE, pageQuery } from '../page.ts';
import { NEAR_HOURS } from './disputes.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from './page.ts';

interface Waiting {
  readonly path: string;
  readonly label: string;
  readonly count: number;
  readonly note?: string;
}

/** Counts only, by at most six SQL statements. */
const waitingFor = async ({ platform, services, texts }: Operator): Promise<readonly Waiting[]> => {
  const { overview } = texts.platform;
  const [held, cases, deadLetters, connections] = await Promise.all([
    platform.listHeld(0),
    platform.countCases(NEAR_HOURS),
    platform.tenantsWithDeadLetters(null),
    platform.connectionProblems(),
  ]);
  return [
    { path: '/held', label: overview.held, count: held.total },
    { path: '/disputes', label: overview.reviews, count: cases.waiting },
    { path: '/disputes', label: overview.deadlines, count: cases.near, note: overview.deadlinesNote(NEAR_HOURS) },
    { path: '/connections', label: overview.connections, count: connections.length },
    { path: '/dead-letters', label: overview.deadLetters, count: deadLetters.length },
    { path: '/parked', label: overview.parked, count: services.operations.parkedStreams() },
  ];
};

const tile = ({ path, label, count, note }: Waiting, { to }: Operator): Markup =>
  html`<a class="tile ${count === 0 ? 'calm' : 'waits'}" href="${to(path)}"><span class="label">${label}</span><span class="value">${count}</span>${note === undefined ? null : html`<span class="note">${note}</span>`}</a>`;

const overviewRoute = route('GET', PLATFORM_PAGES, {
  ...ofOperator,
  operationId: 'showPlatform',
  summary: 'Show what waits for an operator',
  query: pageQuery,
  reads: ['payments', 'disputes', 'payouts', 'providers', 'webhookDeliveries'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { sections, overview } = operator.texts.platform;
    const waiting = await waitingFor(operator);
    const isCalm = waiting.every(({ count }) => count === 0);
    return shownToOperator(200, context, operator, {
      title: sections.overview,
      section: '',
      main: html`<p class="muted under">${isCalm ? overview.calm : overview.lead}</p>
<div class="tiles">${waiting.map((one) => tile(one, operator))}</div>`,
    });
  },
});

export const PLATFORM_OVERVIEW = [overviewRoute];
