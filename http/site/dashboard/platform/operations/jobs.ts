// /dashboard/platform/jobs: queues and failing jobs, which operators can retry.

import type { Platform } from '../../../../../application/capabilities.ts';
import type { QueueState } from '../../../../../application/ports/failedJobs.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import { FORM, route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { instant, minuteText } from '../../format.ts';
import { PAGE, pageQuery, REDIRECT, redirect, textQuery } from '../../page.ts';
import { badge, statusOptions } from '../../parts.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from '../page.ts';
import { listOf } from '../parts.ts';
import { accountCell, LISTED_MAX } from './parts.ts';

const SECTION = '/jobs';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Failing = Awaited<ReturnType<Platform['listFailedJobs']>>;

const queuesPanel = (queues: readonly QueueState[], operator: Operator): Markup => {
  const { texts, language, to } = operator;
  const { jobs } = texts.operations;
  const rows = queues.map(
    ({ queue, ready, running, retry, failed, oldestAt }) =>
      html`<tr><th scope="row"><a href="${to(SECTION)}?queue=${queue}">${queue}</a></th><td>${ready}</td><td>${running}</td><td>${retry}</td>
<td>${failed === 0 ? html`0` : badge(String(failed), 'bad')}</td><td>${instant(oldestAt, language)}</td></tr>`,
  );
  const heads = [jobs.queue, jobs.ready, jobs.running, jobs.retrying, jobs.failed, jobs.oldest];
  return html`<section class="panel"><h2>${jobs.queues}</h2>
${listOf(jobs.queues, heads, rows, jobs.noQueues, rows.length, operator)}</section>`;
};

const retryForm = (name: 'id' | 'queue' | 'all', value: string, words: string, { csrf, to }: Operator): Markup =>
  html`<form method="post" action="${to(`${SECTION}/retry`)}">${csrf}<input type="hidden" name="${name}" value="${value}"><button class="second">${words}</button></form>`;

const failingPanel = ({ jobs: failing, total }: Failing, queue: string | null, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { jobs, error: errorText, retry } = texts.operations;
  const look = { failed: 'bad', retry: 'busy', awaits_upgrade: '' } as const;
  const rows = failing.map(
    ({ id, queue: of, state, accountId, mode, attempts, error, failedAt, nextAttemptAt }) =>
      html`<tr><td>${instant(failedAt, language)}</td><th scope="row">${of}<br><code class="small">${id}</code></th>
<td>${badge(jobs.states[state], look[state])}${nextAttemptAt === null ? null : html`<br><span class="muted small">${jobs.nextAttempt(minuteText(nextAttemptAt, language))}</span>`}</td>
<td>${accountCell(accountId, mode, operator)}</td><td>${attempts}</td><td class="wide" lang="en">${error}</td>
<td>${state === 'failed' ? retryForm('id', id, retry, operator) : null}</td></tr>`,
  );
  const heads = [jobs.failedAt, jobs.queue, jobs.state, texts.platform.account, jobs.attempts, errorText, retry];
  const all =
    queue === null
      ? retryForm('all', 'true', jobs.retryAll, operator)
      : retryForm('queue', queue, jobs.retryQueue(queue), operator);
  return html`${listOf(jobs.list, heads, rows, jobs.empty, total, operator)}
${failing.some(({ state }) => state === 'failed') ? html`<div class="row">${all}<span class="muted small">${jobs.retryLead}</span></div>` : null}`;
};

/** Returns the content of the page. A queue that doesn't exist has no jobs. */
const contentOf = async (queue: string | null, operator: Operator) => {
  const { platform, texts } = operator;
  const { jobs, tabs } = texts.operations;
  const [queues, failing] = [await platform.listQueues(), await platform.listFailedJobs(queue, LISTED_MAX)];
  const names = queues.map((one) => one.queue);
  const labels = Object.fromEntries(names.map((name) => [name, name]));
  return {
    title: tabs.jobs,
    section: SECTION,
    main: html`${queuesPanel(queues, operator)}<section class="panel"><h2>${jobs.list}</h2><p class="muted">${jobs.listLead}</p>
<form method="get" class="filters"><label>${jobs.queue}<select name="queue">${statusOptions(names, queue ?? undefined, labels, operator)}</select></label><button class="second">${texts.apply}</button></form>
${failingPanel(failing, queue, operator)}</section>`,
  };
};

const jobsRoute = route('GET', `${PLATFORM_PAGES}/jobs`, {
  ...ofOperator,
  operationId: 'showJobs',
  summary: 'Show queues and failing jobs',
  query: { ...pageQuery, queue: textQuery('Only jobs of this queue.') },
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    return shownToOperator(200, context, operator, await contentOf(context.query.queue || null, operator));
  },
});

const retryRoute = route('POST', `${PLATFORM_PAGES}/jobs/retry`, {
  ...ofOperator,
  operationId: 'retryJobsFromPage',
  summary: 'Retry one failed job, those of a queue, or all',
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { body } = context;
    const [id, queue, all] = [body.text('id'), body.text('queue'), body.text('all')];
    const isOne = UUID.test(id) && queue === '' && all === '';
    const isMany = id === '' && (queue === '') === (all === 'true');
    // A mistyped id or queue must not retry all jobs.
    const retried =
      isOne || isMany ? await operator.platform.redriveJobs({ id: id || null, queue: queue || null }) : null;
    if (retried === null || (isOne && retried.length === 0)) {
      const problem = operator.texts.operations.jobs.gone;
      return shownToOperator(422, context, operator, { ...(await contentOf(null, operator)), problem });
    }
    return redirect(operator.to(SECTION), retried.length === 0 ? 'noJobsRetried' : 'jobsRetried');
  },
});

export const JOB_PAGES = [jobsRoute, retryRoute];
