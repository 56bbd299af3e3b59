// Translates errors of the server and the connection into their meaning for the caller.
import { type ServiceError, status } from '@grpc/grpc-js';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * `notSent`: nothing was written, and a retry may succeed. `outcomeUnknown`: the append may have been written. `refused`: nothing was
 * written, and a retry would soon fail in the same way (access, version). `invalid`: the same request always fails. `streamDeleted`: the
 * stream was deleted permanently. `wrongRevision`: the stream's last revision is not the expected one.
 */
type FailureKind = 'notSent' | 'outcomeUnknown' | 'refused' | 'invalid' | 'streamDeleted' | 'wrongRevision';

export class StoreFailure extends Error {
  override name = 'StoreFailure';
  readonly kind: FailureKind;
  /** The leader, if the node reported that it does not lead; else null. */
  readonly leader: Endpoint | null;

  constructor(kind: FailureKind, message: string, options: { cause?: unknown; leader?: Endpoint } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.leader = options.leader ?? null;
  }
}

/** Returns the failure for withTimeout when nothing had been sent yet. */
export const notSentWithin = (ms: number, what: string) => (): StoreFailure =>
  new StoreFailure('notSent', `${what} within ${Math.round(ms)} ms`);

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';

const trailer = (error: ServiceError, key: string): string => error.metadata?.get(key)[0]?.toString() ?? '';

/** Exceptions that the server names in a trailer; other errors are classified by their status. */
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

/** Whether no record has the starting position. Servers up to 23.10 report this as UNKNOWN, newer ones as INVALID_ARGUMENT. */
export const isUnknownPosition = ({ cause }: StoreFailure): boolean =>
  isServiceError(cause) && /invalid ?position/i.test(cause.details);

/** Translates an error. `sent`: the request had left, so unless it was rejected, its outcome is unknown (busy, cut, reset, timed out). */
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
