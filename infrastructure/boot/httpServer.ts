// The listening socket: bound before anything else is started, so that a port in use changes nothing (decisions S4).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { errorBody } from '../../http/errors.ts';
import { adoptMessages, messageClasses } from '../../http/messages.ts';
import { newRequestId } from '../../http/middleware/requestId.ts';
import { ConfigError } from './config.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Header block of a request: API keys, idempotency keys and proxies' headers fit many times. */
const HEADER_BYTES_MAX = 16 * 1024;

const starting: Handler = (req, res) => {
  const id = newRequestId();
  const isLive = req.url?.split('?')[0] === '/health/live';
  const isReady = req.url?.split('?')[0] === '/health/ready';
  res.writeHead(isLive ? 200 : 503, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Request-Id': id,
    'Retry-After': '1',
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
const refuse = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = isLarge ? '431 Request Header Fields Too Large' : isSlow ? '408 Request Timeout' : '400 Bad Request';
  const id = newRequestId();
  const body = JSON.stringify(
    errorBody(
      isLarge
        ? { code: 'headers_too_large', message: 'The request headers are too large.' }
        : { code: 'invalid_request', message: 'The request is not valid HTTP.' },
      id,
    ),
  );
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n${body}`,
  );
};

export interface HttpServer {
  /** From now on this answers; until then only /health/live does. */
  serve(app: Express): void;
  /** No new connections; requests in flight are finished within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export const listen = async (host: string, port: number): Promise<HttpServer> => {
  let handler = starting;
  const classes = messageClasses();
  const server = createServer(
    { ...classes, maxHeaderSize: HEADER_BYTES_MAX, keepAliveTimeout: 65_000, requestTimeout: 60_000 },
    (req, res) => handler(req, res),
  );
  server.on('clientError', refuse);
  await bind(server, host, port);
  return {
    serve: (app) => {
      adoptMessages(app, classes);
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
