// The one error table: the source of statuses and types, of the reference page and of its tests (contract.md Errors, rules E).
import type { Request, Response } from 'express';
import { AGGREGATES_ERRORS } from '../../domain/aggregates.ts';
import {
  type ErrorCode,
  type ErrorEntry,
  GENERAL_ERRORS,
  type Problem,
  type Rejection,
} from '../../domain/kernel/rejection.ts';
import { preferencesOf } from './preferences.ts';
import type { Refusal } from './refusal.ts';
import type { Preferences } from './route.ts';

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'api_error';

/** Returns the type that goes with the status. */
export const errorType = (status: number): ErrorType =>
  TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
const TYPES: { readonly [status: number]: ErrorType } = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

/** Every code with its HTTP status: general ones, and those that aggregates declare. */
export const ERRORS: { readonly [Code in ErrorCode]: ErrorEntry } = {
  ...GENERAL_ERRORS,
  ...AGGREGATES_ERRORS,
};

/** Seconds after which a repeat makes sense, where the code itself tells. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, string>> = {
  idempotency_request_in_progress: '1',
  service_unavailable: '2',
};

interface ErrorBody {
  readonly error: {
    readonly type: ErrorType;
    readonly code: ErrorCode;
    readonly message: string;
    readonly param?: string;
    readonly details?: readonly Problem[];
  };
  readonly request_id: string;
}

export const errorBody = (
  { code, message, param, details }: Omit<Rejection, 'rejected'>,
  requestId: string,
): ErrorBody => ({
  error: {
    type: errorType(ERRORS[code].status),
    code,
    message,
    ...(param !== undefined && { param }),
    ...(details && { details }),
  },
  request_id: requestId,
});

/** The value of the header `Link` of an error answer: where its code is explained. `publicUrl`: without a slash at its end. */
export const helpLink = (publicUrl: string, code: ErrorCode): string =>
  `<${publicUrl}/docs/errors#${code}>; rel="help"`;

/** Settings of the application: its public URL, and what it shows to browsers. */
export const PUBLIC_URL = 'public url';
export const ERROR_PAGE = 'error page';

/** An error as a page may tell of it. */
export interface ShownError {
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly prefers: Preferences;
}
export type ErrorPage = (error: ShownError) => {
  readonly page: string;
  readonly headers: { readonly [name: string]: string };
};

/** Paths of the API: JSON is answered there whatever is accepted. */
const OF_PROGRAMS = /^\/(?:v1|ops)(?:\/|$)/;

const isForBrowser = (req: Request): boolean =>
  (req.method === 'GET' || req.method === 'HEAD') &&
  !OF_PROGRAMS.test(req.path) &&
  preferencesOf(req).type(['json', 'html']) === 'html';

export const sendError = (req: Request, res: Response, rejection: Omit<Refusal, 'rejected'>): void => {
  const { code, headers = {} } = rejection;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  const retryAfter = RETRY_AFTER_SECONDS[code];
  if (retryAfter !== undefined && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', retryAfter);
  res.setHeader('Link', helpLink(req.app.get(PUBLIC_URL), code));
  const errorPage = req.app.get(ERROR_PAGE) as ErrorPage | null;
  if (errorPage !== null && isForBrowser(req)) sendErrorPage(errorPage, req, res, code);
  else sendJson(res, ERRORS[code].status, errorBody(rejection, requestIdOf(req)));
};

const sendErrorPage = (errorPage: ErrorPage, req: Request, res: Response, code: ErrorCode): void => {
  const { status } = ERRORS[code];
  const error = { path: req.path, status, code, requestId: requestIdOf(req), prefers: preferencesOf(req) };
  const { page, headers } = errorPage(error);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.setHeader('Vary', 'Accept, Accept-Language');
  sendUncached(res, status, 'text/html; charset=utf-8', page);
};

export const requestIdOf = (req: Request): string => (req as { requestId?: string }).requestId ?? '';

export const sendJson = (res: Response, status: number, body: unknown): void =>
  sendUncached(res, status, 'application/json; charset=utf-8', JSON.stringify(body));

const sendUncached = (res: Response, status: number, contentType: string, text: string): void => {
  res.statusCode = status;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.end(text);
};
