// Misbehaving webhook receivers on loopback. Each answers every request in one faulty way.
import type { Socket } from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { openRawReceiver, openReceiver, type Receiver } from '../infrastructure/webhookSender/receiver.ts';
import { ELSEWHERE, EXPIRED, type Identity, RECEIVER } from '../support/tls/certificates.ts';

/** The state of a delivery after one attempt. */
export interface Outcome {
  readonly status: 'DELIVERED' | 'PENDING';
  readonly lastStatusCode: number | null;
  /** Starts with the stable word of rule W4. Null without an error. */
  readonly lastError: RegExp | null;
  /** Undefined if there is none. */
  readonly lastResponseBody?: string | RegExp;
}
interface Hostile {
  readonly open: () => Promise<Receiver>;
  /** Host of the URL. Default: 127.0.0.1. */
  readonly host?: string;
  readonly outcome: Outcome;
}

const delivered = (lastStatusCode = 200): Outcome => ({ status: 'DELIVERED', lastStatusCode, lastError: null });
const failed = (
  lastError: RegExp,
  lastStatusCode: number | null = null,
  lastResponseBody?: string | RegExp,
): Outcome => ({
  status: 'PENDING',
  lastStatusCode,
  lastError,
  ...(lastResponseBody !== undefined && { lastResponseBody }),
});

const KEPT_BYTES = 4_096;
/** Decoded size in bytes. A sender that decoded the whole body would need that much memory. */
const BOMB_BYTES = 64 * 1_048_576;
const DRIP_MS = 20;

const raw = (talk: (socket: Socket) => void) => () => openRawReceiver(talk);
/** Sends the text unchanged and keeps the connection open. */
const saying = (text: string) => raw((socket) => void socket.write(text));
/** Sends `head`, then repeats `part` until the client disconnects. */
const endless = (head: string, part: string) => {
  const bytes = Buffer.from(part.repeat(Math.ceil(16_384 / part.length)));
  return raw((socket) => {
    const flood = () => {
      while (!socket.destroyed && socket.write(bytes));
    };
    socket.write(head);
    socket.on('drain', flood);
    flood();
  });
};
/** Sends `head`, then one byte every DRIP_MS. */
const dripping = (head: string) =>
  raw((socket) => {
    socket.write(head);
    const drip = setInterval(() => socket.write('.'), DRIP_MS);
    socket.on('close', () => clearInterval(drip));
  });
const resetting = (head: string) => raw((socket) => socket.write(head || ' ', () => socket.resetAndDestroy()));
const answering =
  (statusCode: number, headers: Readonly<Record<string, string | readonly string[]>> = {}, body = '') =>
  () =>
    openReceiver((response) => response.writeHead(statusCode, headers as Record<string, string | string[]>).end(body));
/** Digits, because NUL bytes would appear as U+FFFD. */
const zeros = Buffer.alloc(BOMB_BYTES, '0');
const GZIPPED = gzipSync(zeros);
const LARGEST_WINDOW = {
  params: {
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: BOMB_BYTES,
    [constants.BROTLI_PARAM_QUALITY]: 9, // The same size as with the highest quality, in a twentieth of the time.
  },
};
/** Sends a small body that decodes to a large one, and withholds its last byte. */
const bomb =
  (coding: string, bytes: Buffer, statusCode = 200) =>
  () =>
    openReceiver((response) => {
      response.writeHead(statusCode, { 'content-encoding': coding, 'content-length': bytes.length + 1 });
      response.write(bytes);
    });
const secured = (identity: Identity) => () => openReceiver((response) => response.end('ok'), identity);

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const KEPT = '0'.repeat(KEPT_BYTES);

/** Returns receivers by the way in which they fail. `deadlineMs` is the sender's deadline. */
export const hostileReceivers = (deadlineMs: number): Readonly<Record<string, Hostile>> => {
  const silent = new RegExp(`^timeout: no answer within ${deadlineMs} ms$`);
  const incomplete = new RegExp(`^timeout: answer not complete within ${deadlineMs} ms$`);
  const connection = /^connection: \S/;
  return {
    'responds with 500': { open: answering(500, {}, 'no'), outcome: failed(/^status: 500$/, 500, 'no') },
    'responds with 410': { open: answering(410), outcome: failed(/^status: 410$/, 410) },
    'never responds': { open: raw(() => undefined), outcome: failed(silent) },
    'drips its headers': { open: dripping(`${OK}x: `), outcome: failed(silent) },
    'sends early hints without end': {
      open: endless('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
      outcome: failed(silent),
    },
    'stops in the middle of its body': {
      open: saying(`${OK}content-length: 9\r\n\r\nslow`),
      outcome: failed(incomplete, 200, 'slow'),
    },
    'drips its body': {
      open: dripping(`${OK}content-length: 9999\r\n\r\nslow`),
      outcome: failed(incomplete, 200, /^slow\.+$/),
    },
    'drips the body of an error response': {
      open: dripping('HTTP/1.1 503 No\r\ncontent-length: 9999\r\n\r\nslow'),
      outcome: failed(/^status: 503$/, 503, /^slow\.+$/),
    },
    'resets the connection': { open: resetting(''), outcome: failed(connection) },
    'resets the connection in the middle of its body': {
      open: resetting(`${OK}content-length: 9\r\n\r\n`),
      outcome: failed(connection, 200),
    },
    'speaks another protocol': { open: saying('SSH-2.0-OpenSSH_9.6\r\n'), outcome: failed(connection) },
    'redirects forever': {
      open: answering(301, { location: '/again' }),
      outcome: failed(/^redirect: 301 to \/again$/, 301),
    },
    'redirects to the metadata service of the cloud': {
      open: answering(307, { location: 'http://169.254.169.254/latest/meta-data' }),
      outcome: failed(/^redirect: 307 to http:\/\/169\.254\.169\.254\/latest\/meta-data$/, 307),
    },
    'responds with 304 Not Modified': { open: answering(304), outcome: failed(/^redirect: 304$/, 304) },
    'sends an endless body': { open: endless(`${OK}\r\n`, '0'), outcome: delivered() },
    'sends endless chunks': { open: endless(CHUNKED, `1000\r\n${KEPT}\r\n`), outcome: delivered() },
    'sends an endless body with an error response': {
      open: endless('HTTP/1.1 500 No\r\n\r\n', '0'),
      outcome: failed(/^status: 500$/, 500, KEPT),
    },
    'sends endless headers': { open: endless(`${OK}`, `x-a: ${'a'.repeat(1_000)}\r\n`), outcome: failed(connection) },
    'sends one endless header': { open: endless(`${OK}x-a: `, 'a'), outcome: failed(connection) },
    'sends endless chunk extensions': { open: endless(`${CHUNKED}1;`, 'a'), outcome: failed(incomplete, 200) },
    'sends endless trailers': {
      open: endless(`${CHUNKED}2\r\nok\r\n0\r\n`, `x-a: ${'a'.repeat(1_000)}\r\n`),
      outcome: failed(connection, 200, 'ok'),
    },
    'sends a gzip bomb': { open: bomb('gzip', GZIPPED), outcome: delivered() },
    'sends a deflate bomb': { open: bomb('deflate', deflateSync(zeros)), outcome: delivered() },
    'sends a raw deflate bomb': { open: bomb('deflate', deflateRawSync(zeros)), outcome: delivered() },
    'sends a brotli bomb': { open: bomb('br', brotliCompressSync(zeros, LARGEST_WINDOW)), outcome: delivered() },
    'sends a gzip bomb with an error response': {
      open: bomb('gzip', GZIPPED, 500),
      outcome: failed(/^status: 500$/, 500, KEPT),
    },
    'sends a body that is not in the declared encoding': {
      open: answering(200, { 'content-encoding': 'gzip' }, 'plain'),
      outcome: delivered(),
    },
    'has an expired certificate': {
      open: secured(EXPIRED),
      host: 'hooks.example.test',
      outcome: failed(/^tls: CERT_HAS_EXPIRED, certificate has expired$/),
    },
    'has a self-signed certificate': {
      open: secured(ELSEWHERE),
      host: 'elsewhere.example.test',
      outcome: failed(/^tls: DEPTH_ZERO_SELF_SIGNED_CERT, self-signed certificate$/),
    },
    'has a certificate for another name': {
      open: secured(RECEIVER),
      host: 'other.example.test',
      outcome: failed(/^tls: ERR_TLS_CERT_ALTNAME_INVALID, .*other\.example\.test/),
    },
    'has a valid certificate': { open: secured(RECEIVER), host: 'hooks.example.test', outcome: delivered() },
    'does not speak TLS': {
      open: async () => overTls(await answering(200)()),
      host: 'hooks.example.test',
      outcome: failed(/^tls: (EPROTO|ERR_SSL_[A-Z_]+), [a-z ]+$/),
    },
    'never completes the TLS handshake': {
      open: async () => overTls(await raw(() => undefined)()),
      host: 'hooks.example.test',
      outcome: failed(new RegExp(`^timeout: no connection within ${deadlineMs} ms$`)),
    },
    'has a name that does not exist': {
      open: answering(200),
      host: 'unknown.example.test',
      outcome: failed(/^dns: ENOTFOUND unknown\.example\.test$/),
    },
    'has a name that resolves to a forbidden address': {
      open: answering(200),
      host: 'forbidden.example.test',
      outcome: failed(/^blocked: forbidden\.example\.test has no address that deliveries may go to$/),
    },
  };
};

/** Returns the same receiver with an https URL. */
const overTls = (receiver: Receiver): Receiver => ({ ...receiver, url: receiver.url.replace('http:', 'https:') });
