// The reason for a failed attempt: one stable word, then a short description (rule W4).
import type { AttemptErrorKind } from '../../application/ports/webhookSender.ts';

const MAX_ERROR_LENGTH = 300;

export class AttemptFailure extends Error {
  readonly kind: AttemptErrorKind;

  constructor(kind: AttemptErrorKind, detail: string) {
    super(detail);
    this.kind = kind;
  }
}

/** Returns `<kind>: <detail>` in one line of at most 300 characters, without control characters or broken surrogates. */
export function errorLine(kind: AttemptErrorKind, detail: string): string {
  const line = `${kind}: ${detail.replaceAll(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim()}`.toWellFormed();
  if (line.length <= MAX_ERROR_LENGTH) return line;
  const cut = line.slice(0, MAX_ERROR_LENGTH);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** Returns any thrown value as an error line. The default kind is `connection`. */
export function describeFailure(error: unknown): string {
  if (error instanceof AttemptFailure) return errorLine(error.kind, error.message);
  const code = errorCode(error);
  if (isTlsCode(code)) return errorLine('tls', tlsDetail(error));
  return errorLine('connection', connectionDetail(error));
}

/** Returns the failure of a socket that was still being opened. `handshaking`: TCP is connected, TLS is not. */
export function dialFailure(error: unknown, handshaking: boolean): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  // If the peer closes the connection during the handshake, the certificate is not the cause.
  const hungUp = ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'].includes(errorCode(error));
  return handshaking && !hungUp
    ? new AttemptFailure('tls', tlsDetail(error))
    : new AttemptFailure('connection', connectionDetail(error));
}

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const isTlsCode = (code: string): boolean =>
  code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');

// OpenSSL's messages contain memory addresses and source files; only its reason is useful.
function tlsDetail(error: unknown): string {
  if (error instanceof Error && 'reason' in error && typeof error.reason === 'string' && isTlsCode(errorCode(error))) {
    return `${errorCode(error)}, ${error.reason}`;
  }
  // After a semicolon, Node adds advice for the client's operator. The reader of this message runs the server.
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('; if the root CA', 1);
  return errorCode(error) === '' ? message : `${errorCode(error)}, ${message}`;
}

function connectionDetail(error: unknown): string {
  // Several addresses were tried, each with its own reason.
  if (error instanceof AggregateError) return [...new Set(error.errors.map(connectionDetail))].join('; ');
  if (!(error instanceof Error)) return 'unknown error';
  // Node's messages of system errors contain addresses: the platform's own, and those that names resolve to inside its network.
  if ('syscall' in error && typeof error.syscall === 'string') return `${error.syscall} ${errorCode(error)}`;
  return error.message || errorCode(error) || error.name;
}
