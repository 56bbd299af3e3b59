// /dashboard/platform/read-models: positions of read models and processes; rebuilds and verifications with their progress.
import type { Platform } from '../../../../../application/capabilities.ts';
import type { ReadModelRun } from '../../../../../application/ports/readModelRuns.ts';
import { isRejection } from '../../../../../domain/kernel/rejection.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import { FORM, route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { instant, tagOf } from '../../format.ts';
import { PAGE, pageQuery, REDIRECT, redirect } from '../../page.ts';
import { badge } from '../../parts.ts';
import { tableOf } from '../../tables.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from '../page.ts';
import { listOf } from '../parts.ts';
import { durationText, progressBar, reloading, reloadNote, stillQuery } from './parts.ts';

const SECTION = '/read-models';

type Listed = Awaited<ReturnType<Platform['listConsumers']>>;
type Consumer = Listed['consumers'][number];

const workForm = (work: ReadModelRun['work'], readModel: string, words: string, { csrf, to }: Operator): Markup =>
  html`<form method="post" action="${to(`${SECTION}/runs`)}">${csrf}<input type="hidden" name="work" value="${work}"><input type="hidden" name="readModel" value="${readModel}"><button class="second">${words}</button></form>`;

const lagCell = ({ isCaughtUp, lagSeconds }: Consumer, { texts, language }: Operator): Markup => {
  const { readModels } = texts.operations;
  if (isCaughtUp) return badge(readModels.caughtUp, 'good');
  return badge(lagSeconds === null ? readModels.unknownLag : durationText(lagSeconds, language), 'busy');
};

const consumersPanel = ({ head, consumers }: Listed, isIdle: boolean, operator: Operator): Markup => {
  const { texts, platform } = operator;
  const { readModels, tabs } = texts.operations;
  const isReadModel = ({ name }: Consumer) => platform.readModels.includes(name.replace('/next', ''));
  const cells = (one: Consumer): Markup =>
    html`<th scope="row">${one.name}</th><td>${one.version ?? texts.none}</td><td><code>${one.position ?? texts.none}</code></td><td>${lagCell(one, operator)}</td>`;
  const rebuild = ({ name }: Consumer): Markup | null =>
    isIdle && platform.readModels.includes(name) ? workForm('rebuild', name, readModels.rebuild, operator) : null;
  const heads = [readModels.name, readModels.version, readModels.position, readModels.lag];
  const models = consumers.filter(isReadModel).map((one) => html`<tr>${cells(one)}<td>${rebuild(one)}</td></tr>`);
  const processes = consumers.filter((one) => !isReadModel(one)).map((one) => html`<tr>${cells(one)}</tr>`);
  return html`<section class="panel"><h2>${tabs.readModels}</h2><p class="muted">${readModels.lead} ${readModels.head}: <code>${head ?? texts.none}</code></p>
${tableOf(tabs.readModels, [...heads, readModels.work], models)}</section>
<section class="panel"><h2>${readModels.processes}</h2>${tableOf(readModels.processes, heads, processes)}</section>`;
};

const outcomeCell = ({ outcome, error, state, share, what }: ReadModelRun, { texts, language }: Operator): Markup => {
  const { readModels } = texts.operations;
  if (state === 'running')
    return html`${progressBar(share, readModels.states.running, language)}<br><span class="muted small" lang="en">${what}</span>`;
  if (outcome === null) return html`<span lang="en">${error ?? texts.none}</span>`;
  const number = new Intl.NumberFormat(tagOf(language), { maximumFractionDigits: 1 });
  const { rebuilt, verified } = outcome;
  const lines = rebuilt.map(({ readModel, events, seconds }) =>
    readModels.rebuilt(readModel, events, number.format(seconds)),
  );
  if (verified !== null) {
    lines.push(readModels.verified(verified.rows, verified.differences));
    if (verified.tables.length > 0) lines.push(readModels.differsIn(verified.tables.join(', ')));
    if (verified.parkedStreams > 0) lines.push(readModels.leftOut(verified.parkedStreams));
  }
  return html`${lines.map((line) => html`${line}<br>`)}`;
};

const lookOf = ({ state, outcome }: ReadModelRun): 'good' | 'busy' | 'bad' => {
  if (state !== 'done') return state === 'running' ? 'busy' : 'bad';
  const { differences = 0, parkedStreams = 0 } = outcome?.verified ?? {};
  if (differences > 0) return 'bad';
  return parkedStreams > 0 ? 'busy' : 'good';
};

const runsPanel = (runs: readonly ReadModelRun[], isIdle: boolean, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { readModels, by: byText } = texts.operations;
  const rows = runs.map((run) => {
    const work = run.work === 'verify' ? readModels.verify : readModels.rebuild;
    const name = run.readModel === 'all' ? readModels.all : run.readModel;
    return html`<tr><th scope="row">${work}${run.work === 'verify' ? null : html` · ${name}`}</th><td>${badge(readModels.states[run.state], lookOf(run))}</td>
<td class="broad">${outcomeCell(run, operator)}</td><td>${instant(run.startedAt, language)}<br><code class="muted">${run.by}</code></td></tr>`;
  });
  const heads = [readModels.work, texts.payments.status, readModels.outcome, `${texts.platform.since} · ${byText}`];
  const start = html`<p class="muted">${readModels.workLead}</p><div class="row">${workForm('verify', 'all', readModels.verify, operator)}${workForm('rebuild', 'all', readModels.rebuildAll, operator)}</div>`;
  return html`<section class="panel"><h2>${readModels.runs}</h2>${isIdle ? null : reloadNote(SECTION, operator)}
${listOf(readModels.runs, heads, rows, readModels.noRuns, rows.length, operator)}
${isIdle ? start : html`<p class="muted">${readModels.busy}</p>`}</section>`;
};

const contentOf = async (operator: Operator) => {
  const listed = await operator.platform.listConsumers();
  const runs = operator.services.readModelRuns();
  const isIdle = !runs.some(({ state }) => state === 'running');
  const content = {
    title: operator.texts.operations.tabs.readModels,
    section: SECTION,
    main: html`${runsPanel(runs, isIdle, operator)}${consumersPanel(listed, isIdle, operator)}`,
  };
  return { content, isIdle };
};

const readModelsRoute = route('GET', `${PLATFORM_PAGES}/read-models`, {
  ...ofOperator,
  operationId: 'showReadModels',
  summary: 'Show read models and processes, rebuilds and verifications',
  query: stillQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { content, isIdle } = await contentOf(operator);
    const shown = shownToOperator(200, context, operator, content);
    return isIdle || context.query.still !== undefined ? shown : reloading(shown, operator.to(SECTION));
  },
});

const startRoute = route('POST', `${PLATFORM_PAGES}/read-models/runs`, {
  ...ofOperator,
  operationId: 'startRunFromPage',
  summary: 'Start a rebuild or verification of read models',
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  errors: ['not_found'],
  handle: async (context) => {
    const operator = operatorOf(context);
    const { body, services } = context;
    const work = body.text('work') === 'rebuild' ? 'rebuild' : 'verify';
    const readModel = work === 'verify' ? 'all' : body.text('readModel');
    const run = services.startReadModelRun({ work, readModel, by: operator.actor.actor });
    if (!isRejection(run)) return redirect(operator.to(SECTION), 'runStarted');
    if (run.code === 'not_found') return run;
    const { content } = await contentOf(operator);
    const problem = operator.texts.operations.readModels.busy;
    return shownToOperator(422, context, operator, { ...content, problem });
  },
});

export const READ_MODEL_PAGES = [readModelsRoute, startRoute];
