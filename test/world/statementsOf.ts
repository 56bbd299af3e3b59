// Counts the SQL statements of each request that this process serves, however many requests and jobs run at once.
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import pg from 'pg';

const CHANNEL = 'http.server.request.start';
/** The client names its request. */
const NAME = 'x-counted';
const NOT_COUNTED = /^\s*(?:BEGIN|COMMIT|ROLLBACK)/i;

export interface CountedRequests {
  /** Sends this header with the request. */
  readonly headers: (name: string) => Readonly<Record<string, string>>;
  /** Returns the texts of the request's statements. */
  readonly statements: (name: string) => readonly string[];
  readonly stop: () => void;
}

export const countRequests = (): CountedRequests => {
  const context = new AsyncLocalStorage<string[]>();
  const all = new Map<string, string[]>();
  const onRequest = (message: unknown): void => {
    const name = (message as { request: IncomingMessage }).request.headers[NAME];
    if (typeof name !== 'string') return;
    const own: string[] = [];
    all.set(name, own);
    context.enterWith(own);
  };
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(this: pg.Client, ...values: unknown[]) {
    const [statement] = values as [string | { text: string }];
    const text = typeof statement === 'string' ? statement : statement.text;
    if (!NOT_COUNTED.test(text)) context.getStore()?.push(text);
    return (query as (...all: unknown[]) => unknown).apply(this, values);
  } as typeof query;
  subscribe(CHANNEL, onRequest);
  return {
    headers: (name) => ({ [NAME]: name }),
    statements: (name) => all.get(name) ?? [],
    stop: () => {
      unsubscribe(CHANNEL, onRequest);
      pg.Client.prototype.query = query;
    },
  };
};
