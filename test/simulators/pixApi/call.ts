// What a handler gets and gives.
import type { IncomingHttpHeaders } from 'node:http';
import type { Bank } from './bank.ts';
import type { Account } from './books.ts';

export interface Call {
  readonly bank: Bank;
  /** The account of the token. Its client sees nothing of the others. */
  readonly account: Account;
  /** Parts of the path, decoded. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface Answer {
  readonly status: number;
  /** Absent: no body. */
  readonly body?: unknown;
  /** What the institution does after it answered, whether or not the answer arrives. */
  readonly afterwards?: () => void;
}
