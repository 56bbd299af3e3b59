// /dashboard/{mode}/payments: payments newest first, by status, day and customer.
import type { Cursor, PaymentFilter } from '../../../../application/ports/readModels/payments.ts';
import { isCivilDay } from '../../../../domain/kernel/civilDay.ts';
import { type PaymentId, PREFIX, parseId } from '../../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { documentKeyOf, taxIdOf } from '../../../../domain/pix/taxId.ts';
import { PUBLIC_STATUSES, transactionStatusesOf } from '../../../../domain/presentation/status.ts';
import { notAfter, notBefore } from '../../../kernel/query.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  pageQuery,
  REDIRECT,
  type Reader,
  readerOf,
  redirect,
  shownPage,
  textQuery,
} from '../page.ts';
import { statusOptions } from '../parts.ts';
import { paymentsTable } from './table.ts';

const PAGE_SIZE = 25;

const query = {
  ...pageQuery,
  q: textQuery('A charge id, or the CPF or CNPJ of a customer.'),
  status: textQuery('Only payments in this status.'),
  from: textQuery('Only payments created on this day or later.'),
  to: textQuery('Only payments created on this day or earlier.'),
  after: textQuery('The last payment of the page before.'),
} as const;
type Asked = { readonly [Name in 'q' | 'status' | 'from' | 'to' | 'after']?: string | undefined };

/** A rule of the API's list reads a day as the API does: as a day of São Paulo. */
const dayOf = (sent: string | undefined, { parse }: { readonly parse: (day: string) => Timestamp | undefined }) =>
  sent === undefined || sent === '' ? null : isCivilDay(sent) ? (parse(sent) ?? undefined) : undefined;

/** Returns the filter, or the problem of an input. */
const filterOf = ({ q = '', status = '', from, to }: Asked, { texts }: Reader): PaymentFilter | string => {
  const documentKey = taxIdOf(q) === null ? null : documentKeyOf(q);
  if (q !== '' && documentKey === null) return texts.payments.unknownSearch;
  const [first, last] = [dayOf(from, notBefore('')), dayOf(to, notAfter(''))];
  if (first === undefined || last === undefined) return texts.payments.badDay;
  const known = PUBLIC_STATUSES.find((one) => one === status);
  return { statuses: known === undefined ? null : transactionStatusesOf(known), from: first, to: last, documentKey };
};

const form = ({ q = '', status = '', from = '', to = '' }: Asked, reader: Reader): Markup => {
  const { texts } = reader;
  const { payments } = texts;
  return html`<form method="get" class="filters" role="search">
<label class="wide">${payments.search}<input type="search" name="q" value="${q}" placeholder="${payments.searchHint}"></label>
<label>${payments.status}<select name="status">${statusOptions(
    PUBLIC_STATUSES,
    PUBLIC_STATUSES.find((one) => one === status),
    texts.statuses,
    reader,
  )}</select></label>
<label>${payments.from}<input type="date" name="from" value="${from}"></label>
<label>${payments.to}<input type="date" name="to" value="${to}"></label>
<button class="second">${texts.apply}</button></form>`;
};

const cursorOf = async (after: string | undefined, { tenant, services }: Reader): Promise<Cursor | null> => {
  const id = after === undefined ? null : parseId<PaymentId>(after, PREFIX.charge);
  const payment = id === null ? null : await services.views.payments.find(tenant, id);
  return payment === null ? null : { createdAt: payment.charge.terms.createdAt, id: payment.charge.terms.paymentId };
};

/** Returns the payment that a search names, or null. */
const named = async (q: string | undefined, { tenant, services }: Reader): Promise<PaymentId | null> => {
  const id = q === undefined ? null : parseId<PaymentId>(q.trim(), PREFIX.charge, PAYMENT.idPrefix);
  return id !== null && (await services.views.payments.find(tenant, id)) !== null ? id : null;
};

export const paymentsRoute = route('GET', '/dashboard/{mode}/payments', {
  ...ofMember,
  operationId: 'showPayments',
  summary: 'Show payments',
  params: modeParam,
  query,
  reads: ['payments'],
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { texts, to, tenant, services } = reader;
    const found = await named(context.query.q, reader);
    if (found !== null) return redirect(to(`/payments/${found}`));
    const page = <Status extends 200 | 422>(status: Status, list: Markup | null, problem?: string) =>
      shownPage(status, context, reader, {
        title: texts.pages.payments,
        section: '/payments',
        main: html`${reader.mayChange ? html`<p class="row end"><a class="button" href="${to('/payments/new')}">${texts.payments.create}</a></p>` : null}${form(context.query, reader)}${list}`,
        ...(problem !== undefined && { problem }),
      });
    const filter = filterOf(context.query, reader);
    if (typeof filter === 'string') return page(422, null, filter);
    const after = await cursorOf(context.query.after, reader);
    const rows = await services.views.payments.listAfter(tenant, filter, after, PAGE_SIZE + 1);
    const shown = rows.slice(0, PAGE_SIZE);
    if (shown.length === 0) {
      const isFiltered = Object.values({ ...context.query, lang: undefined, done: undefined }).some(Boolean);
      return page(200, html`<p class="empty">${isFiltered ? texts.payments.emptyFiltered : texts.payments.empty}</p>`);
    }
    return page(
      200,
      html`<section class="panel">${paymentsTable(shown, reader)}${pager(context.query, rows.length > PAGE_SIZE ? shown.at(-1)?.charge.terms.paymentId : undefined, reader)}</section>`,
    );
  },
});

/** Links to the first page and the next one, which keep the filters. */
const pager = (asked: Asked, last: PaymentId | undefined, { texts, to }: Reader): Markup => {
  const address = (after: string | undefined): string => {
    const { q, status, from, to: until } = asked;
    const kept = Object.entries({ q, status, from, to: until, after }).filter(([, value]) => value);
    return `${to('/payments')}?${new URLSearchParams(kept as [string, string][])}`;
  };
  return html`<p class="row pager">${asked.after ? html`<a href="${address(undefined)}">${texts.newest}</a>` : null}
${last === undefined ? null : html`<a href="${address(PREFIX.charge + last)}" rel="next">${texts.older}</a>`}</p>`;
};
