// /dashboard/platform/parked: streams that a read model or process parked, and the possible actions on each.
import type { ParkedItem } from '../../../../../application/operations/parked.ts';
import type { TakenUp } from '../../../../../application/ports/consumers.ts';
import type { RecordedEvent } from '../../../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../../../domain/kernel/ids.ts';
import { streamParam } from '../../../../api/ops/log.ts';
import { notParked, waitLimit } from '../../../../api/ops/parked.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import type { Form } from '../../../../kernel/forms.ts';
import { FORM, type RouteContext, route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { instant } from '../../format.ts';
import { PAGE, pageQuery, REDIRECT, redirect, textQuery } from '../../page.ts';
import { options, statusOptions } from '../../parts.ts';
import { tableOf } from '../../tables.ts';
import type { DoneAction } from '../../texts/texts.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from '../page.ts';
import { isReason, listOf, reasonInput } from '../parts.ts';
import { accountCell, LISTED_MAX } from './parts.ts';

const SECTION = '/parked';
/** Waiting events that the page shows. */
const EVENTS_MAX = 20;

const eventCell = ({ eventType, revision }: ParkedItem): Markup =>
  html`${eventType} <span class="muted">@${revision}</span>`;

const pathOf = (stream: string): string => `${SECTION}/${encodeURIComponent(stream)}`;

/** One row for each stream, with all consumers that parked it and where the first of them stopped. */
const listTable = (parked: readonly ParkedItem[], operator: Operator): Markup => {
  const { texts, language, to } = operator;
  const { parked: words, error } = texts.operations;
  const streams = [...Map.groupBy(parked, ({ stream }) => stream).values()];
  const rows = streams.slice(0, LISTED_MAX).map((all) => {
    const [one] = all.toSorted((first, second) => first.revision - second.revision) as [ParkedItem];
    return html`<tr><th scope="row" class="wide"><a href="${to(pathOf(one.stream))}"><code>${one.stream}</code></a></th>
<td class="wide">${all.map(({ consumer }) => consumer).join(', ')}</td><td class="wide">${eventCell(one)}<br><span lang="en">${one.error}</span></td>
<td>${accountCell(one.accountId, one.mode, operator)}<br>${instant(one.parkedAt, language)}</td></tr>`;
  });
  const heads = [
    ...[words.stream, words.consumers, `${words.event} · ${error}`],
    `${texts.platform.account} · ${words.parkedAt}`,
  ];
  return listOf(texts.operations.tabs.parked, heads, rows, words.empty, streams.length, operator);
};

const listContent = async (consumer: string | null, operator: Operator) => {
  const { platform, texts, csrf, to } = operator;
  const { parked: words, tabs } = texts.operations;
  const all = await platform.listParked(null);
  const names = [...new Set(all.map((one) => one.consumer))].toSorted();
  const listed = consumer === null ? all : all.filter((one) => one.consumer === consumer);
  const labels = Object.fromEntries(names.map((name) => [name, name]));
  const filter = html`<form method="get" class="filters"><label>${words.consumer}<select name="consumer">${statusOptions(names, consumer ?? undefined, labels, operator)}</select></label>
<button class="second">${texts.apply}</button></form>`;
  const retryAll = html`<form method="post" class="row" action="${to(`${SECTION}/retry`)}">${csrf}<button class="second">${words.retryAll}</button><span class="muted small">${words.retryAllLead}</span></form>`;
  return {
    title: tabs.parked,
    section: SECTION,
    main: html`<section class="panel"><p class="muted">${words.lead}</p>
${all.length === 0 ? null : filter}${listTable(listed, operator)}${all.length === 0 ? null : retryAll}</section>`,
  };
};

const parkedListRoute = route('GET', `${PLATFORM_PAGES}/parked`, {
  ...ofOperator,
  operationId: 'showParkedStreams',
  summary: 'Show parked streams',
  query: { ...pageQuery, consumer: textQuery('Only streams that this read model or process parked.') },
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    return shownToOperator(200, context, operator, await listContent(context.query.consumer || null, operator));
  },
});

/** Returns a text on the effects of the consumer's parking the stream. */
const dependsText = (consumer: string, { platform, texts }: Operator): string => {
  const { parked } = texts.operations;
  if (platform.readModels.includes(consumer)) return parked.ofReadModel;
  return platform.maySkip(consumer) ? parked.ofProcess : parked.ofMoney;
};

const consumersPanel = (parked: readonly ParkedItem[], operator: Operator): Markup => {
  const { texts, language } = operator;
  const { parked: words, error } = texts.operations;
  const rows = parked.map(
    (one) =>
      html`<tr><th scope="row">${one.consumer}</th><td class="broad">${dependsText(one.consumer, operator)}</td><td class="broad">${eventCell(one)}<br><span lang="en">${one.error}</span></td>
<td>${instant(one.parkedAt, language)}</td></tr>`,
  );
  const heads = [words.consumer, words.depends, `${words.event} · ${error}`, words.parkedAt];
  return html`<section class="panel"><h2>${words.consumers}</h2>${tableOf(words.consumers, heads, rows)}</section>`;
};

const eventsPanel = (events: readonly RecordedEvent[], operator: Operator): Markup => {
  const { texts, language } = operator;
  const { parked: words } = texts.operations;
  const rows = events.slice(0, EVENTS_MAX).map(
    (event) =>
      html`<tr><td>${event.revision}</td><th scope="row">${event.type}</th><td>${instant(event.recordedAt, language)}</td>
<td class="broad"><details><summary>${words.data}</summary><pre tabindex="0">${event.data}</pre></details></td></tr>`,
  );
  const heads = [words.revision, words.event, words.recordedAt, words.data];
  return html`<section class="panel"><h2>${words.waiting}</h2><p class="muted">${words.waitingLead}</p>
${listOf(words.waiting, heads, rows, texts.none, events.length, operator)}</section>`;
};

interface Typed {
  readonly reason: string;
  readonly consumer: string;
  readonly forced: readonly string[];
}
const NOTHING_TYPED: Typed = { reason: '', consumer: '', forced: [] };

const actionsPanel = (stream: StreamName, consumers: readonly string[], typed: Typed, operator: Operator): Markup => {
  const { texts, csrf, to, platform } = operator;
  const { parked: words, retry } = texts.operations;
  const choices: [string, string][] = [
    ['', words.allConsumers],
    ...consumers.map((name): [string, string] => [name, name]),
  ];
  const box = (name: string): Markup =>
    typed.forced.includes(name)
      ? html`<label class="box"><input type="checkbox" name="force" value="${name}" checked>${name}</label>`
      : html`<label class="box"><input type="checkbox" name="force" value="${name}">${name}</label>`;
  const boxes = consumers.filter((name) => !platform.maySkip(name)).map(box);
  return html`<section class="panel actions"><h2>${texts.payment.actions}</h2>
<form method="post" class="action narrow" action="${to(`${pathOf(stream)}/retry`)}">${csrf}<p class="muted">${words.retryLead}</p><button class="second">${retry}</button></form>
<form method="post" class="action narrow" action="${to(`${pathOf(stream)}/skip`)}">${csrf}<p class="muted">${words.skipLead}</p>
${reasonInput(typed.reason, operator)}
<label>${words.consumer}<select name="consumer">${options(choices, typed.consumer)}</select></label>
${boxes.length === 0 ? null : html`<fieldset><legend>${words.force}</legend>${boxes}</fieldset>`}<button class="danger">${words.skip}</button></form></section>`;
};

/** Returns the content of a stream's page, or null if it is not parked. */
const oneContent = async (stream: StreamName, operator: Operator, typed: Typed = NOTHING_TYPED) => {
  const found = await operator.platform.showParked(stream, null);
  if (found === null) return null;
  const { parked, events } = found;
  const consumers = parked.map(({ consumer }) => consumer);
  return {
    title: operator.texts.operations.parked.one,
    section: SECTION,
    main: html`<p class="under"><code>${stream}</code><br>${accountCell(parked[0]?.accountId ?? null, parked[0]?.mode ?? null, operator)}</p>${consumersPanel(parked, operator)}
${actionsPanel(stream, consumers, typed, operator)}${eventsPanel(events, operator)}`,
  };
};

const ofStream = { ...ofOperator, params: streamParam, query: pageQuery } as const;

const parkedRoute = route('GET', `${PLATFORM_PAGES}/parked/{stream}`, {
  ...ofStream,
  operationId: 'showParkedStream',
  summary: 'Show why a stream is parked, and its waiting events',
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const content = await oneContent(context.params.stream, operator);
    return content === null ? notParked(context.params.stream) : shownToOperator(200, context, operator, content);
  },
});

/** Returns the page's words on streams that were parked again, or null without such streams. */
const againOf = (results: readonly TakenUp[], { texts }: Operator): string | null => {
  const again = results.filter(({ outcome }) => outcome === 'parked');
  const { parked } = texts.operations;
  if (again.length === 0) return null;
  return again.map(({ consumer, revision, error }) => parked.again(consumer, revision ?? 0, error ?? '')).join(' ');
};

const doneOf = (results: readonly TakenUp[], done: DoneAction): DoneAction => {
  if (results.length === 0) return 'notParked';
  return results.some(({ outcome }) => outcome === 'waiting') ? 'parkedWaiting' : done;
};

const LEADS = { 303: REDIRECT, 422: PAGE } as const;
const acting = { ...ofStream, body: FORM, responses: LEADS } as const;
type Acting = RouteContext<'platformMember', typeof streamParam, typeof pageQuery, typeof FORM>;

/** Redirects to the list, or shows the stream again with the reason why it is still parked. */
const answered = async (context: Acting, operator: Operator, results: readonly TakenUp[], done: DoneAction) => {
  const problem = againOf(results, operator);
  const content = problem === null ? null : await oneContent(context.params.stream, operator);
  if (problem === null || content === null) return redirect(operator.to(SECTION), doneOf(results, done));
  return shownToOperator(422, context, operator, { ...content, problem });
};

const retryRoute = route('POST', `${PLATFORM_PAGES}/parked/{stream}/retry`, {
  ...acting,
  operationId: 'retryParkedFromPage',
  summary: 'Retry a parked stream',
  handle: async (context) => {
    const operator = operatorOf(context);
    const which = { stream: context.params.stream, consumer: null };
    const results = await operator.platform.retryParked(which, waitLimit(context.services.closing));
    return answered(context, operator, results, 'parkedResumed');
  },
});

const retryAllRoute = route('POST', `${PLATFORM_PAGES}/parked/retry`, {
  ...ofOperator,
  operationId: 'retryAllParkedFromPage',
  summary: 'Retry all parked streams',
  query: pageQuery,
  body: FORM,
  responses: LEADS,
  handle: async (context) => {
    const operator = operatorOf(context);
    const which = { stream: null, consumer: null };
    const results = await operator.platform.retryParked(which, waitLimit(context.services.closing));
    const problem = againOf(results, operator);
    if (problem === null) return redirect(operator.to(SECTION), doneOf(results, 'parkedResumed'));
    return shownToOperator(422, context, operator, { ...(await listContent(null, operator)), problem });
  },
});

const typedOf = (body: Form): Typed => ({
  reason: body.text('reason'),
  consumer: body.text('consumer'),
  forced: body.all('force'),
});

const skipRoute = route('POST', `${PLATFORM_PAGES}/parked/{stream}/skip`, {
  ...acting,
  operationId: 'skipParkedFromPage',
  summary: 'Skip the event that blocks a parked stream',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { stream } = context.params;
    const { operations, platform } = operator.texts;
    const typed = typedOf(context.body);
    const shownAgain = async (problem: string) => {
      const content = await oneContent(stream, operator, typed);
      if (content === null) return redirect(operator.to(SECTION), 'notParked');
      return shownToOperator(422, context, operator, { ...content, problem });
    };
    const { reason, forced } = typed;
    if (!isReason(reason)) return shownAgain(platform.badReason);
    const which = { stream, consumer: typed.consumer || null };
    const limit = waitLimit(context.services.closing);
    const done = await operator.platform.skipParked(which, { reason, forced }, operator.actor, limit);
    if ('unmeant' in done) return shownAgain(operations.parked.unmeant(done.unmeant.join(', ')));
    return answered(context, operator, done, 'eventSkipped');
  },
});

export const PARKED_PAGES = [parkedListRoute, retryAllRoute, parkedRoute, retryRoute, skipRoute];
