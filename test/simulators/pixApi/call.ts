// The input and output of a handler.
import type { IncomingHttpHeaders } from 'node:http';
import type { Bank } from './bank.ts';
import type { Account } from './books.ts';

export interface Call {
  readonly bank: Bank;
  /** The account of the token. Its client has access to no other account. */
  readonly account: Account;
  /** The decoded variable parts of the path. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface Answer {
  readonly status: number;
  /** If omitted, the response has no body. */
  readonly body?: unknown;
  /** Runs after the response was sent, whether or not it arrives. */
  readonly afterwards?: () => void;
}
