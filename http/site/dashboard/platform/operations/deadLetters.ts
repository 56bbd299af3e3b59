// /dashboard/platform/dead-letters: webhook deliveries of all accounts that failed. They are counted first, then sent again.
import type { Platform } from '../../../../../application/capabilities.ts';
import { ACCOUNT } from '../../../../../domain/account/account.ts';
import { type AccountId, parsePrefixedId } from '../../../../../domain/kernel/ids.ts';
import { isRejection } from '../../../../../domain/kernel/rejection.ts';
import { isWebhookFilter, type RedriveAll, redriveAll } from '../../../../api/webhooks/operatorDeadLetters.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import { FORM, route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { instant } from '../../format.ts';
import { PAGE, pageQuery, REDIRECT, redirect, textQuery } from '../../page.ts';
import { tableOf } from '../../tables.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from '../page.ts';
import { listOf } from '../parts.ts';
import { accountCell, LISTED_MAX, progressBar, reloading, reloadNote, stillQuery } from './parts.ts';

const SECTION = '/dead-letters';
/** Running redrives that the page shows. */
const RUNNING_MAX = 20;

/** The submitted filters by field; empty means no restriction. */
const FIELDS = ['accountId', 'endpointId', 'eventType', 'createdAfter', 'createdBefore'] as const;
type Typed = { readonly [F in (typeof FIELDS)[number]]: string };

const typedQuery = {
  accountId: textQuery('Only deliveries of this account.'),
  endpointId: textQuery('Only deliveries to this endpoint.'),
  eventType: textQuery('Only deliveries of this event type.'),
  createdAfter: textQuery('Only deliveries created at or after this day.'),
  createdBefore: textQuery('Only deliveries created by the end of this day.'),
} as const;

const typedOf = (read: (name: (typeof FIELDS)[number]) => string | undefined): Typed =>
  Object.fromEntries(FIELDS.map((name) => [name, (read(name) ?? '').trim()])) as Typed;

/** Returns the selection without empty fields. */
const selectionOf = (typed: Typed): RedriveAll =>
  Object.fromEntries(FIELDS.flatMap((name) => (typed[name] === '' ? [] : [[name, typed[name]]])));

/** Returns the first problem with a field, or null. */
const problemOf = (typed: Typed, { texts }: Operator): string | null => {
  const { deadLetters } = texts.operations;
  const { accountId } = typed;
  if (accountId !== '' && parsePrefixedId<AccountId>(accountId, ACCOUNT.idPrefix) === null)
    return deadLetters.badAccount;
  return isWebhookFilter(selectionOf(typed)) ? null : deadLetters.badFilter;
};

type Found = Awaited<ReturnType<Platform['listDeadLetters']>>;

const lettersTable = ({ deliveries, total }: Found, empty: string, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { deadLetters } = texts.operations;
  const { account } = texts.platform;
  const rows = deliveries.map(
    ({ id, accountId, mode, paymentId, eventType, endpointId, createdAt }) =>
      html`<tr><th scope="row">${eventType}<br><code class="small">${id}</code></th><td>${accountCell(accountId, mode, operator)}<br>${instant(createdAt, language)}</td>
<td>${endpointId === null ? deadLetters.ownUrl : html`<code>${endpointId}</code>`}${paymentId === null ? null : html`<br><code class="muted">${paymentId}</code>`}</td></tr>`,
  );
  const heads = [
    ...[deadLetters.event, `${account} · ${deadLetters.createdAt}`],
    `${deadLetters.endpoint} · ${deadLetters.payment}`,
  ];
  return listOf(texts.platform.sections.deadLetters, heads, rows, empty, total, operator);
};

const runningPanel = async (operator: Operator): Promise<Markup | null> => {
  const { services, texts, language } = operator;
  const { deadLetters, by } = texts.operations;
  const { account } = texts.platform;
  const running = await services.runningRedrives(RUNNING_MAX);
  if (running.length === 0) return null;
  const rows = running.map(({ tenant, actor, askedAt, queued, requested }) => {
    const text = deadLetters.progress(requested, queued);
    return html`<tr><th scope="row">${accountCell(ACCOUNT.idPrefix + tenant.accountId, tenant.mode, operator)}</th><td>${progressBar(queued === 0 ? 1 : requested / queued, text, language)} · ${text}</td>
<td>${instant(askedAt, language)}</td><td><code>${actor}</code></td></tr>`;
  });
  return html`<section class="panel"><h2>${deadLetters.running}</h2>${reloadNote(SECTION, operator)}
${tableOf(deadLetters.running, [account, texts.payments.status, deadLetters.askedAt, by], rows)}</section>`;
};

const field = (name: keyof Typed, label: string, typed: Typed, type: 'text' | 'date', hint: string | null): Markup =>
  html`<label>${label}<input name="${name}" type="${type}" value="${typed[name]}">${hint === null ? null : html`<span class="muted small">${hint}</span>`}</label>`;

const redriveForm = (typed: Typed, { texts, to }: Operator): Markup => {
  const { deadLetters } = texts.operations;
  const { account } = texts.platform;
  return html`<section class="panel"><h2>${deadLetters.filter}</h2><form method="get" action="${to(`${SECTION}/redrive`)}" class="stack">
<div class="fields">${field('accountId', account, typed, 'text', deadLetters.accountHint)}${field('endpointId', deadLetters.endpoint, typed, 'text', null)}
${field('eventType', deadLetters.event, typed, 'text', null)}${field('createdAfter', deadLetters.from, typed, 'date', null)}${field('createdBefore', deadLetters.to, typed, 'date', null)}</div>
<p><button class="second">${deadLetters.dryRun}</button></p></form></section>`;
};

const contentOf = async (typed: Typed, operator: Operator) => {
  const { platform, texts } = operator;
  const { deadLetters } = texts.operations;
  const { account } = texts.platform;
  const of = parsePrefixedId<AccountId>(typed.accountId, ACCOUNT.idPrefix);
  const found = await platform.listDeadLetters(of, LISTED_MAX);
  const running = await runningPanel(operator);
  const empty = of === null ? deadLetters.empty : deadLetters.emptyFiltered;
  const content = {
    title: texts.platform.sections.deadLetters,
    section: SECTION,
    main: html`${running}<section class="panel"><p class="muted">${deadLetters.lead}</p>
<form method="get" class="filters"><label class="wide">${account}<input name="accountId" value="${typed.accountId}" placeholder="acct_…"></label><button class="second">${texts.apply}</button></form>
${lettersTable(found, empty, operator)}</section>${redriveForm(typed, operator)}`,
  };
  return { content, isIdle: running === null };
};

const reads = ['webhookDeliveries'] as const;
const ofLetters = { ...ofOperator, reads } as const;

const deadLettersRoute = route('GET', `${PLATFORM_PAGES}/dead-letters`, {
  ...ofLetters,
  operationId: 'showDeadLetters',
  summary: 'Show the failed deliveries of all accounts, or of one',
  query: { ...stillQuery, accountId: typedQuery.accountId },
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const typed = typedOf((name) => (name === 'accountId' ? context.query.accountId : undefined));
    const { content, isIdle } = await contentOf(typed, operator);
    const problem = problemOf(typed, operator);
    if (problem !== null) return shownToOperator(422, context, operator, { ...content, problem });
    const shown = shownToOperator(200, context, operator, content);
    const isStill = isIdle || context.query.still !== undefined || typed.accountId !== '';
    return isStill ? shown : reloading(shown, operator.to(SECTION));
  },
});

const dryRunRoute = route('GET', `${PLATFORM_PAGES}/dead-letters/redrive`, {
  ...ofLetters,
  operationId: 'countDeadLettersToRedrive',
  summary: 'Count the failed deliveries that would be sent again',
  query: { ...pageQuery, ...typedQuery },
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { texts, csrf, to, services, actor } = operator;
    const { deadLetters } = texts.operations;
    const typed = typedOf((name) => context.query[name]);
    const refused = async (problem: string) =>
      shownToOperator(422, context, operator, { ...(await contentOf(typed, operator)).content, problem });
    const problem = problemOf(typed, operator);
    if (problem !== null) return refused(problem);
    const counted = await redriveAll(services, { ...selectionOf(typed), dryRun: true }, actor);
    if (isRejection(counted)) return refused(deadLetters.noAccount);
    const { matched } = counted;
    const hidden = FIELDS.map((name) => html`<input type="hidden" name="${name}" value="${typed[name]}">`);
    return shownToOperator(200, context, operator, {
      title: deadLetters.redrive,
      section: SECTION,
      main: html`<form method="post" class="card stack" action="${to(`${SECTION}/redrive`)}">${csrf}${hidden}<p>${deadLetters.matched(matched)}</p>
${matched === 0 ? null : html`<p class="muted">${deadLetters.redriveLead}</p>`}<p class="row">${matched === 0 ? null : html`<button>${deadLetters.sendNow}</button>`}<a href="${to(SECTION)}">${texts.back}</a></p></form>`,
    });
  },
});

const redriveRoute = route('POST', `${PLATFORM_PAGES}/dead-letters/redrive`, {
  ...ofLetters,
  operationId: 'redriveDeadLettersFromPage',
  summary: 'Send failed deliveries again',
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const typed = typedOf((name) => context.body.text(name));
    // A mistyped filter must not resend all deliveries.
    const problem = problemOf(typed, operator);
    const done = problem === null ? await redriveAll(operator.services, selectionOf(typed), operator.actor) : null;
    if (done === null || isRejection(done)) {
      const { content } = await contentOf(typed, operator);
      const words = problem ?? operator.texts.operations.deadLetters.noAccount;
      return shownToOperator(422, context, operator, { ...content, problem: words });
    }
    return redirect(operator.to(SECTION), done.queued === 0 ? 'nothingRedriven' : 'deadLettersRedriven');
  },
});

export const DEAD_LETTER_PAGES = [deadLettersRoute, dryRunRoute, redriveRoute];
