// The HTTP application: a request passes request id, route, overload, authentication, rate limit, body, schema, idempotency key, handler
// and serializer, in this order (architecture §8).

import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { CommandContention, StreamUnreadable } from '../../application/core/commandHandler.ts';
import { AppendOutcomeUnknown, EventStoreUnavailable } from '../../application/ports/eventStore.ts';
import { ProviderUnavailable } from '../../application/ports/paymentProvider.ts';
import { ReadModelsBehind } from '../../application/ports/readModels.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addressOf } from './address.ts';
import { type Admission, admit, admitPage, admitProbe, OVERLOADED } from './admission.ts';
import { requestIdOf, sendError } from './errors.ts';
import { warnOfForwarding } from './forwarding.ts';
import { idempotencyKeyOf } from './idempotencyKey.ts';
import { readJsonBody } from './jsonBody.ts';
import type { Place } from './overload.ts';
import { requestId } from './requestId.ts';
import type { Refusal, Route, RouteContext, RouteResult, ValidationContext } from './route.ts';
import { sendResult } from './send.ts';
import { untilLevel } from './upToDate.ts';
import { type BodyValidator, bodyValidator, readQuery } from './validation.ts';

export interface AppOptions extends Admission {
  readonly routes: readonly Route[];
  readonly trustProxy: string | number | boolean;
  /** Every 5xx, with its request id. The answer never says more than its code. */
  readonly onFault: (error: unknown, requestId: string) => void;
  readonly onAnswer?: (route: string, status: number, seconds: number) => void;
  /** Pages and operations: what is not of the JSON interface. */
  readonly extend?: (app: Express) => void;
}

export const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

export const createApp = (options: AppOptions): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', options.trustProxy);
  app.use(requestId);
  if (options.trustProxy === false) app.use(warnOfForwarding(options.onSecurityEvent));
  app.use('/health/ready', admitProbe(options));
  app.use(['/pay', '/openapi.json'], admitPage(options));
  options.extend?.(app);
  for (const [path, routes] of Map.groupBy(options.routes, (route) => route.path)) {
    const at = app.route(expressPath(path));
    for (const route of routes) at[route.method.toLowerCase() as Lowercase<Route['method']>](serve(route, options));
    const allow = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    at.all((req, res) => {
      res.setHeader('Allow', allow);
      sendError(req, res, { code: 'method_not_allowed', message: `${req.method} is not allowed here.` });
    });
  }
  app.use((req: Request, res: Response) =>
    sendError(req, res, { code: 'not_found', message: 'There is no such route.' }),
  );
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => fault(error, req, res, options));
  return app;
};

const serve = (route: Route, options: AppOptions) => {
  const validate = route.body.kind === 'json' ? bodyValidator(route.body) : null;
  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    const place = options.overload.enter();
    try {
      const result = place === null ? OVERLOADED : await resultOf(route, validate, req, res, place, options);
      if (isRejection(result)) sendError(req, res, result);
      else sendResult(req, res, result);
    } catch (error) {
      fault(error, req, res, options);
    } finally {
      place?.leave();
    }
    options.onAnswer?.(route.operationId, res.statusCode, (performance.now() - started) / 1000);
  };
};

const resultOf = async (
  route: Route,
  validate: BodyValidator | null,
  req: Request,
  res: Response,
  place: Place,
  options: AppOptions,
): Promise<RouteResult | Refusal> => {
  const { services } = options;
  const caller = await admit(route, req, res, place, options);
  if (isRejection(caller)) return caller;
  if (route.principal === 'testKey' && caller?.tenant.mode !== 'test')
    return reject('mode_not_allowed', 'Sandbox routes take test keys only.');
  const query = readQuery(route, req.query as Record<string, unknown>);
  if (isRejection(query)) return query;
  const mode = caller?.tenant.mode ?? 'live';
  const body = validate && (await bodyOf(validate, req, res, place, { mode, services }));
  if (isRejection(body)) return body;
  // Shape is judged before the key (K2a).
  const idempotencyKey = Object.hasOwn(route.headers, 'Idempotency-Key') ? idempotencyKeyOf(req) : '';
  if (isRejection(idempotencyKey)) return idempotencyKey;
  if (route.reads.length > 0) await untilLevel(services, route.reads);
  const params = readParams(route, req.params as Record<string, string>);
  if (isRejection(params)) return params;
  return route.handle({
    caller,
    params: params.params as RouteContext['params'],
    query: query.query as RouteContext['query'],
    body: body?.body as RouteContext['body'],
    idempotencyKey,
    requestId: requestIdOf(req),
    address: addressOf(req),
    services,
  });
};

/** What the path names, or the first of it that is none. */
const readParams = (
  { params: rules }: Route,
  texts: Readonly<Record<string, string>>,
): { params: unknown } | Rejection => {
  const params: Record<string, unknown> = {};
  for (const [name, { parse }] of Object.entries(rules)) {
    const value = parse(texts[name] ?? '');
    if (isRejection(value)) return value;
    params[name] = value;
  }
  return { params };
};

const bodyOf = async (
  validate: BodyValidator,
  req: Request,
  res: Response,
  place: Place,
  context: ValidationContext,
): Promise<{ body: unknown } | Rejection> => {
  const read = await place.waiting(readJsonBody(req, res));
  if (isRejection(read)) return read;
  return validate(read.body === undefined ? {} : read.body, read.mayHoldBadStrings, context);
};

const fault = (error: unknown, req: Request, res: Response, options: AppOptions): void => {
  if (res.headersSent) res.destroy();
  else sendError(req, res, explain(error, requestIdOf(req), options));
};

/** What the client is told: the code, never more. Every 5xx but the provider's and those of parked streams is reported. */
const explain = (error: unknown, requestId: string, { onFault }: AppOptions): Rejection => {
  const status = (error as { status?: number }).status;
  if (status === 400) return reject('invalid_request', 'The request could not be read.');
  if (error instanceof ProviderUnavailable) return reject('service_unavailable', error.message);
  // Those who ask for what is parked or behind are many; log and metrics tell of the follower itself.
  if (!(error instanceof ReadModelsBehind)) onFault(error, requestId);
  const again = 'Repeat the request with the same Idempotency-Key.';
  return AWAY.some((kind) => error instanceof kind) || isDatabaseAway(error)
    ? reject('service_unavailable', `The service is not available at the moment. ${again}`)
    : reject('internal_error', `Something went wrong on our side. ${again}`);
};

/** Nothing is half done, and a repeat is safe. */
const AWAY = [EventStoreUnavailable, AppendOutcomeUnknown, CommandContention, ReadModelsBehind, StreamUnreadable];

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
