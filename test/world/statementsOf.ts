// Counts the SQL statements of each request that this process serves, also while other requests and jobs run.
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import pg from 'pg';

const CHANNEL = 'http.server.request.start';
/** The header in which the client names its request. */
const NAME = 'x-counted';
/** Statements of transactions and of new connections don’t count. */
const NOT_COUNTED = /^\s*(?:BEGIN|COMMIT|ROLLBACK|SET )|pg_control_system/i;

export interface CountedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface CountedRequests {
  /** Returns the header that names the request. */
  readonly headers: (name: string) => Readonly<Record<string, string>>;
  readonly statements: (name: string) => readonly CountedStatement[];
  readonly stop: () => void;
}

export const countRequests = (): CountedRequests => {
  const context = new AsyncLocalStorage<CountedStatement[]>();
  const all = new Map<string, CountedStatement[]>();
  const onRequest = (message: unknown): void => {
    const name = (message as { request: IncomingMessage }).request.headers[NAME];
    if (typeof name !== 'string') return;
    const own: CountedStatement[] = [];
    all.set(name, own);
    context.enterWith(own);
  };
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function counted(this: pg.Client, ...values: unknown[]) {
    const [statement, more] = values as [string | { text: string; values?: unknown[] }, unknown[]?];
    const { text, values: own = more ?? [] } = typeof statement === 'string' ? { text: statement } : statement;
    if (!NOT_COUNTED.test(text)) context.getStore()?.push({ text, values: own });
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
