// The metadata of events: their actor, account, mode and cause. The stored form omits values that follow from the others, or from the
// stream's name.
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import { type AccountId, type Mode, PLATFORM_ACCOUNT, type Tenant } from '../../domain/kernel/ids.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';

/** The sender of a request. */
export interface Actor {
  /** `key:<first 16 hex characters of its fingerprint>`, `user:usr_…`, or `operator:<name>` on the command line. */
  readonly actor: string;
  readonly requestId: string;
}

/** The author of a change, by a request or on the command line (`requestId` null). */
export type Changer = Omit<Actor, 'requestId'> & { readonly requestId: string | null };

export const metadataForProcess = (
  process: string,
  tenant: Tenant,
  correlationId: string,
  causationId: string,
): EventMetadata => ({
  account: tenant.accountId,
  mode: tenant.mode,
  actor: `process:${process}`,
  requestId: null,
  correlationId,
  causationId,
});

export const metadataForRequest = (
  { actor, requestId }: Actor,
  tenant: Tenant,
  correlationId: string,
): EventMetadata => ({
  account: tenant.accountId,
  mode: tenant.mode,
  actor,
  requestId,
  correlationId,
  causationId: requestId,
});

/** Returns the metadata of a change to an account, or to the platform itself (null). `root`: the id of the changed entity. */
export const metadataForChange = (
  { actor, requestId }: Changer,
  accountId: AccountId | null,
  root: string,
): EventMetadata => ({
  account: accountId ?? PLATFORM_ACCOUNT,
  mode: 'live',
  actor,
  requestId,
  correlationId: root,
  causationId: requestId ?? root,
});

// --- The stored form ---

export interface StoredMetadata {
  readonly account: AccountId;
  readonly mode: Mode;
  readonly actor: string;
  /** Default: the causation id, if a request is the cause. */
  readonly requestId?: string;
  /** Default: the stream's subject. EventStoreDB defines the names with `$`. */
  readonly $correlationId?: string;
  /** Default: the correlation id. */
  readonly $causationId?: string;
  /** Version of the event's form; default 1. */
  readonly v?: number;
}

export const metadataText = (
  { account, mode, actor, requestId, correlationId, causationId }: EventMetadata,
  subject: string,
  v: number,
): string =>
  JSON.stringify({
    account,
    mode,
    actor,
    ...(requestId !== null && requestId !== causationId && { requestId }),
    ...(correlationId !== subject && { $correlationId: correlationId }),
    ...(causationId !== correlationId && { $causationId: causationId }),
    ...(v !== 1 && { v }),
  } satisfies StoredMetadata);

/** Callers that act by a request. */
const BY_REQUEST = /^(?:key|user):/;

/** Returns the metadata of an event of the stream with the omitted values, its keys in the order of their names. */
export const completeMetadata = (stored: StoredMetadata, stream: string): EventMetadata & { readonly v: number } => {
  const { account, actor, mode, v = 1 } = stored;
  const { $correlationId: correlationId = readStreamName(stream).id } = stored;
  const { $causationId: causationId = correlationId } = stored;
  const { requestId = BY_REQUEST.test(actor) ? causationId : null } = stored;
  return { account, actor, causationId, correlationId, mode, requestId, v };
};
