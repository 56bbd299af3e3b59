// The HTTP application. A request passes these steps in order: request id, route, overload, authentication, rate limit, body, schema,
// idempotency key, handler, serializer (architecture §8).
import { parse as parseQuery } from 'node:querystring';
import { setTimeout } from 'node:timers/promises';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { CommandContention, StreamUnreadable } from '../../application/core/commandHandler.ts';
import { AppendOutcomeUnknown, EventStoreUnavailable } from '../../application/ports/eventStore.ts';
import { EvidenceStorageUnavailable } from '../../application/ports/evidenceStorage.ts';
import { KeyedTurns } from '../../application/ports/keyedTurns.ts';
import { PasswordHashingBusy } from '../../application/ports/logins.ts';
import { ProviderUnavailable } from '../../application/ports/paymentProvider.ts';
import { ReadModelsBehind } from '../../application/ports/readModels/progress.ts';
import type { AnsweredRequest, BeginRequest } from '../../application/ports/requestLog.ts';
import type { OperatorRequest } from '../../application/ports/securityEvents.ts';
import { SenderFailed } from '../../application/ports/webhookSender.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf } from './address.ts';
import {
  type Admission,
  admit,
  admitAgain,
  beyondAddressLimit,
  boundInFlight,
  IN_FLIGHT_MAX,
  nextTurn,
  OVERLOADED,
  type Passage,
  takesPlace,
  UNCOUNTED,
  warnOfForwarding,
} from './admission.ts';
import type { Refusal } from './answers.ts';
import { BodyCutOff, type BodyReader, bodyReader, hasBody, PayloadTooLarge } from './body.ts';
import {
  type Caller,
  type Callers,
  ENROLMENT,
  isOfBrowser,
  isOfOperators,
  type KnownCaller,
  type Principal,
  SIGN_IN,
} from './callers.ts';
import { cookieIn } from './cookies.ts';
import { BodyMalformed, MALFORMED_FORM } from './fileForm.ts';
import { type Form, forgeryOf } from './forms.ts';
import type { Route, RouteContext, RouteResult } from './route.ts';
import {
  ERROR_PAGE,
  type ErrorPage,
  isForBrowser,
  PUBLIC_URL,
  preferencesOf,
  requestId,
  requestIdOf,
  sendError,
  sendResult,
  transportSecurity,
} from './send.ts';
import { assertCaughtUp, findingWritten } from './upToDate.ts';
import { idempotencyKeyOf, readQuery } from './validation.ts';

export interface AppOptions extends Admission {
  readonly routes: readonly Route[];
  /** Paths of another listener. They don't exist here, even where a route's parameter would match them (rule S7). */
  readonly absentPaths?: readonly string[];
  readonly trustProxy: string | number | boolean;
  readonly newRequestId: () => string;
  /** The page that browsers get instead of an error body, outside the API; null if absent. */
  readonly errorPage: ErrorPage | null;
  /** Called for every 5xx. The response itself never contains the cause. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Called for every change that an operator requests, whether or not it succeeds. */
  readonly onOperatorRequest: (request: OperatorRequest) => void;
  readonly onAnswer?: (route: string, status: number, seconds: number) => void;
  /** The request log. */
  readonly beginRequest: BeginRequest;
}

/**
 * Reads of an account at once in each process: half of the connections for reads (infrastructure/boot/storage.ts), so that its slow lists
 * leave some to the reads of other accounts (rule E8). Those that wait count as requests in progress, which bounds them.
 */
export const READS_AT_ONCE = 2;

type Serving = AppOptions & { readonly readTurns: KeyedTurns };

const NO_ROUTE = { code: 'not_found', message: 'There is no such route.' } as const;

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/**
 * By default, Node ignores parameters after the 1,000th separator, and with them filters (rule I12). The size of headers bounds the work.
 */
const readAllParameters = (query: string) => parseQuery(query, '&', '=', { maxKeys: 0 });

export const createApp = (options: AppOptions): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', readAllParameters);
  app.set('case sensitive routing', true); // Otherwise /OPS/ would bypass a proxy's rule on /ops/ (rule S7).
  app.set('trust proxy', options.trustProxy);
  app.set(PUBLIC_URL, options.services.baseUrl);
  app.set(ERROR_PAGE, options.errorPage);
  const always = new Map(Object.entries(transportSecurity(options.services.baseUrl)));
  app.use(requestId(options.newRequestId, always));
  if (options.trustProxy === false) app.use(warnOfForwarding(options.onSecurityEvent));
  else app.use(boundInFlight(IN_FLIGHT_MAX));
  const refuse = refusing(options);
  const serving: Serving = { ...options, readTurns: new KeyedTurns(READS_AT_ONCE) };
  for (const path of options.absentPaths ?? []) app.all(expressPath(path), (req, res) => refuse(req, res, NO_ROUTE));
  for (const [path, routes] of Map.groupBy(options.routes, (route) => route.path)) {
    const at = app.route(expressPath(path));
    for (const route of routes) at[route.method.toLowerCase() as Lowercase<Route['method']>](serve(route, serving));
    const allow = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    at.all((req, res) => {
      res.setHeader('Allow', allow);
      return refuse(req, res, { code: 'method_not_allowed', message: `${req.method} is not allowed here.` });
    });
  }
  app.use((req: Request, res: Response) => refuse(req, res, NO_ROUTE));
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => fault(error, req, res, options));
  return app;
};

/** Security headers for browsers. Each page sets its own Content-Security-Policy. */
const protect = helmet({ contentSecurityPolicy: false, hsts: false, referrerPolicy: { policy: 'no-referrer' } });

const folderOf = (path: string): string => path.split('/')[1] ?? '';

/** Answers requests that match no route. In a folder of pages they get the same headers and limits as existing pages. */
const refusing = (options: AppOptions) => {
  const folders = new Set(options.routes.filter(({ limit }) => limit === 'pages').map(({ path }) => folderOf(path)));
  return async (req: Request, res: Response, refusal: Omit<Rejection, 'rejected'>): Promise<void> => {
    const isPage = folders.has(folderOf(req.path));
    if (isPage) protect(req, res, () => undefined);
    const limited = isPage ? await beyondAddressLimit('pages', req, res, options) : null;
    sendError(req, res, limited ?? refusal);
  };
};

const serve = (route: Route, options: Serving) => {
  const readBody = bodyReader(route.body);
  const isOfPages = route.limit === 'pages' || isOfBrowser(route.principal);
  const isOperatorsChange = isOfOperators(route.principal) && route.method !== 'GET';
  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    if (isOfPages) protect(req, res, () => undefined);
    const place = takesPlace(route) ? options.overload.enter() : UNCOUNTED;
    const record = options.beginRequest();
    const passage: Passage = { place: place ?? UNCOUNTED, caller: null };
    try {
      await nextTurn();
      const result =
        place === null ? OVERLOADED : await resultOf(route, readBody, req, res, passage, options).catch(refusalIn);
      if (isRejection(result)) refuseOrSignIn(route, req, res, result);
      // Not awaited: a stream doesn't count as a request in progress.
      else sendResult(req, res, result).catch((error: unknown) => fault(error, req, res, options));
    } catch (error) {
      fault(error, req, res, options);
    } finally {
      place?.leave();
    }
    const durationMs = performance.now() - started;
    options.onAnswer?.(route.operationId, res.statusCode, durationMs / 1000);
    if (passage.caller !== null) record(answeredRequest(req, res, passage.caller, durationMs));
    if (passage.caller !== null && isOperatorsChange)
      options.onOperatorRequest({
        by: passage.caller.actor,
        operation: route.operationId,
        ...req.params,
        status: res.statusCode,
        requestId: requestIdOf(req),
      });
  };
};

/** Returns the page where a browser can sign in or enroll a second factor, if the requested page requires it. */
const placeToGetIn = ({ originalUrl }: Request, { code }: Refusal): string | null => {
  if (code === 'unauthorized') return `${SIGN_IN}?next=${encodeURIComponent(originalUrl)}`;
  return code === 'second_factor_enrolment_required' ? ENROLMENT : null;
};

const refuseOrSignIn = (route: Route, req: Request, res: Response, refusal: Refusal): void => {
  const isPage = isOfBrowser(route.principal) && route.method === 'GET' && isForBrowser(req);
  const place = isPage ? placeToGetIn(req, refusal) : null;
  if (place === null) sendError(req, res, refusal);
  else res.setHeader('Cache-Control', 'no-store').redirect(303, place);
};

/** The caller's key or session ended while the handler read the body. */
class RefusedMeanwhile extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('the key or session ended while the body arrived');
    this.refusal = refusal;
  }
}

const refusalIn = (error: unknown): Refusal => {
  if (error instanceof RefusedMeanwhile) return error.refusal;
  throw error;
};

const resultOf = async (
  route: Route,
  readBody: BodyReader,
  req: Request,
  res: Response,
  passage: Passage,
  options: Serving,
): Promise<RouteResult | Refusal> => {
  const { services } = options;
  const { place } = passage;
  const isBodyLate = hasBody(req) && !req.complete;
  const early = accepted(route, await admit(route, req, res, passage, options));
  if (isRejection(early)) return early;
  const query = readQuery(route, req.query as Record<string, unknown>);
  if (isRejection(query)) return query;
  const again = async () => (isBodyLate ? accepted(route, await admitAgain(route, req, early, options)) : early);
  const body = await readBody(req, res, place, { mode: modeOf(early), services }, async () => {
    const now = await again();
    if (isRejection(now)) throw new RefusedMeanwhile(now);
  });
  if (isRejection(body)) return body;
  const caller = await again();
  if (isRejection(caller)) return caller;
  if (route.body.kind === 'form' || route.body.kind === 'files') {
    const forgery = forgeryOf(req, body.body as Form, caller);
    // The files of a forged form are neither read nor awaited.
    if (forgery !== null && route.body.kind === 'files') res.setHeader('Connection', 'close');
    if (forgery !== null) return forgery;
  }
  // The body's shape is validated before the idempotency key (K2a).
  const idempotencyKey = Object.hasOwn(route.headers, 'Idempotency-Key') ? idempotencyKeyOf(req) : '';
  if (isRejection(idempotencyKey)) return idempotencyKey;
  if (route.reads.length > 0) await assertCaughtUp(services, route.reads, accountOf(caller));
  const params = readParams(route, req.params as Record<string, string>);
  if (isRejection(params)) return params;
  const context: RouteContext = {
    caller,
    params: params.params,
    query: query.query,
    body: body.body as RouteContext['body'],
    idempotencyKey,
    requestId: requestIdOf(req),
    address: addressOf(req),
    prefers: preferencesOf(req),
    cookie: (name) => cookieIn(req, name),
    pause: (ms) => place.waiting(setTimeout(ms, undefined, { ref: false })),
    apart: (turn) => place.waiting(turn),
    services,
  };
  const handle = async () => route.handle(context);
  if (route.method !== 'GET' || route.reads.length === 0) return handle();
  const account = accountOf(caller);
  const read = account === undefined ? handle : () => options.readTurns.run(account, handle);
  return findingWritten(services, route.reads, account, read);
};

/** Returns the caller, or the refusal of the route. */
const accepted = (route: Route, caller: Callers[Principal] | Refusal): Callers[Principal] | Refusal =>
  isRejection(caller) ? caller : (route.refusalOf(caller) ?? caller);

const accountOf = (caller: unknown): AccountId | undefined => (caller as Partial<Caller> | null)?.tenant?.accountId;

/** Callers without a mode are validated as in live mode, the stricter one. */
const modeOf = (caller: unknown): Mode => (caller as Partial<Caller> | null)?.tenant?.mode ?? 'live';

/** Returns the values of the path's parameters, or the rejection of the first invalid one. */
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

/** Returns the rejection that the client sees, without the cause. Reports every 5xx except those of providers and parked streams. */
const explain = (error: unknown, requestId: string, { onFault }: AppOptions): Rejection => {
  const status = (error as { status?: number }).status;
  if (status === 400) return reject('invalid_request', 'The request could not be read.');
  if (error instanceof PayloadTooLarge) return reject('payload_too_large', 'The body is too large.');
  if (error instanceof BodyCutOff)
    return reject('invalid_request', 'The connection ended before the whole body arrived.');
  if (error instanceof BodyMalformed) return MALFORMED_FORM;
  if (error instanceof ProviderUnavailable) return reject('service_unavailable', error.message);
  // One parked stream or slow read model may fail many requests. Logs and metrics report the consumer itself.
  if (!(error instanceof ReadModelsBehind)) onFault(error, requestId);
  const again = 'Retry the request with the same Idempotency-Key.';
  return UNAVAILABLE.some((kind) => error instanceof kind) || isDatabaseAway(error)
    ? reject('service_unavailable', `The service is temporarily unavailable. ${again}`)
    : reject('internal_error', `An internal error occurred. ${again}`);
};

/** Errors that leave no partial effect, so that a retry is safe: at most, an endpoint gets a second ping. */
const UNAVAILABLE = [
  EventStoreUnavailable,
  AppendOutcomeUnknown,
  CommandContention,
  ReadModelsBehind,
  StreamUnreadable,
  PasswordHashingBusy,
  EvidenceStorageUnavailable,
  SenderFailed,
];

/**
 * Returns whether an error of `pg` is temporary: a lost connection (classes 08 and 57, socket errors, the pool's time-out), exhausted
 * resources (class 53), a lock that another process holds for too long, or a read model that doesn't exist yet.
 */
const isDatabaseAway = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: string; message?: string };
  return (
    /^(08|53|55P03|57|42P01|3F000)/.test(code ?? '') ||
    /^E(CONN|PIPE|TIMEDOUT)/.test(code ?? '') ||
    /Connection terminated|timeout e(xpired|xceeded when trying to connect)/.test(message)
  );
};

// --- The request log (rule D3): it holds no body, no query and no secret ---

const PATH_LENGTH_MAX = 256;
/** API keys and tokens that a client put into a path by mistake. The cut to PATH_LENGTH_MAX may have shortened them. */
const SECRET = /ak_(?:test|live)_[\w-]+|eyJ[\w.-]+/g;
const KEY_ACTOR = 'key:';

/** Cuts the path before masking it, because only the limit on all headers bounds its length. */
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
