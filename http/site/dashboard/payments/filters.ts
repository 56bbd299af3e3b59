// Filters and sorting of payments: the form's fields, and the query of the list that they give.
import { areIds, customerTermsOf, searchTermsOf } from '../../../../application/payments/searchTerms.ts';
import {
  type CursorOrder,
  EVERY_PAYMENT,
  NEWEST_FIRST,
  type PaymentFilter,
} from '../../../../application/ports/readModels/payments.ts';
import { PAYMENT_METHODS } from '../../../../domain/charge/methods.ts';
import { civilDayBounds } from '../../../../domain/kernel/civilDay.ts';
import { centavosOf } from '../../../../domain/presentation/amount.ts';
import { PUBLIC_STATUSES, transactionStatusesOf } from '../../../../domain/presentation/status.ts';
import { html, type Markup } from '../../html.ts';
import { type Reader, textQuery } from '../page.ts';
import { options, statusOptions } from '../parts.ts';

export const filterQuery = {
  q: textQuery('An id, txid, end-to-end id, CPF, CNPJ, email address or amount.'),
  status: textQuery('Only payments in this status.'),
  sort: textQuery('The order.'),
  method: textQuery('Only payments that were paid with this method, or can be.'),
  customer: textQuery('Only payments of the customer with this CPF, CNPJ, email address or id.'),
  from: textQuery('Only payments created on this day of São Paulo or later.'),
  to: textQuery('Only payments created on this day of São Paulo or earlier.'),
  min: textQuery('Only payments of at least this amount.'),
  max: textQuery('Only payments of at most this amount.'),
} as const;
type Field = keyof typeof filterQuery;
const FIELDS = Object.keys(filterQuery) as readonly Field[];
/** The fields that the page shows on request. */
const MORE: readonly Field[] = ['method', 'customer', 'from', 'to', 'min', 'max'];

export type Asked = { readonly [Name in Field]?: string | undefined };

const SORTS = ['newest', 'oldest', 'highest', 'lowest'] as const;
type Sort = (typeof SORTS)[number];
const ORDERS: { readonly [S in Sort]: CursorOrder } = {
  newest: NEWEST_FIRST,
  oldest: { by: 'createdAt', direction: 'asc' },
  highest: { by: 'amount', direction: 'desc' },
  lowest: { by: 'amount', direction: 'asc' },
};

export interface Listing {
  readonly filter: PaymentFilter;
  readonly order: CursorOrder;
  /** Whether the search names one payment by an id. */
  readonly isNamed: boolean;
  readonly isFiltered: boolean;
  /** The problems by field. */
  readonly problems: { readonly [Name in Field]?: string };
}

/** Returns the fields with a value, for an address. */
export const addressOf = (path: string, asked: Asked, more: { readonly [name: string]: string } = {}): string => {
  const kept = FIELDS.flatMap((name) => (asked[name] ? [[name, asked[name]] as [string, string]] : []));
  const query = new URLSearchParams([...kept, ...Object.entries(more)]).toString();
  return query === '' ? path : `${path}?${query}`;
};

const filled = (text: string | undefined): string | null => text?.trim() || null;
const oneOf = <Value extends string>(values: readonly Value[], text: string | undefined): Value | undefined =>
  values.find((one) => one === text);

export const listingOf = (asked: Asked, { texts: { payments } }: Pick<Reader, 'texts'>): Listing => {
  const problems: { [Name in Field]?: string } = {};
  /** Reads a field, or records its problem. */
  const read = <Value>(field: Field, parse: (text: string) => Value | null, problem: string): Value | null => {
    const text = filled(asked[field]);
    const value = text === null ? null : parse(text);
    if (text !== null && value === null) problems[field] = problem;
    return value;
  };
  const dayOf = (text: string) => civilDayBounds(text, 'America/Sao_Paulo');
  const termsOf = (parse: typeof searchTermsOf) => (text: string) => {
    const terms = parse(text);
    return terms.length === 0 ? null : terms;
  };
  const from = read('from', dayOf, payments.badDay)?.from ?? null;
  const to = read('to', dayOf, payments.badDay)?.to ?? null;
  const amountFrom = read('min', centavosOf, payments.badAmount);
  const amountTo = read('max', centavosOf, payments.badAmount);
  if (from !== null && to !== null && from > to) problems.to = payments.endsBefore;
  if (amountFrom !== null && amountTo !== null && amountFrom > amountTo) problems.max = payments.endsBefore;
  const found = read('q', termsOf(searchTermsOf), payments.tooLong);
  const customer = read('customer', termsOf(customerTermsOf), payments.tooLong);
  const status = oneOf(PUBLIC_STATUSES, asked.status);
  const method = oneOf(PAYMENT_METHODS, asked.method) ?? null;
  const statuses = status === undefined ? null : transactionStatusesOf(status);
  const others = FIELDS.filter((name) => name !== 'q' && name !== 'sort' && filled(asked[name]) !== null);
  return {
    filter: { ...EVERY_PAYMENT, statuses, from, to, amountFrom, amountTo, method, found, customer },
    order: ORDERS[oneOf(SORTS, asked.sort) ?? 'newest'],
    isNamed: found !== null && areIds(found) && others.length === 0,
    isFiltered: found !== null || others.length > 0,
    problems,
  };
};

/** The form with the submitted values, and each field's problem beside it. */
export const filterForm = (asked: Asked, { problems }: Pick<Listing, 'problems'>, reader: Reader): Markup => {
  const { texts, to } = reader;
  const { payments } = texts;
  const labelled = (field: Field, label: string, control: Markup): Markup => {
    const problem = problems[field];
    const said = problem === undefined ? null : html`<span class="wrong small" id="wrong-${field}">${problem}</span>`;
    return html`<label${field === 'q' || field === 'customer' ? html` class="wide"` : null}>${label}${control}${said}</label>`;
  };
  const input = (field: Field, label: string, attributes: Markup): Markup =>
    labelled(
      field,
      label,
      html`<input name="${field}" value="${asked[field] ?? ''}" ${attributes}${problems[field] === undefined ? null : html` aria-invalid="true" aria-describedby="wrong-${field}"`}>`,
    );
  const select = (field: Field, label: string, options: Markup): Markup =>
    labelled(field, label, html`<select name="${field}">${options}</select>`);
  const isOpen = MORE.some((name) => asked[name]);
  return html`<form method="get" action="${to('/payments')}" class="filters" role="search" aria-label="${payments.filters}">
${input('q', payments.search, html`type="search" placeholder="${payments.searchHint}"`)}
${select('status', payments.status, statusOptions(PUBLIC_STATUSES, oneOf(PUBLIC_STATUSES, asked.status), texts.statuses, reader))}
${select(
  'sort',
  payments.sort,
  html`${options(
    SORTS.map((one) => [one, payments.sorts[one]]),
    oneOf(SORTS, asked.sort) ?? 'newest',
  )}`,
)}
<button class="second">${texts.apply}</button>
<details class="more"${isOpen ? html` open` : null}><summary>${payments.moreFilters}</summary><div class="filters">
${input('from', payments.from, html`type="date"`)}${input('to', payments.to, html`type="date"`)}
${input('min', payments.min, html`inputmode="decimal" autocomplete="off"`)}${input('max', payments.max, html`inputmode="decimal" autocomplete="off"`)}
${select('method', payments.method, statusOptions(PAYMENT_METHODS, oneOf(PAYMENT_METHODS, asked.method), texts.methods, reader))}
${input('customer', payments.customer, html`placeholder="${payments.customerHint}" autocomplete="off"`)}</div></details></form>`;
};
