// Sends responses: common headers, results by kind, and errors.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NextFunction, Request, Response } from 'express';
import type { Clock, Randomness } from '../../application/ports/system.ts';
import { BEHIND_TIME, encodeTimedId, PREFIX } from '../../domain/kernel/ids.ts';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import type { EventSink, Refusal, SentChunks } from './answers.ts';
import { ERRORS, errorBody, helpLink } from './errors.ts';
import type { Preferences, RouteResult } from './route.ts';

/** Names of Express settings: the public URL, and the error page for browsers. */
export const PUBLIC_URL = 'public url';
export const ERROR_PAGE = 'error page';

// --- Headers of every response: X-Request-Id (contract.md Errors, rule E7), and HSTS (RFC 6797) ---

const ECHOED = /^[A-Za-z0-9._-]{1,128}$/;

export const newRequestId = (clock: Clock, randomness: Randomness): string =>
  PREFIX.request + encodeTimedId(clock.now(), randomness.bytes(BEHIND_TIME));

/** Returns middleware that sets X-Request-Id and the headers in `always` on every response. */
export const requestId =
  (newId: () => string, always: ReadonlyMap<string, string>) =>
  (req: Request, res: Response, next: NextFunction): void => {
    const sent = req.headers['x-request-id'];
    const id = typeof sent === 'string' && ECHOED.test(sent) ? sent : newId();
    (req as { requestId?: string }).requestId = id;
    res.setHeader('X-Request-Id', id);
    for (const [name, value] of always) res.setHeader(name, value);
    next();
  };

export const requestIdOf = (req: Request): string => (req as { requestId?: string }).requestId ?? '';

const ONE_YEAR_SECONDS = 31_536_000;

/** Returns the HSTS header if the public URL is https. Subdomains are not included, because they may lack https. */
export const transportSecurity = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${ONE_YEAR_SECONDS}` } : {};

// --- Results ---

/** The response 304 of a route whose answers have an ETag. */
export const NOT_MODIFIED = { kind: 'empty', description: 'The client already has this version.' } as const;

/** Sends a result. Resolves when a stream or chunks have ended; everything else is sent synchronously. */
export const sendResult = async (req: Request, res: Response, result: RouteResult): Promise<void> => {
  for (const [name, value] of Object.entries(result.headers ?? {})) res.setHeader(name, value);
  if ('body' in result) return void sendJson(res, result.status, result.body);
  res.statusCode = result.status;
  if (!res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', 'no-store');
  // The client already has this version (RFC 9110, 13.1.2).
  if (res.hasHeader('ETag') && req.fresh) {
    res.statusCode = 304;
    return void res.end();
  }
  // Programs can treat a missing page like any other error.
  if (result.status === 404) res.setHeader('Link', helpLink(req.app.get(PUBLIC_URL), 'not_found'));
  if ('page' in result) res.setHeader('Content-Type', 'text/html; charset=utf-8').end(result.page);
  else if ('bytes' in result) res.setHeader('Content-Type', result.contentType).end(result.bytes);
  else if ('chunks' in result) await sendChunks(req, res, result);
  else if ('open' in result) await openStream(req, res, result.open);
  else res.end();
};

/** Sends chunks. Throws if the source fails, but not if the client disconnects or reads too slowly. */
const sendChunks = async (
  req: Request,
  res: Response,
  { contentType, chunks, sendMs, close }: { readonly contentType: string } & SentChunks,
): Promise<void> => {
  res.setHeader('Content-Type', contentType);
  let failure: unknown = null;
  const source = chunks[Symbol.asyncIterator]();
  // Not `for await`, which would also throw the client's disconnect here.
  const watched = async function* () {
    try {
      for (;;) {
        const next = await source.next().catch((error: unknown) => {
          failure = error;
          throw error;
        });
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await source.return?.();
    }
  };
  try {
    if (req.method === 'HEAD') res.end();
    else await pipeline(Readable.from(watched()), res, { signal: AbortSignal.timeout(sendMs) });
  } catch {
    res.destroy();
    if (failure !== null) throw failure;
  } finally {
    close();
  }
};

/** X-Accel-Buffering keeps proxies from buffering the events. */
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };

const openStream = async (
  req: Request,
  res: Response,
  open: (sink: EventSink) => void | Promise<void>,
): Promise<void> => {
  if (res.destroyed) return; // the client disconnected, and `close` was already emitted
  res.writeHead(res.statusCode, STREAM_HEADERS);
  if (req.method === 'HEAD') return void res.end();
  res.flushHeaders(); // the first event may come much later
  await open({
    send: (event, data) => void res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end: () => void res.end(),
    drained: (signal) =>
      new Promise((resolve) => {
        if (!res.writableNeedDrain || res.destroyed || signal.aborted) return resolve();
        const done = () => {
          res.off('drain', done).off('close', done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        res.on('drain', done).on('close', done);
        signal.addEventListener('abort', done);
      }),
    onClose: (listener) => void res.on('close', listener),
  });
};

const sendJson = (res: Response, status: number, body: unknown): void =>
  sendUncached(res, status, 'application/json; charset=utf-8', JSON.stringify(body));

const sendUncached = (res: Response, status: number, contentType: string, text: string): void => {
  res.statusCode = status;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.end(text);
};

// --- Errors ---

/** Returns the preferences in a request's Accept headers. */
export const preferencesOf = (req: Request): Preferences => ({
  type: (of) => (req.accepts([...of]) || null) as (typeof of)[number] | null,
  language: (of) => (req.acceptsLanguages([...of]) || null) as (typeof of)[number] | null,
  encoding: (of) => (req.acceptsEncodings([...of]) || null) as (typeof of)[number] | null,
});

/** Default `Retry-After` by error code, in seconds. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, string>> = {
  idempotency_request_in_progress: '1',
  service_unavailable: '2',
};

/** The facts of an error that its page may show. */
export interface ShownError {
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly isFor: Refusal['isFor'] | undefined;
  readonly requestId: string;
  readonly prefers: Preferences;
}
export type ErrorPage = (error: ShownError) => {
  readonly page: string;
  readonly headers: { readonly [name: string]: string };
};

/** Paths for programs, which always get JSON. */
const OF_PROGRAMS = /^\/(?:v1|ops|providers|audit|\.well-known)(?:\/|$)/;

/** Pages that send forms. */
const SENDS_FORMS = /^\/dashboard(?:\/|$)/;

export const isForBrowser = (req: Request): boolean =>
  (req.method === 'GET' || req.method === 'HEAD' || SENDS_FORMS.test(req.path)) &&
  !OF_PROGRAMS.test(req.path) &&
  preferencesOf(req).type(['json', 'html']) === 'html';

export const sendError = (req: Request, res: Response, rejection: Omit<Refusal, 'rejected'>): void => {
  const { code, headers = {} } = rejection;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  const retryAfter = RETRY_AFTER_SECONDS[code];
  if (retryAfter !== undefined && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', retryAfter);
  res.setHeader('Link', helpLink(req.app.get(PUBLIC_URL), code));
  const errorPage = req.app.get(ERROR_PAGE) as ErrorPage | null;
  if (errorPage !== null && isForBrowser(req)) sendErrorPage(errorPage, req, res, rejection);
  else sendJson(res, ERRORS[code].status, errorBody(rejection, requestIdOf(req)));
};

const sendErrorPage = (
  errorPage: ErrorPage,
  req: Request,
  res: Response,
  { code, isFor }: Pick<Refusal, 'code' | 'isFor'>,
): void => {
  const { status } = ERRORS[code];
  const error = { path: req.path, status, code, isFor, requestId: requestIdOf(req), prefers: preferencesOf(req) };
  const { page, headers } = errorPage(error);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.setHeader('Vary', 'Accept, Accept-Language');
  sendUncached(res, status, 'text/html; charset=utf-8', page);
};
