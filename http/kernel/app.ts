// The HTTP application: a request passes request id, route, overload, authentication, rate limit, body, schema, idempotency key, handler
// and serializer, in this order (architecture §8).
import { setTimeout } from 'node:timers/promises';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { CommandContention, StreamUnreadable } from '../../application/core/commandHandler.ts';
import { PasswordHashingBusy } from '../../application/ports/credentials.ts';
import { AppendOutcomeUnknown, EventStoreUnavailable } from '../../application/ports/eventStore.ts';
import { EvidenceStorageUnavailable } from '../../application/ports/evidenceStorage.ts';
import { ProviderUnavailable } from '../../application/ports/paymentProvider.ts';
import { ReadModelsBehind } from '../../application/ports/readModels/progress.ts';
import type { AnsweredRequest, BeginRequest } from '../../application/ports/requestLog.ts';
import type { OperatorRequest } from '../../application/ports/securityEvents.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf } from './address.ts';
import {
  type Admission,
  admit,
  beyondAddressLimit,
  boundInFlight,
  IN_FLIGHT_MAX,
  OVERLOADED,
  type Passage,
  takesPlace,
  UNCOUNTED,
  warnOfForwarding,
} from './admission.ts';
import type { Refusal } from './answers.ts';
import { BodyCutOff, type BodyReader, bodyReader, PayloadTooLarge } from './body.ts';
import type { Caller, KnownCaller } from './callers.ts';
import type { Route, RouteContext, RouteResult } from './route.ts';
import {
  ERROR_PAGE,
  type ErrorPage,
  PUBLIC_URL,
  preferencesOf,
  requestId,
  requestIdOf,
  sendError,
  sendResult,
  transportSecurity,
} from './send.ts';
import { assertCaughtUp } from './upToDate.ts';
import { idempotencyKeyOf, readQuery } from './validation.ts';

export interface AppOptions extends Admission {
  readonly routes: readonly Route[];
  readonly trustProxy: string | number | boolean;
  readonly newRequestId: () => string;
  /** What browsers are shown in place of an error body, outside the API; null: nothing. */
  readonly errorPage: ErrorPage | null;
  /** Every 5xx, with its request id. The answer never says more than its code. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Every change that an operator asked for, whatever became of it. */
  readonly onOperatorRequest: (request: OperatorRequest) => void;
  readonly onAnswer?: (route: string, status: number, seconds: number) => void;
  /** The request log. */
  readonly beginRequest: BeginRequest;
}

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

export const createApp = (options: AppOptions): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true); // A proxy's rule on /ops/ must not be passed by /OPS/ (rule S7).
  app.set('trust proxy', options.trustProxy);
  app.set(PUBLIC_URL, options.services.baseUrl);
  app.set(ERROR_PAGE, options.errorPage);
  const always = new Map(Object.entries(transportSecurity(options.services.baseUrl)));
  app.use(requestId(options.newRequestId, always));
  if (options.trustProxy === false) app.use(warnOfForwarding(options.onSecurityEvent));
  else app.use(boundInFlight(IN_FLIGHT_MAX));
  const refuse = refusing(options);
  for (const [path, routes] of Map.groupBy(options.routes, (route) => route.path)) {
    const at = app.route(expressPath(path));
    for (const route of routes) at[route.method.toLowerCase() as Lowercase<Route['method']>](serve(route, options));
    const allow = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    at.all((req, res) => {
      res.setHeader('Allow', allow);
      return refuse(req, res, { code: 'method_not_allowed', message: `${req.method} is not allowed here.` });
    });
  }
  app.use((req: Request, res: Response) => refuse(req, res, { code: 'not_found', message: 'There is no such route.' }));
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => fault(error, req, res, options));
  return app;
};

/** Headers for browsers; the pages bring their own content security policy. */
const protect = helmet({ contentSecurityPolicy: false, hsts: false, referrerPolicy: { policy: 'no-referrer' } });

const folderOf = (path: string): string => path.split('/')[1] ?? '';

/** What no route takes: in a folder of pages it is protected and counted like those that are there. */
const refusing = (options: AppOptions) => {
  const folders = new Set(options.routes.filter(({ limit }) => limit === 'pages').map(({ path }) => folderOf(path)));
  return async (req: Request, res: Response, refusal: Omit<Rejection, 'rejected'>): Promise<void> => {
    const isPage = folders.has(folderOf(req.path));
    if (isPage) protect(req, res, () => undefined);
    const limited = isPage ? await beyondAddressLimit('pages', req, res, options) : null;
    sendError(req, res, limited ?? refusal);
  };
};

const serve = (route: Route, options: AppOptions) => {
  const readBody = bodyReader(route.body);
  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    if (route.limit === 'pages') protect(req, res, () => undefined);
    const place = takesPlace(route) ? options.overload.enter() : UNCOUNTED;
    const record = options.beginRequest();
    const passage: Passage = { place: place ?? UNCOUNTED, caller: null };
    try {
      const result = place === null ? OVERLOADED : await resultOf(route, readBody, req, res, passage, options);
      if (isRejection(result)) sendError(req, res, result);
      // A stream goes on by itself: it takes no place.
      else sendResult(req, res, result).catch((error: unknown) => fault(error, req, res, options));
    } catch (error) {
      fault(error, req, res, options);
    } finally {
      place?.leave();
    }
    const durationMs = performance.now() - started;
    options.onAnswer?.(route.operationId, res.statusCode, durationMs / 1000);
    if (passage.caller !== null) record(answeredRequest(req, res, passage.caller, durationMs));
    if (passage.caller !== null && route.principal === 'operator' && route.method !== 'GET')
      options.onOperatorRequest({
        by: passage.caller.actor,
        operation: route.operationId,
        ...req.params,
        status: res.statusCode,
        requestId: requestIdOf(req),
      });
  };
};

const resultOf = async (
  route: Route,
  readBody: BodyReader,
  req: Request,
  res: Response,
  passage: Passage,
  options: AppOptions,
): Promise<RouteResult | Refusal> => {
  const { services } = options;
  const { place } = passage;
  const caller = await admit(route, req, res, passage, options);
  if (isRejection(caller)) return caller;
  const refusal = route.refusalOf(caller);
  if (refusal !== null) return refusal;
  const query = readQuery(route, req.query as Record<string, unknown>);
  if (isRejection(query)) return query;
  const body = await readBody(req, res, place, { mode: modeOf(caller), services });
  if (isRejection(body)) return body;
  // Shape is judged before the key (K2a).
  const idempotencyKey = Object.hasOwn(route.headers, 'Idempotency-Key') ? idempotencyKeyOf(req) : '';
  if (isRejection(idempotencyKey)) return idempotencyKey;
  if (route.reads.length > 0) await assertCaughtUp(services, route.reads);
  const params = readParams(route, req.params as Record<string, string>);
  if (isRejection(params)) return params;
  return route.handle({
    caller,
    params: params.params,
    query: query.query,
    body: body.body as RouteContext['body'],
    idempotencyKey,
    requestId: requestIdOf(req),
    // Made when asked for: few routes count by it.
    get address() {
      return addressOf(req);
    },
    prefers: preferencesOf(req),
    pause: (ms) => place.waiting(setTimeout(ms, undefined, { ref: false })),
    apart: (turn) => place.waiting(turn),
    services,
  });
};

/** Whoever has no mode is judged as in live, the stricter one. */
const modeOf = (caller: unknown): Mode => (caller as Partial<Caller> | null)?.tenant?.mode ?? 'live';

/** What the path names, or the first of it that is none. */
const readParams = (
  { params: rules }: Route,
  texts: Readonly<Record<string, string>>,
): { params: Record<string, unknown> } | Rejection => {
  const params: Record<string, unknown> = {};
  for (const [name, { parse }] of Object.entries(rules)) {
    const value = parse(texts[name] ?? '');
    if (isRejection(value)) return value;
    params[name] = value;
  }
  return { params };
};

const fault = (error: unknown, req: Request, res: Response, options: AppOptions): void => {
  const rejection = explain(error, requestIdOf(req), options);
  if (res.headersSent) res.destroy();
  else sendError(req, res, rejection);
};

/** Returns what the client gets: the code, never more. Every 5xx but the provider's and those of parked streams is reported. */
const explain = (error: unknown, requestId: string, { onFault }: AppOptions): Rejection => {
  const status = (error as { status?: number }).status;
  if (status === 400) return reject('invalid_request', 'The request could not be read.');
  if (error instanceof PayloadTooLarge) return reject('payload_too_large', 'The body is too large.');
  if (error instanceof BodyCutOff) return reject('invalid_request', 'The body did not arrive whole.');
  if (error instanceof ProviderUnavailable) return reject('service_unavailable', error.message);
  // Many requests may meet one parked stream or one slow read model; log and metrics report the consumer itself.
  if (!(error instanceof ReadModelsBehind)) onFault(error, requestId);
  const again = 'Repeat the request with the same Idempotency-Key.';
  return UNAVAILABLE.some((kind) => error instanceof kind) || isDatabaseAway(error)
    ? reject('service_unavailable', `The service is not available at the moment. ${again}`)
    : reject('internal_error', `Something went wrong on our side. ${again}`);
};

/** Errors after which nothing is half done and a repeat is safe. */
const UNAVAILABLE = [
  EventStoreUnavailable,
  AppendOutcomeUnknown,
  CommandContention,
  ReadModelsBehind,
  StreamUnreadable,
  PasswordHashingBusy,
  EvidenceStorageUnavailable,
];

/**
 * Failures of `pg` that pass: of connections (class 08 and 57, socket errors, the pool's own time-out), of disk, memory or places for
 * connections that ran out (53); and read models that are not there yet.
 */
const isDatabaseAway = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: string; message?: string };
  return (
    /^(08|53|57|42P01|3F000)/.test(code ?? '') ||
    /^E(CONN|PIPE|TIMEDOUT)/.test(code ?? '') ||
    /Connection terminated|timeout e(xpired|xceeded when trying to connect)/.test(message)
  );
};

// --- The request log (rule D3): it holds no body, no query and no secret ---

const PATH_LENGTH_MAX = 256;
/** API keys and tokens, which clients should not put into a path; the cut may have shortened them. */
const SECRET = /ak_(?:test|live)_[\w-]+|eyJ[\w.-]+/g;
const KEY_ACTOR = 'key:';

/** Cut before it is masked: a path may be as long as the headers. */
const pathOf = ({ path }: Request): string => path.slice(0, PATH_LENGTH_MAX).replace(SECRET, '***');

export const answeredRequest = (
  req: Request,
  { statusCode }: Response,
  caller: KnownCaller,
  durationMs: number,
): AnsweredRequest => ({
  requestId: requestIdOf(req),
  accountId: 'tenant' in caller ? caller.tenant.accountId : null,
  // A user acts in both modes.
  mode: 'userId' in caller ? null : caller.tenant.mode,
  method: req.method,
  path: pathOf(req),
  status: statusCode,
  durationMs: Math.round(durationMs),
  keyFingerprint: caller.actor.startsWith(KEY_ACTOR) ? caller.actor.slice(KEY_ACTOR.length) : null,
  userId: 'userId' in caller ? caller.userId : null,
});
