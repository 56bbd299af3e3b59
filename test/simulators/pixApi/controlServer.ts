// The control actions over HTTP: plain JSON on loopback.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Control } from './control.ts';
import type { FaultOrder } from './faults.ts';
import { type ChargePayment, ControlError, type ForeignReturn, type KeyPayment, type ManyPayments } from './orders.ts';
import { bodyOf, send } from './sending.ts';
import type { Settings } from './settings.ts';

interface Order {
  readonly control: Control;
  /** The decoded variable parts of the path. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Decision {
  readonly outcome: 'done' | 'refused';
  readonly reason?: string;
}
type Action = (order: Order) => unknown;

const clientOf = ({ query }: Order): string | undefined => query.get('clientId') ?? undefined;

const PAYMENT = ['amount', 'withdrawal', 'payer', 'paidAt', 'note', 'showPayer'];
const DECISION = ['outcome', 'reason'];

/** `*` in a path matches one segment. A body may have only the listed fields. An action without a result responds with `{}`. */
const ACTIONS: Readonly<Record<string, readonly [fields: readonly string[] | 'any', action: Action]>> = {
  'POST /charges/*/pay': [
    [...PAYMENT, 'force', 'clientId'],
    ({ control, params: [txid = ''], body }) => ({ endToEndId: control.pay(txid, body as ChargePayment) }),
  ],
  'POST /charges/*/remove': [
    ['clientId'],
    ({ control, params: [txid = ''], body }) => control.remove(txid, body['clientId'] as string | undefined),
  ],
  'POST /keys/*/pay': [
    [...PAYMENT, 'txid'],
    ({ control, params: [key = ''], body }) => ({ endToEndId: control.payKey(key, body as unknown as KeyPayment) }),
  ],
  'POST /keys/*/receive-many': [
    ['count', 'amount', 'from', 'to'],
    ({ control, params: [key = ''], body }) => control.receiveMany(key, body as unknown as ManyPayments),
  ],
  'POST /pix/*/return': [
    ['amount', 'nature', 'reason'],
    ({ control, params: [endToEndId = ''], body }) => ({ id: control.returnPix(endToEndId, body as ForeignReturn) }),
  ],
  'POST /pix/*/returns/*/decide': [
    DECISION,
    ({ control, params: [endToEndId = '', id = ''], body }) => {
      const { outcome, reason } = body as unknown as Decision;
      control.decideReturn(endToEndId, id, outcome, reason);
    },
  ],
  'POST /pix/*/announce': [[], ({ control, params: [endToEndId = ''] }) => control.announceAgain(endToEndId)],
  'POST /payouts/*/decide': [
    DECISION,
    ({ control, params: [id = ''], body }) => {
      const { outcome, reason } = body as unknown as Decision;
      control.decidePayout(id, outcome, reason);
    },
  ],
  'POST /settings': ['any', ({ control, body }) => control.set(body as Partial<Settings>)],
  'POST /clock': [['offsetMs'], ({ control, body }) => control.setClock(body['offsetMs'] as number)],
  'POST /faults': [
    ['on', 'kind', 'when', 'times', 'skip', 'matching', 'ms', 'retryAfter'],
    ({ control, body }) => control.fault(body as unknown as FaultOrder),
  ],
  'DELETE /faults': [[], ({ control }) => control.clearFaults()],
  'POST /tokens/expire': [[], ({ control }) => control.expireTokens()],
  'POST /callbacks/pause': [[], ({ control }) => control.pauseCallbacks()],
  'POST /callbacks/drop': [[], ({ control }) => control.dropCallbacks()],
  'POST /callbacks/resume': [[], ({ control }) => control.resumeCallbacks()],
  'POST /callbacks/flush': [[], ({ control }) => control.flushCallbacks()],
  'GET /state': [[], ({ control }) => control.state()],
  'GET /balance': [[], (order) => ({ balance: order.control.balance(clientOf(order)) })],
  'GET /statement': [[], (order) => order.control.statement(order.query.get('day') ?? '', clientOf(order))],
};
const ROUTES = Object.entries(ACTIONS).map(([place, [fields, action]]) => ({
  pattern: new RegExp(`^${place.replaceAll('*', '([^/]+)')}$`),
  fields,
  action,
}));

const objectOf = (text: string): Order['body'] => {
  try {
    const body: unknown = JSON.parse(text || '{}');
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Order['body'];
  } catch {
    // Falls through to the same error as for JSON that is not an object.
  }
  throw new ControlError(400, 'The body must be a JSON object.');
};
const bodyFrom = (text: string, fields: readonly string[] | 'any'): Order['body'] => {
  const body = objectOf(text);
  const unknown = fields === 'any' ? undefined : Object.keys(body).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw new ControlError(400, `"${unknown}" is not a known field.`);
  return body;
};

export const controlListener = (control: Control) => {
  const act = async (req: IncomingMessage): Promise<unknown> => {
    const url = new URL(req.url ?? '/', 'http://simulator.invalid');
    for (const { pattern, fields, action } of ROUTES) {
      const found = pattern.exec(`${req.method} ${url.pathname}`);
      if (found === null) continue;
      const params = found.slice(1).map(decodeURIComponent);
      return action({ control, params, query: url.searchParams, body: bodyFrom(await bodyOf(req), fields) });
    }
    throw new ControlError(404, `There is no ${req.method} ${url.pathname}.`);
  };
  return (req: IncomingMessage, res: ServerResponse): void => {
    const answer = (status: number, body: unknown): void =>
      send(res, { status, contentType: 'application/json', text: JSON.stringify(body) });
    act(req).then(
      (result) => answer(200, result ?? {}),
      (error: unknown) =>
        answer(error instanceof ControlError ? error.status : 500, {
          error: error instanceof Error ? error.message : String(error),
        }),
    );
  };
};
