// Which payments a list shows: the rows of `rm_payments.listed` that pass its filter, as SQL with values.

import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { PaymentFilter } from '../../application/ports/readModels/payments.ts';
import { customerHash } from './listed.ts';

/** Values of a statement, numbered as they come. */
export class Values {
  readonly list: unknown[] = [];
  of(value: unknown): string {
    return `$${this.list.push(value)}`;
  }
}

/** The hash finds them by index, the document itself decides. */
const ofCustomer = (tenant: Tenant, documentKey: string, values: Values): string =>
  `customer_hash = ${values.of(customerHash(tenant, documentKey))}
   AND upper(regexp_replace(customer_document, '[^0-9A-Za-z]', '', 'g')) = ${values.of(documentKey)}`;

/** One SELECT a status, so that each comes from its index in order and they are merged; the search stops with the page. */
export const rowsOf = (tenant: Tenant, { statuses, from, to, documentKey }: PaymentFilter, values: Values): string => {
  const conditions = [
    `account_id = ${values.of(tenant.accountId)} AND mode = ${values.of(tenant.mode)}`,
    ...(from === null ? [] : [`created_at >= ${values.of(from)}`]),
    ...(to === null ? [] : [`created_at <= ${values.of(to)}`]),
    ...(documentKey === null ? [] : [ofCustomer(tenant, documentKey, values)]),
  ].join(' AND ');
  const select = `SELECT * FROM rm_payments.listed WHERE ${conditions}`;
  if (statuses === null) return select;
  return statuses.map((status) => `${select} AND status = ${values.of(status)}`).join(' UNION ALL ');
};

export const NEWEST_FIRST = 'created_at DESC, id';
