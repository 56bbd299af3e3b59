// /dashboard/{mode}/payments: payments filtered and sorted, and the same list as a file.
import { cursorAt } from '../../../../application/ports/readModels/payments.ts';
import type { Mode } from '../../../../domain/kernel/ids.ts';
import { type PaymentId, PREFIX, parseId } from '../../../../domain/kernel/ids.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
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
import { paymentsCsv } from './csv.ts';
import { type Asked, addressOf, filterForm, filterQuery, listingOf } from './filters.ts';
import { paymentsTable } from './table.ts';

const PAGE_SIZE = 25;

const query = { ...pageQuery, ...filterQuery, after: textQuery('The last payment of the page before.') } as const;

/** Returns the last payment of the previous page, or null. */
const lastSeen = async (after: string | undefined, { tenant, services }: Reader): Promise<ExistingPayment | null> => {
  const id = after === undefined ? null : parseId<PaymentId>(after, PREFIX.charge);
  return id === null ? null : services.views.payments.find(tenant, id);
};

const content = (list: Markup | null, form: Markup, { texts, to }: Reader, mayCreate: boolean): Markup =>
  html`${mayCreate ? html`<p class="row end"><a class="button" href="${to('/payments/new')}">${texts.payments.create}</a></p>` : null}${form}${list}`;

/** Links to the first page, the next one and the file, which keep the filters. */
const links = (asked: Asked, isFirst: boolean, last: ExistingPayment | undefined, { texts, to }: Reader): Markup => {
  const path = to('/payments');
  const next = last && addressOf(path, asked, { after: PREFIX.charge + last.charge.terms.paymentId });
  return html`<p class="row pager">${isFirst ? null : html`<a href="${addressOf(path, asked)}">${texts.payments.first}</a>`}
${next === undefined ? null : html`<a href="${next}" rel="next">${texts.payments.next}</a>`}
<a class="aside" href="${addressOf(`${path}/export`, asked)}" download>${texts.payments.download}</a></p>`;
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
    const { texts, to, tenant, services, mayChange } = reader;
    const asked = context.query;
    const listing = listingOf(asked, reader);
    const page = <Status extends 200 | 422>(status: Status, list: Markup | null) =>
      shownPage(status, context, reader, {
        title: texts.pages.payments,
        section: '/payments',
        main: content(list, filterForm(asked, listing, reader), reader, status === 200 && mayChange),
        hasSearch: true,
        ...(status === 422 && { problem: texts.payments.checkFilters }),
      });
    if (Object.keys(listing.problems).length > 0) return page(422, null);
    const seen = await lastSeen(asked.after, reader);
    const { filter, order } = listing;
    const rows = await services.views.payments.listAfter(tenant, filter, seen && cursorAt(seen), PAGE_SIZE + 1, order);
    const [first] = rows;
    if (listing.isNamed && rows.length === 1 && first !== undefined && seen === null)
      return redirect(to(`/payments/${first.charge.terms.paymentId}`));
    const shown = rows.slice(0, PAGE_SIZE);
    if (shown.length === 0)
      return page(
        200,
        html`<p class="empty">${listing.isFiltered ? texts.payments.emptyFiltered : texts.payments.empty}</p>`,
      );
    const last = rows.length > PAGE_SIZE ? shown.at(-1) : undefined;
    return page(
      200,
      html`<section class="panel">${paymentsTable(shown, reader)}${links(asked, seen === null, last, reader)}</section>`,
    );
  },
});

/** Longest time to send a file: 1,000,000 payments take minutes. */
const SEND_MS = 1_800_000;
const RETRY_AFTER_SECONDS = '5';

/** Returns a name such as `quita-test-loja-demo-payments-2026-11-01-2026-11-28.csv`. */
const fileName = (word: string, merchant: string, mode: Mode, { from, to }: Asked): string => {
  const name = merchant.normalize('NFD').toLowerCase().replaceAll(/\p{M}/gu, '');
  const slug = name
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  const parts = ['quita', mode === 'test' ? 'test' : '', slug, word, from?.trim() ?? '', to?.trim() ?? ''];
  return `${parts.filter((part) => part !== '').join('-')}.csv`;
};

const encoder = new TextEncoder();
async function* encoded(
  { head, line }: ReturnType<typeof paymentsCsv>,
  pages: AsyncIterable<readonly ExistingPayment[]>,
): AsyncGenerator<Uint8Array> {
  yield encoder.encode(head);
  for await (const page of pages) if (page.length > 0) yield encoder.encode(page.map(line).join(''));
}

export const exportPaymentsRoute = route('GET', '/dashboard/{mode}/payments/export', {
  ...ofMember,
  operationId: 'exportPayments',
  summary: 'Download the filtered payments as a CSV file',
  params: modeParam,
  query: { ...pageQuery, ...filterQuery },
  reads: ['payments'],
  responses: {
    200: { kind: 'bytes', description: 'The file.', contentTypes: ['text/csv'] },
    303: REDIRECT,
  },
  handle: async (context) => {
    const reader = readerOf(context);
    const { texts, to, tenant, services, caller, language, mode } = reader;
    const asked = context.query;
    const { filter, order, problems } = listingOf(asked, reader);
    // The page shows the problems.
    if (Object.keys(problems).length > 0) return redirect(addressOf(to('/payments'), asked));
    const exported = services.exportPayments(tenant, filter, order);
    if (isRejection(exported)) return { ...exported, headers: { 'Retry-After': RETRY_AFTER_SECONDS } };
    const { merchantName } = caller.account.settings;
    return {
      status: 200,
      headers: {
        'Content-Disposition': `attachment; filename="${fileName(texts.csv.word, merchantName, mode, asked)}"`,
      },
      contentType: 'text/csv; charset=utf-8',
      chunks: encoded(paymentsCsv(texts, language), exported.pages),
      sendMs: SEND_MS,
      close: exported.close,
    };
  },
});
