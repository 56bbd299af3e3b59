// Helpers for tests of the HTTP API: exact error bodies, requests that fetch can't send, and events in the log.

import { request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { StreamName } from '../../domain/kernel/ids.ts';
import type { ErrorCode, Problem } from '../../domain/kernel/rejection.ts';
import { type Reply, TestGateway } from './gateway.ts';

/** Opens a gateway and waits until its read models and reactions have caught up, as the program does (infrastructure/boot/program.ts). */
export const openReady = async (options: Parameters<typeof TestGateway.open>[0] = {}): Promise<TestGateway> => {
  const gateway = await TestGateway.open(options);
  const { projected, reacted } = gateway.gateway;
  expect(await Promise.all([projected.caughtUp(10_000), reacted.caughtUp(10_000)])).to.deep.equal([true, true]);
  return gateway;
};

export interface ErrorReply {
  readonly error: {
    readonly type: string;
    readonly code: ErrorCode;
    readonly message: string;
    readonly param?: string;
    readonly details?: readonly Problem[];
  };
  readonly request_id: string;
}

/** Error types by status (contract.md Errors, rule E1), independent of the product. */
const TYPES: { readonly [status: number]: string } = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  408: 'invalid_request_error',
  409: 'conflict_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  431: 'invalid_request_error',
  500: 'api_error',
  503: 'api_error',
};

/** Expects exactly this error body and its headers. If `param` is undefined, the body has none. Returns the problems in `details`. */
export const expectError = (
  reply: Reply<unknown>,
  status: number,
  code: ErrorCode,
  param?: string,
): readonly Problem[] => {
  const body = reply.body as ErrorReply;
  expect([reply.status, body.error?.code, body.error?.param], reply.text).to.deep.equal([status, code, param]);
  const { message, details } = body.error;
  expect(message).to.match(/^\S.*\S$/s);
  expect(body).to.deep.equal({
    error: { type: TYPES[status], code, message, ...(param !== undefined && { param }), ...(details && { details }) },
    request_id: reply.headers.get('x-request-id'),
  });
  expect(reply.headers.get('x-request-id')).to.match(/^[A-Za-z0-9._-]{1,128}$/);
  expect(reply.headers.get('content-type')).to.equal('application/json; charset=utf-8');
  const [, help] = /^<https?:\/\/[^/]+\/docs\/errors#(.+)>; rel="help"$/.exec(reply.headers.get('link') ?? '') ?? [];
  expect(help).to.equal(code);
  if (status === 400 && param !== undefined) expect(paramsOf(details ?? []), 'details').to.deep.equal([param]);
  for (const problem of details ?? []) {
    expect(Object.keys(problem)).to.deep.equal(['param', 'message']);
    expect(problem.message).to.match(/\S/);
  }
  return details ?? [];
};

export const paramsOf = (details: readonly Problem[]): string[] => details.map((problem) => problem.param);

/** Returns the types of a stream's events, in order. */
export const eventTypes = async ({ storage }: TestGateway, stream: StreamName): Promise<string[]> => {
  const types: string[] = [];
  for await (const event of storage.store.readStream(stream)) types.push(event.type);
  return types;
};

export const rawIdOf = (id: string): string => id.replace(/^[a-z]+_/, '');

interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Written one after the other. Without a Content-Length header they are sent with chunked encoding. */
  readonly chunks?: readonly (string | Buffer)[];
  /** Called when the server has the headers. The body is sent afterwards. */
  readonly beforeBody?: () => Promise<void>;
}

/** Sends a request with `node:http`, which allows repeated headers and chunked bodies and adds no content type. */
export const rawCall = (gateway: TestGateway, options: RawRequest): Promise<Reply<Record<string, unknown>>> =>
  new Promise((resolve, reject) => {
    const { method = 'POST', path = '/v1/charges', headers = {}, chunks = [], beforeBody } = options;
    const all = { apikey: gateway.tenant.testKey, ...headers, ...(beforeBody && { expect: '100-continue' }) };
    const req = request(new URL(path, gateway.baseUrl), { method, headers: all }, (res) => {
      const got: Buffer[] = [];
      res.on('data', (chunk: Buffer) => got.push(chunk));
      res.on('end', () => {
        const text = Buffer.concat(got).toString('utf8');
        const entries = Object.entries(res.headers).map(([name, value]) => [name, String(value)] as [string, string]);
        const body = JSON.parse(text) as Record<string, unknown>;
        resolve({ status: res.statusCode ?? 0, headers: new Headers(entries), text, body });
      });
    });
    req.on('error', reject);
    const sendBody = () => {
      for (const chunk of chunks) req.write(chunk);
      req.end();
    };
    if (beforeBody === undefined) return sendBody();
    req.once('continue', () => beforeBody().then(sendBody, reject));
    req.flushHeaders();
  });

/** Sends bytes over a socket. Returns the response when the server closes the connection or `isEnough` returns true. */
export const rawSocket = (port: number, bytes: string, isEnough: (text: string) => boolean): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const done = () => {
      socket.destroy();
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (isEnough(text)) done();
    });
    socket.on('end', done);
    socket.on('error', (error) => (text === '' ? reject(error) : done()));
  });

export const portOf = (gateway: TestGateway): number => Number(new URL(gateway.baseUrl).port);
