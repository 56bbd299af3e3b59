// /dashboard/platform/system: the health of the deployment, as reported by `doctor` and /health/ready. The checks run in the background.
import type { Services } from '../../../../../application/capabilities.ts';
import type { Leader } from '../../../../../application/ports/systemChecks.ts';
import type { SystemReport } from '../../../../../application/ports/systemReports.ts';
import { secondsBetween, type Timestamp } from '../../../../../domain/kernel/time.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import { FORM, route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { instant } from '../../format.ts';
import { PAGE, pageQuery, REDIRECT, redirect } from '../../page.ts';
import { badge, fact } from '../../parts.ts';
import { tableOf } from '../../tables.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from '../page.ts';
import { listOf } from '../parts.ts';
import { durationText, reloading, reloadNote, stillQuery } from './parts.ts';

const SECTION = '/system';

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

/** The pages where operators act on a check. */
const PAGE_OF: { readonly [check: string]: string } = {
  'read models and processes': '/read-models',
  'parked streams': '/parked',
  jobs: '/jobs',
  'provider connections': '/connections',
  'audit log': '/audit',
};

const reportTable = ({ findings }: SystemReport, { texts, to }: Operator): Markup => {
  const { system } = texts.operations;
  const name = (check: string): Markup => {
    const path = PAGE_OF[check];
    return path === undefined ? html`${check}` : html`<a href="${to(path)}">${check}</a>`;
  };
  const rows = findings.map(
    ({ check, isGood, says }) =>
      html`<tr lang="en"><th scope="row">${name(check)}</th><td>${isGood ? badge(system.good, 'good') : badge(system.bad, 'bad')}</td><td class="broad">${says}</td></tr>`,
  );
  return tableOf(system.checks, [system.check, system.state, system.says], rows);
};

/** The newest report of this process, if there is one, and the button that renews it. */
const checksPanel = ({ report, isChecking }: ReturnType<Services['systemReport']>, operator: Operator): Markup => {
  const { texts, language, to, csrf } = operator;
  const { system } = texts.operations;
  const made = report && html`<span>${system.madeAt} ${instant(report.madeAt, language)}</span>`;
  const renewing = isChecking
    ? html`<span role="status">${system.checking}</span>`
    : html`<form method="post" action="${to(`${SECTION}/checks`)}">${csrf}<button class="second">${system.checkNow}</button></form>`;
  return html`<section class="panel"><h2>${system.checks}</h2><p class="muted">${system.checksLead}</p>
<div class="row">${made}${renewing}</div>${isChecking ? reloadNote(SECTION, operator) : null}${report && reportTable(report, operator)}</section>`;
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
  query: stillQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const [process, leaders] = [await processPanel(operator), await operator.platform.listLeaders()];
    const checks = operator.services.systemReport();
    const shown = shownToOperator(200, context, operator, {
      title: operator.texts.operations.tabs.health,
      section: SECTION,
      main: html`${process}${checksPanel(checks, operator)}${leadersPanel(leaders, operator)}`,
    });
    return checks.isChecking && context.query.still === undefined ? reloading(shown, operator.to(SECTION)) : shown;
  },
});

const checkRoute = route('POST', `${PLATFORM_PAGES}/system/checks`, {
  ...ofOperator,
  operationId: 'checkSystemFromPage',
  summary: 'Start the checks of the deployment',
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT },
  handle: async (context) => {
    const { services, to } = operatorOf(context);
    void services.renewSystemReport();
    return redirect(to(SECTION), 'checksStarted');
  },
});

export const SYSTEM_PAGES = [systemRoute, checkRoute];
