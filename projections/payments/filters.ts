// SQL of the filters of payment lists, of one account and mode.
import {
  type Cursor,
  type CursorOrder,
  NEWEST_FIRST,
  type PaymentFilter,
  type SearchTerm,
} from '../../application/ports/readModels/payments.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import { hashOf } from '../engine/aggregateTable.ts';
import { hasMethod } from './methods.ts';
import { emailKeyOf, searchKeyText } from './searchKeys.ts';

/** Values of a statement, numbered in order. */
export class Values {
  readonly list: unknown[] = [];
  of(value: unknown): string {
    return `$${this.list.push(value)}`;
  }
}

/** Where one term finds payments `p`: a condition on them, or on their row `k` of the search's index. */
interface Place {
  readonly isKey: boolean;
  readonly condition: string;
}

const columnPlace = (condition: string): Place => ({ isKey: false, condition });

/** Returns a condition for a tenant's customer, found by hash and confirmed by key. */
const isOfCustomer = ({ accountId, mode }: Tenant, documentKey: string, values: Values): string =>
  `p.customer_hash = ${hashOf(values.of(`${accountId}${mode}${documentKey}`))} AND p.customer_key = ${values.of(documentKey)}`;

/** Returns where the term finds payments. */
const placesOf = (tenant: Tenant, term: SearchTerm, values: Values): readonly Place[] => {
  // A 64-bit hash needs no confirmation: among 10,000,000 keys, one wrong result is expected in 10^12 searches.
  const keyPlace = (kind: Parameters<typeof searchKeyText>[1], value: string): Place => ({
    isKey: true,
    condition: `k.key = ${hashOf(values.of(searchKeyText(tenant, kind, value)))}`,
  });
  switch (term.by) {
    case 'id':
      return [columnPlace(`p.id = ${values.of(term.id)}`)];
    case 'txid':
      return [columnPlace(`p.txid = ${values.of(term.txid)}`)];
    case 'amount':
      return [columnPlace(`p.amount = ${values.of(term.amount)}`)];
    case 'document':
      return [columnPlace(isOfCustomer(tenant, term.documentKey, values)), keyPlace('document', term.documentKey)];
    case 'reference':
      return [keyPlace('reference', term.reference)];
    case 'email':
      return [keyPlace('email', emailKeyOf(term.email))];
    case 'customerId':
      return [keyPlace('customerId', term.customerId)];
    default:
      return term satisfies never;
  }
};

const KEYS = 'rm_payments.search_keys k';

const isFound = (tenant: Tenant, terms: readonly SearchTerm[], values: Values): string =>
  `(${terms
    .flatMap((term) => placesOf(tenant, term, values))
    .map(({ isKey, condition }) =>
      isKey
        ? `EXISTS (SELECT FROM ${KEYS} WHERE ${condition} AND k.created_at = p.created_at AND k.id = p.id)`
        : `(${condition})`,
    )
    .join(' OR ')})`;

const conditionsOf = (tenant: Tenant, filter: PaymentFilter, values: Values): readonly string[] => {
  const { from, to, documentKey, amountFrom = null, amountTo = null, method = null } = filter;
  return [
    `p.account_id = ${values.of(tenant.accountId)} AND p.mode = ${values.of(tenant.mode)}`,
    'p.created_at IS NOT NULL', // a stream whose first event was skipped has nothing to show
    ...(from === null ? [] : [`p.created_at >= ${values.of(from)}`]),
    ...(to === null ? [] : [`p.created_at <= ${values.of(to)}`]),
    ...(amountFrom === null ? [] : [`p.amount >= ${values.of(amountFrom)}`]),
    ...(amountTo === null ? [] : [`p.amount <= ${values.of(amountTo)}`]),
    ...(method === null ? [] : [hasMethod(method)]),
    ...(documentKey === null ? [] : [isOfCustomer(tenant, documentKey, values)]),
  ];
};

/** A SELECT of rows `p` that match a filter, as a union of parts that each read an index in order. */
interface Rows {
  readonly text: string;
  /** Whether several parts may select the same row. */
  readonly repeats: boolean;
}

/** `endOf` returns the SQL after the conditions of a part; the rows `alias` have the part's order of creation. */
export const rowsOf = (
  tenant: Tenant,
  filter: PaymentFilter,
  values: Values,
  endOf: (alias: 'p' | 'k') => string = () => '',
  { by }: CursorOrder = NEWEST_FIRST,
): Rows => {
  const { statuses, customer = null } = filter;
  // If both searches are given, the customer's payments are read, because they are few.
  const [found, others] = customer === null ? [filter.found ?? null, null] : [customer, filter.found ?? null];
  const conditions = [
    ...conditionsOf(tenant, filter, values),
    ...(others === null ? [] : [isFound(tenant, others, values)]),
  ].join(' AND ');
  // The keys' index is in the order of creation, too.
  const select = (own: readonly string[], isKey = false): string =>
    `(SELECT p.* FROM ${isKey ? `${KEYS} JOIN rm_payments.payments p ON p.id = k.id` : 'rm_payments.payments p'}
      WHERE ${[conditions, ...own].join(' AND ')} ${endOf(isKey ? 'k' : 'p')})`;
  // The index of statuses is in the order of creation.
  if (found === null && statuses !== null && by === 'createdAt') {
    const parts = statuses.map((status) => select([`p.status = ${values.of(status)}`]));
    return { text: parts.join(' UNION ALL '), repeats: false };
  }
  const ofStatus = statuses === null ? [] : [`p.status = ANY(${values.of(statuses)}::text[])`];
  if (found === null) return { text: select(ofStatus), repeats: false };
  const parts = found
    .flatMap((term) => placesOf(tenant, term, values))
    .map(({ isKey, condition }) => select([condition, ...ofStatus], isKey));
  return { text: parts.join(' UNION ALL '), repeats: parts.length > 1 };
};

/** Returns the columns of the order; `desc` reads them backwards, except the id. */
const columnsOf = ({ by }: CursorOrder, alias: string): readonly string[] =>
  by === 'amount' ? [`${alias === 'k' ? 'p' : alias}.amount`, `${alias}.created_at`] : [`${alias}.created_at`];

/** Returns the list of ORDER BY. */
export const orderText = (order: CursorOrder, alias: string): string => {
  const isDescending = order.direction === 'desc';
  const columns = columnsOf(order, alias).map((column) => `${column}${isDescending ? ' DESC' : ''}`);
  return [...columns, `${alias}.id${isDescending ? '' : ' DESC'}`].join(', ');
};

/** Returns the columns that tell rows apart, in the order of `orderText`. */
export const distinctText = (order: CursorOrder, alias: string): string =>
  [...columnsOf(order, alias), `${alias}.id`].join(', ');

/** Returns the condition of rows after the cursor. */
export const isAfter = (
  order: CursorOrder,
  { createdAt, id, amount }: Cursor,
  values: Values,
  alias: string,
): string => {
  const isDescending = order.direction === 'desc';
  const columns = `(${columnsOf(order, alias).join(', ')})`;
  const at = `(${[...(order.by === 'amount' ? [values.of(amount)] : []), values.of(createdAt)].join(', ')})`;
  const beyond = isDescending ? '<' : '>';
  return `${columns} ${beyond}= ${at} AND (${columns} ${beyond} ${at} OR ${alias}.id ${isDescending ? '>' : '<'} ${values.of(id)})`;
};
