// /dashboard/platform/system: whether the deployment is healthy, as `doctor` and /health/ready say.
import { EventStoreUnavailable } from '../../../../../application/ports/eventStore.ts';
import type { Finding, Leader } from '../../../../../application/ports/systemChecks.ts';
import { secondsBetween, type Timestamp } from '../../../../../domain/kernel/time.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import { route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { instant } from '../../format.ts';
import { PAGE, pageQuery } from '../../page.ts';
import { fact } from '../../parts.ts';
import { tableOf } from '../../tables.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from '../page.ts';
import { listOf } from '../parts.ts';
import { badge, durationText } from './parts.ts';

const processPanel = async ({ texts, language, services, platform, to }: Operator): Promise<Markup> => {
  const { system } = texts.operations;
  const { version, startedAt } = platform.showProcess();
  const { operations, accounts } = services;
  const [reason, stopped] = [await operations.unreadiness(), await operations.auditStopped()];
  const streams = operations.parkedStreams();
  return html`<section class="panel"><h2>${system.process}</h2><dl>
${fact(system.readiness, reason === null ? badge(system.ready, 'good') : html`${badge(system.bad, 'bad')} ${system.notReady(reason)}`)}
${fact(system.parkedStreams, streams === 0 ? null : html`<a href="${to('/parked')}">${streams}</a>`)}
${fact(system.auditStopped, stopped === null ? null : html`<a href="${to('/audit')}">${texts.operations.audit.stopped(stopped)}</a>`)}
${fact(system.version, version)}${fact(system.startedAt, instant(startedAt, language))}
${fact(system.uptime, durationText(secondsBetween(startedAt as Timestamp, accounts.realNow()), language))}</dl></section>`;
};

/** Returns the lines of `doctor`. If the event store doesn't answer, there is only a line that says so. */
const findingsOf = async ({ platform }: Operator): Promise<readonly Finding[]> => {
  try {
    return await platform.checkSystem();
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable)) throw error;
    return [{ check: 'event store', isGood: false, says: error.message }];
  }
};

/** The pages where operators act on a check. */
const PAGE_OF: { readonly [check: string]: string } = {
  'read models and processes': '/read-models',
  'parked streams': '/parked',
  jobs: '/jobs',
  'provider connections': '/connections',
  'audit log': '/audit',
};

const checksPanel = (findings: readonly Finding[], { texts, to }: Operator): Markup => {
  const { system } = texts.operations;
  const name = (check: string): Markup => {
    const path = PAGE_OF[check];
    return path === undefined ? html`${check}` : html`<a href="${to(path)}">${check}</a>`;
  };
  const rows = findings.map(
    ({ check, isGood, says }) =>
      html`<tr lang="en"><th scope="row">${name(check)}</th><td>${isGood ? badge(system.good, 'good') : badge(system.bad, 'bad')}</td><td class="broad">${says}</td></tr>`,
  );
  return html`<section class="panel"><h2>${system.checks}</h2><p class="muted">${system.checksLead}</p>
${tableOf(system.checks, [system.check, system.state, system.says], rows)}</section>`;
};

const leadersPanel = (leaders: readonly Leader[], operator: Operator): Markup => {
  const { texts, language } = operator;
  const { system } = texts.operations;
  const rows = leaders.map(
    ({ role, since, isAlive, address }) =>
      html`<tr><th scope="row">${role}</th><td>${isAlive ? badge(system.alive, 'good') : badge(system.stale, 'bad')}</td><td>${instant(since, language)}</td><td>${address ?? system.sameMachine}</td></tr>`,
  );
  const heads = [system.role, system.state, texts.platform.since, system.address];
  return html`<section class="panel"><h2>${system.leaders}</h2><p class="muted">${system.leadersLead}</p>
${listOf(system.leaders, heads, rows, system.noLeaders, rows.length, operator)}</section>`;
};

const systemRoute = route('GET', `${PLATFORM_PAGES}/system`, {
  ...ofOperator,
  operationId: 'showSystem',
  summary: 'Show whether the deployment is healthy',
  query: pageQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const [process, findings] = [await processPanel(operator), await findingsOf(operator)];
    const leaders = await operator.platform.listLeaders();
    return shownToOperator(200, context, operator, {
      title: operator.texts.operations.tabs.health,
      section: '/system',
      main: html`${process}${checksPanel(findings, operator)}${leadersPanel(leaders, operator)}`,
    });
  },
});

export const SYSTEM_PAGES = [systemRoute];
