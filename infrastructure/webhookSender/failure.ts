// Why an attempt failed: one stable word, then a short line for people (rule W4).
import type { AttemptErrorKind } from '../../application/ports/webhookSender.ts';

const MAX_ERROR_LENGTH = 300;

export class AttemptFailure extends Error {
  readonly kind: AttemptErrorKind;

  constructor(kind: AttemptErrorKind, detail: string) {
    super(detail);
    this.kind = kind;
  }
}

/** `<kind>: <detail>` in one line of at most 300 characters, without control characters or broken surrogates. */
export function errorLine(kind: AttemptErrorKind, detail: string): string {
  const line = `${kind}: ${detail.replaceAll(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim()}`.toWellFormed();
  if (line.length <= MAX_ERROR_LENGTH) return line;
  const cut = line.slice(0, MAX_ERROR_LENGTH);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** Any thrown value as an error line. What has no better name is a `connection` failure. */
export function describeFailure(error: unknown): string {
  if (error instanceof AttemptFailure) return errorLine(error.kind, error.message);
  const code = errorCode(error);
  if (isTlsCode(code)) return errorLine('tls', tlsDetail(error));
  return errorLine('connection', connectionDetail(error));
}

/** The error of a socket that was still being opened; `handshaking`: TCP stands, TLS does not. */
export function dialFailure(error: unknown, handshaking: boolean): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  // A peer that hangs up during the handshake has said nothing about certificates.
  const hungUp = ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'].includes(errorCode(error));
  return handshaking && !hungUp
    ? new AttemptFailure('tls', tlsDetail(error))
    : new AttemptFailure('connection', connectionDetail(error));
}

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const isTlsCode = (code: string): boolean =>
  code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');

// OpenSSL's own messages hold addresses of memory and source files; its reason is the part worth reading.
function tlsDetail(error: unknown): string {
  if (error instanceof Error && 'reason' in error && typeof error.reason === 'string' && isTlsCode(errorCode(error))) {
    return `${errorCode(error)}, ${error.reason}`;
  }
  // Node adds advice for whoever runs the client after a semicolon; who reads this runs the server.
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('; if the root CA', 1);
  return errorCode(error) === '' ? message : `${errorCode(error)}, ${message}`;
}

function connectionDetail(error: unknown): string {
  // Several addresses were tried: each has its own reason.
  if (error instanceof AggregateError) return [...new Set(error.errors.map(connectionDetail))].join('; ');
  if (!(error instanceof Error)) return 'unknown error';
  // Node's message of a system error names addresses, the platform's own and those that names stand for inside its network.
  if ('syscall' in error && typeof error.syscall === 'string') return `${error.syscall} ${errorCode(error)}`;
  return error.message || errorCode(error) || error.name;
}
