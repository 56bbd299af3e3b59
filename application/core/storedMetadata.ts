// The stored form of events' metadata. It omits values that follow from the others, or from the stream's name.
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';

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
