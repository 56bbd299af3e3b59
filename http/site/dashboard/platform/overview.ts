// /dashboard/platform: what waits for an operator.
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

/** Counts only: each list reads one item at most, and nothing is read by account. */
const waitingFor = async ({ platform, texts }: Operator): Promise<readonly Waiting[]> => {
  const { overview } = texts.platform;
  const [held, reviews, near, payouts, deadLetters, parked, connections, findings] = await Promise.all([
    platform.listHeld(1),
    platform.listCaseReviews(1),
    platform.countCasesNearDeadline(NEAR_HOURS),
    platform.listPayouts(null, 1),
    platform.tenantsWithDeadLetters(null),
    platform.listParked(null),
    platform.connectionProblems(),
    platform.listFindings({ connectionId: null, all: false }, 1),
  ]);
  return [
    { path: '/held', label: overview.held, count: held.total },
    { path: '/disputes', label: overview.reviews, count: reviews.total },
    { path: '/disputes', label: overview.deadlines, count: near, note: overview.deadlinesNote(NEAR_HOURS) },
    { path: '/payouts', label: overview.payouts, count: payouts.total },
    { path: '/connections', label: overview.connections, count: connections.length },
    { path: '/connections/findings', label: overview.findings, count: findings.total },
    { path: '/dead-letters', label: overview.deadLetters, count: deadLetters.length },
    { path: '/parked', label: overview.parked, count: parked.length },
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
