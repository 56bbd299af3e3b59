// The listening socket: bound before anything else is started, so that a port in use changes nothing (rule S4).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { hasBody } from '../../http/kernel/body.ts';
import { errorBody, helpLink } from '../../http/kernel/errors.ts';
import { newRequestId } from '../../http/kernel/requestId.ts';
import { systemRandomness } from '../system/randomness.ts';
import { ConfigError } from './config.ts';

const CLOCK = { now: Date.now };

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Header block of a request: API keys, idempotency keys and proxies' headers fit many times. */
const HEADER_BYTES_MAX = 16 * 1024;

export interface SocketBounds {
  /** From connecting, or from the first byte after an answer, to the end of the headers. */
  readonly headersMs: number;
  /** To the end of the body. */
  readonly requestMs: number;
  /** The same of a file that is sent to a signed URL: as long as the URL lives. */
  readonly uploadMs: number;
  /** Without a byte in either direction, also while an answer waits to be read. */
  readonly silenceMs: number;
  readonly connectionsMax: number;
  /** Requests of one connection that wait for their answers; one more ends it. */
  readonly pipelinedMax: number;
}
export const SOCKET_BOUNDS: SocketBounds = {
  headersMs: 10_000,
  requestMs: 30_000,
  uploadMs: 900_000,
  silenceMs: 75_000,
  connectionsMax: 10_000,
  pipelinedMax: 100,
};
/** How often Node looks for sockets that are too slow. */
const CHECKS_PER_BOUND = 20;
/** A peer that was refused has so long to read why. */
const REFUSED_MS = 2_000;

const starting =
  (publicUrl: string): Handler =>
  (req, res) => {
    const id = newRequestId(CLOCK, systemRandomness);
    const isLive = req.url?.split('?')[0] === '/health/live';
    const isReady = req.url?.split('?')[0] === '/health/ready';
    res.writeHead(isLive ? 200 : 503, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': id,
      'Retry-After': '1',
      ...(!isLive && !isReady && { Link: helpLink(publicUrl, 'service_unavailable') }),
    });
    const message = 'The service is starting.';
    res.end(
      JSON.stringify(
        isLive
          ? { status: 'live' }
          : isReady
            ? { status: 'not_ready', reason: 'starting' }
            : errorBody({ code: 'service_unavailable', message }, id),
      ),
    );
  };

/** What the HTTP parser refuses still gets the interface's error body and a request id (E7). */
const refuse = (publicUrl: string, error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = isLarge ? '431 Request Header Fields Too Large' : isSlow ? '408 Request Timeout' : '400 Bad Request';
  const id = newRequestId(CLOCK, systemRandomness);
  const rejection = isLarge
    ? ({ code: 'headers_too_large', message: 'The request headers are too large.' } as const)
    : ({
        code: 'invalid_request',
        message: isSlow ? 'The request did not arrive in time.' : 'The request is not valid HTTP.',
      } as const);
  const body = JSON.stringify(errorBody(rejection, id));
  const link = helpLink(publicUrl, rejection.code);
  setTimeout(() => socket.destroy(), REFUSED_MS).unref();
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${id}\r\nLink: ${link}\r\nConnection: close\r\n\r\n${body}`,
  );
};

/** HTTP/1.1 asks for a Host (RFC 9112, 3.2). */
const lacksHost = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === '1.1' && headers.host === undefined;

/** A client that sends on and on and reads nothing must not have all of it worked on: Node begins each request of a chunk at once. */
const pipelineGuard = (max: number): ((req: IncomingMessage, res: ServerResponse) => boolean) => {
  const waiting = new WeakMap<Duplex, number>();
  return ({ socket }, res) => {
    const count = (waiting.get(socket) ?? 0) + 1;
    if (socket.destroyed || count > max) {
      socket.destroy();
      return false;
    }
    waiting.set(socket, count);
    res.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return true;
  };
};

const isUpload = ({ method, url = '' }: IncomingMessage): boolean => method === 'PUT' && url.startsWith('/evidence/');

/** Node bounds all requests alike: those that are no uploads are bounded here. */
const boundBody = (req: IncomingMessage, requestMs: number, onSlow: (error: Error, socket: Duplex) => void): void => {
  if (!hasBody(req) || isUpload(req)) return;
  const timer = setTimeout(() => {
    onSlow(Object.assign(new Error('the body is slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), req.socket);
  }, requestMs);
  req.once('close', () => clearTimeout(timer));
};

export interface HttpServer {
  /** From now on this answers; until then only /health/live does. */
  serve(app: Express): void;
  /** No new connections; requests in flight are finished within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** `publicUrl`: the base of the links in error answers, without a slash at its end. */
export const listen = async (
  host: string,
  port: number,
  publicUrl: string,
  bounds: SocketBounds = SOCKET_BOUNDS,
): Promise<HttpServer> => {
  let handler = starting(publicUrl);
  const mayBegin = pipelineGuard(bounds.pipelinedMax);
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAliveTimeout: 65_000,
      headersTimeout: bounds.headersMs,
      requestTimeout: bounds.uploadMs,
      connectionsCheckingInterval: bounds.headersMs / CHECKS_PER_BOUND,
      // Judged here: Node's own answer has no body and no request id.
      requireHostHeader: false,
    },
    (req, res) => {
      if (!mayBegin(req, res)) return;
      boundBody(req, bounds.requestMs, (error, socket) => refuse(publicUrl, error, socket));
      if (lacksHost(req)) refuse(publicUrl, new Error('no Host'), req.socket);
      else handler(req, res);
    },
  );
  // An expectation that nobody knows is ignored (RFC 9110, 10.1.1) rather than answered by Node with a bare 417.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('connect', (_req, socket) => refuse(publicUrl, new Error('no tunnels'), socket));
  server.setTimeout(bounds.silenceMs);
  server.maxConnections = bounds.connectionsMax;
  server.on('clientError', (error, socket) => refuse(publicUrl, error, socket));
  await bind(server, host, port);
  return {
    serve: (app) => {
      handler = app;
    },
    stop: (graceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
};

const bind = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        reject(
          new ConfigError(`PORT ${port} on ${host} is in use by another program: stop it, or set PORT to a free one`),
        );
      else if (error.code === 'EACCES')
        reject(new ConfigError(`PORT ${port} on ${host} may not be used by this user: set PORT to one above 1023`));
      else if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
        reject(new ConfigError(`HOST ${host} is not an address of this machine`));
      else reject(error);
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
