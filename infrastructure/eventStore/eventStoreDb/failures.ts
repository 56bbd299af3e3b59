// The one place where an error of the server or of the connection is translated into what it means for the caller.
import { type ServiceError, status } from '@grpc/grpc-js';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * `notSent`: nothing was written, and another try may succeed. `outcomeUnknown`: it may or may not have been written. `refused`:
 * nothing was written, and another try soon fails alike (access, version). `invalid`: the same request fails for ever. `streamDeleted`:
 * the stream was, for good. `wrongRevision`: it does not end where the request says.
 */
type FailureKind = 'notSent' | 'outcomeUnknown' | 'refused' | 'invalid' | 'streamDeleted' | 'wrongRevision';

export class StoreFailure extends Error {
  override name = 'StoreFailure';
  readonly kind: FailureKind;
  /** Whom to ask instead, when the node said that it does not lead. */
  readonly leader: Endpoint | null;

  constructor(kind: FailureKind, message: string, options: { cause?: unknown; leader?: Endpoint } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.leader = options.leader ?? null;
  }
}

/** For withTimeout: what was waited for had not begun to be written. */
export const notSentWithin = (ms: number, what: string) => (): StoreFailure =>
  new StoreFailure('notSent', `${what} within ${Math.round(ms)} ms`);

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';

const trailer = (error: ServiceError, key: string): string => error.metadata?.get(key)[0]?.toString() ?? '';

/** Exceptions that the server names in a trailer; the others are judged by their status. */
const BY_EXCEPTION: Readonly<Record<string, FailureKind>> = {
  'not-leader': 'notSent',
  'access-denied': 'refused',
  'stream-deleted': 'streamDeleted',
  'wrong-expected-version': 'wrongRevision',
  'maximum-append-size-exceeded': 'invalid',
  'maximum-append-event-size-exceeded': 'invalid',
};
const BY_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [status.UNAUTHENTICATED, 'refused'],
  [status.PERMISSION_DENIED, 'refused'],
  [status.UNIMPLEMENTED, 'refused'],
  [status.INVALID_ARGUMENT, 'invalid'],
]);

/** The position to begin at is that of no record. Servers up to 23.10 say so with UNKNOWN, newer ones with INVALID_ARGUMENT. */
export const isUnknownPosition = ({ cause }: StoreFailure): boolean =>
  isServiceError(cause) && /invalid ?position/i.test(cause.details);

/** `sent`: the request had left when it failed, so that everything not known to be refused is in doubt: busy, cut, reset, timed out. */
export const translated = (error: unknown, sent: boolean): StoreFailure => {
  if (error instanceof StoreFailure) return error;
  const fallback = sent ? 'outcomeUnknown' : 'notSent';
  if (!isServiceError(error))
    return new StoreFailure(fallback, error instanceof Error ? error.message : String(error), { cause: error });
  const exception = trailer(error, 'exception');
  const kind = BY_EXCEPTION[exception] ?? BY_STATUS.get(error.code) ?? fallback;
  if (error.code === status.UNAUTHENTICATED)
    return new StoreFailure(
      kind,
      `EventStoreDB rejected the user or password in the connection string (${error.details})`,
      { cause: error },
    );
  if (kind === 'refused') {
    return new StoreFailure(
      kind,
      `EventStoreDB denied access: ${error.details} (check the user in the connection string; $all needs an admin or an ACL)`,
      { cause: error },
    );
  }
  const address = trailer(error, 'leader-endpoint-host');
  const port = Number(trailer(error, 'leader-endpoint-port'));
  const leader = exception === 'not-leader' && address !== '' && port > 0 ? { address, port } : null;
  return new StoreFailure(kind, error.message, { cause: error, ...(leader && { leader }) });
};
