// The HTTP server's socket. It is bound before anything else starts, so that a port in use changes nothing (rule S4).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { KeyedCount } from '../../application/core/keyedCount.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { counted } from '../../http/kernel/address.ts';
import { hasBody } from '../../http/kernel/body.ts';
import { errorBody, helpLink } from '../../http/kernel/errors.ts';
import { newRequestId, transportSecurity } from '../../http/kernel/send.ts';
import { ConfigError } from '../config/config.ts';
import { systemRandomness } from '../system/system.ts';

const CLOCK = { now: Date.now };

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Largest header block of a request: many times the size of API keys, idempotency keys and proxies' headers. */
const HEADER_BYTES_MAX = 16 * 1024;

export interface SocketBounds {
  /** Longest time from connecting, or from the first byte after an answer, to the end of the headers. */
  readonly headersMs: number;
  /** Longest time to the end of the body. */
  readonly requestMs: number;
  /** The same for files of evidence: the lifetime of a signed URL. */
  readonly uploadMs: number;
  /** Window over which an upload's rate is measured; an upload may be slow during its first window (E9). */
  readonly uploadGraceMs: number;
  readonly uploadBytesPerSecond: number;
  /** Longest time without a byte in either direction, also while an answer waits to be read. */
  readonly silenceMs: number;
  readonly connectionsMax: number;
  /** Connections per client. Trusted proxies have no limit. */
  readonly connectionsPerAddress: number;
  /** Requests of one connection that may wait for their answers. One more closes the connection. */
  readonly pipelinedMax: number;
}
export const SOCKET_BOUNDS: SocketBounds = {
  headersMs: 10_000,
  requestMs: 30_000,
  uploadMs: 900_000,
  uploadGraceMs: 10_000,
  uploadBytesPerSecond: 10_000,
  silenceMs: 75_000,
  connectionsMax: 10_000,
  connectionsPerAddress: 256,
  pipelinedMax: 100,
};
/** Rate checks per window of an upload. */
const LOOKS_AT_RATE = 10;
/** How often Node checks for slow sockets, per header time limit. */
const CHECKS_PER_BOUND = 20;
/** Time that a rejected peer has to read the answer. */
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
      ...transportSecurity(publicUrl),
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

const SLOW_UPLOAD = 'QUITA_SLOW_UPLOAD';
const WRONG_HOSTS: NodeJS.ErrnoException = Object.assign(new Error('not one Host'), { code: 'QUITA_WRONG_HOSTS' });

interface ParserRefusal {
  /** The status line after the HTTP version. */
  readonly status: string;
  readonly code: ErrorCode;
  readonly message: string;
}
const INVALID: ParserRefusal = {
  status: '400 Bad Request',
  code: 'invalid_request',
  message: 'The request is not valid HTTP.',
};
/** By error code. */
const REFUSALS: { readonly [code: string]: ParserRefusal } = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'headers_too_large',
    message: 'The request headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'invalid_request',
    message: 'The request did not arrive in time.',
  },
  [SLOW_UPLOAD]: {
    status: '408 Request Timeout',
    code: 'upload_too_slow',
    message: 'The upload is too slow. Send at least 10 kB per second.',
  },
  QUITA_WRONG_HOSTS: { ...INVALID, message: 'The request must have exactly one Host header.' },
};

/** Answers a request that the HTTP parser or the Host check rejected, with the API's error body and a request id (E7). */
const refuse = (publicUrl: string, error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (socket.writableEnded) return; // An answer that closes the connection is on its way.
  if (!socket.writable) return void socket.destroy();
  const { status, ...rejection } = REFUSALS[error.code ?? ''] ?? INVALID;
  const id = newRequestId(CLOCK, systemRandomness);
  const body = JSON.stringify(errorBody(rejection, id));
  const headers = Object.entries({
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': id,
    Link: helpLink(publicUrl, rejection.code),
    ...transportSecurity(publicUrl),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  setTimeout(() => socket.destroy(), REFUSED_MS).unref();
  socket.end(`HTTP/1.1 ${status}\r\n${headers.join('')}\r\n${body}`);
};

/** HTTP/1.1 requires one Host header, and no version allows two: a proxy may have checked the other one (RFC 9112, 3.2). */
const hasWrongHosts = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 || (hosts === 0 && httpVersion === '1.1');
};

/** The requests of a connection. */
interface Pipeline {
  /** Responses of begun requests that are not sent yet. */
  readonly owed: Set<ServerResponse>;
  /** The response of the request that began last. */
  last: ServerResponse | null;
  isRefused: boolean;
  /** Requests that came behind a refused one. */
  behind: number;
}

/**
 * Keeps the answers of each connection in the order of its requests (RFC 9112, 9.3.2), although Node starts every request of a chunk at
 * once.
 */
class Pipelines {
  readonly #max: number;
  readonly #publicUrl: string;
  readonly #pipelines = new WeakMap<Duplex, Pipeline>();

  constructor(max: number, publicUrl: string) {
    this.#max = max;
    this.#publicUrl = publicUrl;
  }

  /** Returns whether the request may begin. The maximum limits the work for a client that keeps sending and never reads. */
  mayBegin({ socket }: IncomingMessage, res: ServerResponse): boolean {
    const pipeline = this.#of(socket);
    if (pipeline.isRefused) pipeline.behind += 1;
    if (socket.destroyed || pipeline.owed.size + pipeline.behind >= this.#max) socket.destroy();
    if (socket.destroyed || pipeline.isRefused) return false;
    pipeline.owed.add(res);
    pipeline.last = res;
    res.once('close', () => pipeline.owed.delete(res));
    return true;
  }

  /**
   * Refuses a request and ends the connection, after the answers to the requests before it. `own`: the request's response if the request
   * has begun. Default: the one whose body has not ended, because the parser rejected that body.
   */
  refuse(error: NodeJS.ErrnoException, socket: Duplex, own = this.#unfinished(socket)): void {
    const pipeline = this.#of(socket);
    if (error.code === 'ECONNRESET') socket.destroy();
    if (socket.destroyed || pipeline.isRefused) return;
    pipeline.isRefused = true;
    const endInTurn = (): void => {
      const earlier = [...pipeline.owed].find((res) => res !== own);
      if (earlier !== undefined) earlier.once('close', endInTurn);
      else if (own?.headersSent) socket.destroy();
      else refuse(this.#publicUrl, error, socket);
    };
    endInTurn();
  }

  #of(socket: Duplex): Pipeline {
    const known = this.#pipelines.get(socket);
    if (known !== undefined) return known;
    const pipeline: Pipeline = { owed: new Set(), last: null, isRefused: false, behind: 0 };
    this.#pipelines.set(socket, pipeline);
    return pipeline;
  }

  #unfinished(socket: Duplex): ServerResponse | null {
    const { last } = this.#of(socket);
    return last?.req.complete === false ? last : null;
  }
}

/** Closes connections of an address beyond the limit, so that one client can't use all connections. */
const boundAddresses = (server: Server, max: number, isProxy: (address: string) => boolean): void => {
  const open = new KeyedCount();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    if (isProxy(remoteAddress)) return;
    const address = counted(remoteAddress) ?? '';
    if (open.of(address) >= max) return void socket.destroy();
    socket.once('close', open.add(address));
  });
};

/** Files of evidence: sent to a signed URL, or by a form of the dashboard. */
const UPLOAD = /^(?:PUT \/evidence\/|POST \/dashboard\/(?:test|live)\/disputes\/\w+\/evidence(?:\?|$))/;
const isUpload = ({ method, url }: IncomingMessage): boolean => UPLOAD.test(`${method} ${url}`);

const tooSlow = (code: string): Error => Object.assign(new Error('the body is slow'), { code });

/** Node has one time limit for all requests. This function limits uploads by their rate and other requests by their own limit. */
const boundBody = (req: IncomingMessage, bounds: SocketBounds, onSlow: (error: Error) => void): void => {
  if (!hasBody(req)) return;
  const { socket } = req;
  const { requestMs, uploadGraceMs, uploadBytesPerSecond } = bounds;
  const end = (code: string): void => onSlow(tooSlow(code));
  if (!isUpload(req)) {
    const timer = setTimeout(() => end('ERR_HTTP_REQUEST_TIMEOUT'), requestMs);
    return void req.once('close', () => clearTimeout(timer));
  }
  /** Byte counts of the last `uploadGraceMs`, the oldest first. */
  const read = [socket.bytesRead];
  const bytesMin = (uploadBytesPerSecond * uploadGraceMs) / 1_000;
  const looking = repeating(uploadGraceMs / LOOKS_AT_RATE, () => {
    read.push(socket.bytesRead);
    if (read.length <= LOOKS_AT_RATE) return;
    if (socket.bytesRead - (read.shift() as number) >= bytesMin) return;
    void looking.stop();
    end(SLOW_UPLOAD);
  });
  req.once('close', looking.stop);
};

export interface HttpServer {
  /** Sets the application that answers from now on. Before, only /health/live succeeds. */
  serve(app: Express): void;
  /** Accepts no new connections, and lets running requests finish within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** `publicUrl`: base of the links in error answers, without a trailing slash. `prefix`: prefix of the variables in error messages. */
export const listen = async (
  host: string,
  port: number,
  publicUrl: string,
  bounds: SocketBounds = SOCKET_BOUNDS,
  prefix: '' | 'OPS_' = '',
): Promise<HttpServer> => {
  let handler = starting(publicUrl);
  const pipelines = new Pipelines(bounds.pipelinedMax, publicUrl);
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAliveTimeout: 65_000,
      headersTimeout: bounds.headersMs,
      requestTimeout: bounds.uploadMs,
      connectionsCheckingInterval: bounds.headersMs / CHECKS_PER_BOUND,
      // Checked here, because Node's own answer has no body and no request id.
      requireHostHeader: false,
    },
    (req, res) => {
      if (!pipelines.mayBegin(req, res)) return;
      if (hasWrongHosts(req)) return pipelines.refuse(WRONG_HOSTS, req.socket, res);
      boundBody(req, bounds, (error) => pipelines.refuse(error, req.socket, res));
      handler(req, res);
    },
  );
  // An unknown expectation is ignored (RFC 9110, 10.1.1). Node would answer with a bare 417.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('connect', (_req, socket) => {
    // Node has removed its own listener, and an error without one ends the program.
    socket.on('error', () => socket.destroy());
    pipelines.refuse(new Error('no tunnels'), socket, null);
  });
  server.setTimeout(bounds.silenceMs);
  server.maxConnections = bounds.connectionsMax;
  let isProxy = (_address: string): boolean => false;
  boundAddresses(server, bounds.connectionsPerAddress, (address) => isProxy(address));
  server.on('clientError', (error, socket) => pipelines.refuse(error, socket));
  await bind(server, host, port, prefix);
  return {
    serve: (app) => {
      handler = app;
      const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
      isProxy = (address) => trusts(address, 0);
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

const bind = (server: Server, host: string, port: number, prefix: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        reject(
          new ConfigError(
            `${prefix}PORT ${port} on ${host} is in use by another program: stop that program, or set ${prefix}PORT to a free port`,
          ),
        );
      else if (error.code === 'EACCES')
        reject(
          new ConfigError(
            `this user may not use ${prefix}PORT ${port} on ${host}: set ${prefix}PORT to a port above 1023`,
          ),
        );
      else if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
        reject(new ConfigError(`${prefix}HOST ${host} is not an address of this machine`));
      else reject(error);
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
