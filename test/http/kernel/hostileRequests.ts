// Raw requests of an attacker with valid keys and logins: wrong types, hostile strings, deep and huge JSON, duplicate keys, odd encodings,
// header and path tricks. Also the checks that every answer must pass.
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Route } from '../../../http/kernel/route.ts';
import type { Owned } from '../examples/exampleParts.ts';
import { bodyOf, exampleOf, NO_ID } from '../examples/routeExamples.ts';
import { hostileBody } from './hostileBodies.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The possible callers, and the resources that requests name. */
interface Parties<Who> {
  readonly callers: readonly Who[];
  readonly owned: Owned;
}
export interface HostileRequest<Who> {
  readonly caller: Who;
  /** Returns the request’s bytes with these credential header lines. */
  bytesWith(credentials: readonly string[]): Buffer;
}

const HOSTILE_TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '9007199254740993',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f',
  '%00',
  '%ff%fe',
  '%',
  '%zz',
  '%ED%A0%80',
  '\u202e',
  "' OR '1'='1",
  '"; DROP TABLE events; --',
  '$ne',
  '__proto__',
  'constructor',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '\\u0000',
  'a'.repeat(300),
  'é'.repeat(2_000),
  '😀',
  NO_ID,
  `ch_${NO_ID}`,
  `we_${NO_ID}`,
  `CH_${NO_ID.toUpperCase()}`,
  '٣',
  'ı',
];
const hostileText = fc.constantFrom(...HOSTILE_TEXTS);
/** Encodes characters that would end or break a request line, such as blanks. */
const inLine = (text: string): string => text.replaceAll(/[\s"<>{}\\^`|]|[^\x21-\x7e]/gu, (c) => encodeURIComponent(c));

const pathsOf = (route: Route, owned: Owned): fc.Arbitrary<string> => {
  const { path, absent } = exampleOf(route);
  const own = path?.(owned) ?? route.path;
  const filled = fc.array(hostileText, { minLength: 3, maxLength: 3 }).map((texts) => {
    let n = 0;
    return route.path.replaceAll(/\{\w+\}/g, () => inLine(texts[n++] ?? '') || '%20');
  });
  const tricks = fc.constantFrom(
    `${own}/`,
    `/${own}`,
    own.toUpperCase(),
    own.replace('/v1/', '/v1/./'),
    own.replace('/v1/', '/v1/x/../'),
    own.replace('/v1/', '/v1%2f'),
    `${own}%00`,
    `${own};a=b`,
    `${own}.json`,
    `${own}\\..\\`,
    `http://example.com${own}`,
    own.replaceAll('/', '//'),
    `${own}#x`,
    `${own}/../..`,
    '*',
  );
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(own) },
    { weight: 2, arbitrary: fc.constant(absent ?? route.path) },
    { weight: 3, arbitrary: filled },
    { weight: 2, arbitrary: tricks },
  );
};

const queriesOf = (route: Route): fc.Arbitrary<string> => {
  const names = [...Object.keys(route.query), 'x', '__proto__', 'limit', 'constructor[prototype]', 'a[]', 'a.b'];
  const pair = fc
    .tuple(fc.constantFrom(...names), hostileText)
    .map(([name, text]) => `${inLine(name)}=${inLine(text)}`);
  const good = fc.constantFrom('limit=1', 'limit=100', 'days=30', 'status=paid', 'status=FAILED', 'page=2', 'offset=3');
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    {
      weight: 4,
      arbitrary: fc.array(fc.oneof(pair, good), { minLength: 1, maxLength: 4 }).map((all) => all.join('&')),
    },
    {
      weight: 1,
      arbitrary: pair.map((one) =>
        Array.from({ length: 400 }, () => one)
          .join('&')
          .slice(0, 6_000),
      ),
    },
  );
};

const HEADERS = [
  'apikey: x',
  'authorization: Bearer x.y.z',
  'authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c3JfMSIsInJvbGUiOiJPV05FUiJ9.',
  'authorization: Basic OnJvb3Q=',
  `cookie: ${'a=b; '.repeat(500)}`,
  'x-request-id: ../../x',
  `x-request-id: ${'r'.repeat(200)}`,
  'x-forwarded-for: 127.0.0.1, 10.0.0.1',
  'x-forwarded-host: evil.example',
  'forwarded: for=127.0.0.1;host=evil.example',
  'x-http-method-override: DELETE',
  'x-original-url: /metrics',
  'expect: 100-continue',
  'expect: a-miracle',
  'accept: text/html',
  'accept: application/json;q=nope, */*;q=0',
  'accept-language: pt-BR, \xff',
  'accept-encoding: gzip, br;q=99',
  'range: bytes=0-1, 5-900000000',
  'if-none-match: *',
  'if-modified-since: yesterday',
  'content-length: -1',
  'transfer-encoding: chunked',
  'transfer-encoding: identity, chunked',
  'idempotency-key: short',
  `idempotency-key: ${'k'.repeat(200)}`,
  'idempotency-key: \xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9',
  `x-long: ${'l'.repeat(15_000)}`,
  `x-too-long: ${'l'.repeat(40_000)}`,
  'upgrade: websocket',
  'te: trailers',
  'origin: https://evil.example',
];

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json; charset=nonsense',
  'application/xml',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/json, text/html',
  'JSON',
];

/** Generates an example with some values replaced by other types or hostile texts. */
const mutated = (example: object): fc.Arbitrary<string> => {
  const fields = [...Object.keys(example), 'metadata', 'customer', 'webhookUrl', 'url', 'events', 'reason', 'amount'];
  const value: fc.Arbitrary<unknown> = fc.oneof(
    hostileText,
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, 2 ** 53, [], {}, [[]], [null], { a: { b: { c: null } } }),
    fc.array(hostileText, { maxLength: 5 }),
    fc.dictionary(hostileText, hostileText, { maxKeys: 5 }),
  );
  return fc
    .array(fc.tuple(fc.constantFrom(...fields), value), { minLength: 1, maxLength: 3 })
    .map((changes) => JSON.stringify({ ...example, ...Object.fromEntries(changes) }));
};

const bodiesOf = (route: Route): fc.Arbitrary<Buffer> => {
  const example = { ...(exampleOf(route).body as object | undefined) };
  const text = JSON.stringify(example);
  const [first = 'amount'] = Object.keys(example);
  const odd = fc.constantFrom(
    Buffer.alloc(0),
    Buffer.from(text.replace('{', `{"${first}":null,"${first}":"twice",`)),
    Buffer.from(`\ufeff${text}`),
    Buffer.from(text, 'utf16le'),
    Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xfe, 0x7d])]),
    Buffer.from(text.slice(0, -1)),
    Buffer.from(`${text}${text}`),
    Buffer.from(`[${text}]`),
    Buffer.from('{"a":NaN}'),
    Buffer.from("{'a':1}"),
    Buffer.from('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}'),
    Buffer.from('null'),
    Buffer.from('"text"'),
    Buffer.from('['.repeat(30_000)),
    Buffer.from(`{"a":${'1'.repeat(60_000)}}`),
    Buffer.alloc(70_000, 0x20),
    gzipSync(text),
  );
  const json = bodyOf(route) === null ? fc.constant(text) : hostileBody(route, example);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(Buffer.from(text)) },
    { weight: 4, arbitrary: mutated(example).map((mutation) => Buffer.from(mutation)) },
    { weight: 1, arbitrary: json.map((hostile) => Buffer.from(hostile)) },
    { weight: 3, arbitrary: odd },
  );
};

/** Generates a request for the route. Only the credentials vary between sends, because a request may end its session. */
export const hostileRequest = <Who>(
  route: Route,
  { callers, owned }: Parties<Who>,
): fc.Arbitrary<HostileRequest<Who>> =>
  fc
    .record({
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant<string>(route.method) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'GE T'),
        },
      ),
      path: pathsOf(route, owned),
      query: queriesOf(route),
      caller: fc.constantFrom(...callers),
      idempotencyKey: fc.constantFrom('a-good-key-1', 'a-good-key-2', 'a-good-key-3'),
      type: fc.oneof({ weight: 5, arbitrary: fc.constant('application/json') }, fc.constantFrom(...CONTENT_TYPES)),
      headers: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.subarray(HEADERS, { maxLength: 3 })),
      body: bodiesOf(route),
      encoding: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, fc.constantFrom('gzip', 'br', 'nonsense')),
      declares: fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.constantFrom(-3, 100_000)),
    })
    .map(({ method, path, query, caller, idempotencyKey, type, headers, body, encoding, declares }) => {
      const isBare = method === 'GET' || method === 'HEAD';
      const lines = (credentials: readonly string[]) => [
        `${method} ${path}${query === '' ? '' : `${path.includes('?') ? '&' : '?'}${query}`} HTTP/1.1`,
        'host: 127.0.0.1',
        'connection: close',
        ...credentials,
        ...(isBare ? [] : [`content-type: ${type}`, `idempotency-key: ${idempotencyKey}`]),
        ...(isBare || encoding === '' ? [] : [`content-encoding: ${encoding}`]),
        ...(isBare ? [] : [`content-length: ${Math.max(0, body.length + declares)}`]),
        ...headers,
      ];
      const bytesWith = (credentials: readonly string[]): Buffer => {
        const head = Buffer.from(`${lines(credentials).join('\r\n')}\r\n\r\n`, 'latin1');
        return isBare ? head : Buffer.concat([head, body]);
      };
      return { caller, bytesWith };
    });

/** The client closes an incomplete request after this time; the server would wait for the rest. */
const PATIENCE_MS = 300;

/** Returns the answer, or null if the connection was closed without one. */
export const sendBytes = (port: number, bytes: Buffer): Promise<Answer | null> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(PATIENCE_MS, () => socket.end());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(answerOf(Buffer.concat(chunks))) : reject(error),
    );
    socket.on('close', () => resolve(answerOf(Buffer.concat(chunks))));
  });

const answerOf = (bytes: Buffer): Answer | null => {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  // The final answer follows an interim one (100 Continue).
  if (/^HTTP\/1\.1 1/.test(statusLine)) return answerOf(bytes.subarray(end + 4));
  const headers = new Headers();
  for (const line of lines) headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]),
    headers,
    text: bytes.subarray(end + 4).toString('utf8'),
  };
};

/** Internals that no answer may contain. */
const INSIDES =
  /node_modules|\bat \S+ \(|\.ts:\d+|node:internal|SELECT .* FROM|INSERT INTO|relation "|\bpg_[a-z]+_|operations\.|argon2|AssertionError|undefined is not|Cannot read propert/;

/** Checks an answer. `foreign` lists texts that belong to other callers. */
export const expectHarmless = (answer: Answer, foreign: readonly string[], of: string): void => {
  expect(answer.status, `${of}\n${answer.text}`).to.be.within(200, 499);
  const isText = !/^(image|application\/pdf)/.test(answer.headers.get('content-type') ?? '');
  if (isText) expect(INSIDES.exec(answer.text)?.[0], of).to.equal(undefined);
  // Answers allow no other origin and don’t name the server software.
  for (const name of ['access-control-allow-origin', 'x-powered-by', 'server'])
    expect(answer.headers.get(name), `${of}\n${name}`).to.equal(null);
  for (const text of foreign) expect(answer.text.includes(text), `${of}\nshows ${text}`).to.equal(false);
};
