// The account’s balance and its statement for one calendar day in São Paulo, which has had no daylight saving time since 2019.
import type { Account, Entry } from './books.ts';
import { time } from './wire.ts';

const DAY_MS = 86_400_000;

export interface Statement {
  readonly day: string;
  readonly opening: number;
  readonly received: number;
  /** Debits are negative: `opening + received + returned + paidOut + fees = closing`. */
  readonly returned: number;
  readonly paidOut: number;
  readonly fees: number;
  readonly closing: number;
  readonly lines: readonly {
    readonly at: string;
    readonly kind: Entry['kind'];
    readonly amount: number;
    readonly endToEndId: string;
  }[];
}

const sum = (entries: readonly Entry[], kind?: Entry['kind']): number =>
  entries.reduce((total, entry) => (kind === undefined || entry.kind === kind ? total + entry.amount : total), 0);

export const balanceOf = ({ client, entries }: Account): number => client.openingBalance + sum(entries.all());

/** Returns the statement of `day`, `yyyy-mm-dd`. */
export const statementOf = ({ client, entries }: Account, day: string): Statement => {
  const start = Date.parse(`${day}T00:00:00-03:00`);
  const opening = client.openingBalance + sum(entries.between(Number.NEGATIVE_INFINITY, start - 1));
  const today = entries.between(start, start + DAY_MS - 1);
  return {
    day,
    opening,
    received: sum(today, 'received'),
    returned: sum(today, 'returned'),
    paidOut: sum(today, 'paidOut'),
    fees: sum(today, 'fee'),
    closing: opening + sum(today),
    lines: today.map(({ at, kind, amount, endToEndId }) => ({ at: time(at), kind, amount, endToEndId })),
  };
};
