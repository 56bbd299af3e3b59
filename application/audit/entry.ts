// The canonical form of an event, which is a leaf of the audit log: RFC 8785 (JCS), the same bytes from both event stores.
import { isDeletable } from '../../domain/aggregates.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import { leafHash } from './merkleTree.ts';

/** The content of an entry. */
export interface Entry {
  /** As stored: personal fields are sealed, and fields with a known value are omitted. */
  readonly data: unknown;
  readonly id: string;
  /** Complete. A text only if the stored one isn't JSON, which no version of Quita writes. */
  readonly metadata: (EventMetadata & { readonly v: number }) | string;
  /** When the event was first recorded, also if the log has moved since. */
  readonly recordedAt: string;
  readonly revision: number;
  readonly stream: string;
  readonly type: string;
}

/** Returns whether the event is a leaf. Deliveries of webhooks expire, so they are not. */
export const isEntry = ({ stream }: Pick<RecordedEvent, 'stream'>): boolean => !isDeletable(stream);

/** Stored metadata, in which derivable values are omitted (application/core/eventCodec.ts). */
interface StoredMetadata {
  readonly account: EventMetadata['account'];
  readonly mode: EventMetadata['mode'];
  readonly actor: string;
  readonly requestId?: string;
  readonly $correlationId?: string;
  readonly $causationId?: string;
  readonly v?: number;
}

/** Callers that act by a request. */
const BY_REQUEST = /^(?:key|user):/;

/** Returns the value, or the text itself if it isn't JSON: then somebody changed the store, and the leaf must show it. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const metadataOf = ({ metadata, stream }: RecordedEvent): Entry['metadata'] => {
  const value = parsed(metadata);
  if (typeof value !== 'object' || value === null) return metadata;
  const stored = value as StoredMetadata;
  const { account, actor, mode, v = 1 } = stored;
  const { $correlationId: correlationId = readStreamName(stream).id } = stored;
  const { $causationId: causationId = correlationId } = stored;
  const { requestId = BY_REQUEST.test(actor) ? causationId : null } = stored;
  return { account, actor, causationId, correlationId, mode, requestId, v };
};

/** Objects list such keys in another order than they were set, or not at all. */
const ODD_KEY = /^(?:\d|__proto__$)/;
class OddKey extends Error {}

/** Returns the value with the keys of its objects in order. Throws OddKey. */
const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    if (ODD_KEY.test(key)) throw new OddKey();
    ordered[key] = sorted((value as Record<string, unknown>)[key]);
  }
  return ordered;
};

/** Returns canonical JSON. Unlike a library's, it also writes lone surrogates, which merchants can send: escaped, as they were stored. */
const canonical = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)}}`;
};

export const entryOf = (event: RecordedEvent): Entry => {
  const { id, recordedAt, revision, stream, type } = event;
  return { data: parsed(event.data), id, metadata: metadataOf(event), recordedAt, revision, stream, type };
};

/** Returns the complete metadata of an event, or null if the stored text isn't JSON. */
export const metadataIn = (event: RecordedEvent): EventMetadata | null => {
  const metadata = metadataOf(event);
  return typeof metadata === 'string' ? null : metadata;
};

/** Returns the bytes of the event's entry. */
export const entryBytes = (event: RecordedEvent): Buffer => {
  const entry = entryOf(event);
  try {
    // The entry and its metadata have their keys in order. This takes half of the time of `canonical`.
    return Buffer.from(JSON.stringify({ ...entry, data: sorted(entry.data) }));
  } catch (error) {
    if (!(error instanceof OddKey)) throw error;
    return Buffer.from(canonical(entry));
  }
};

export const leafOf = (event: RecordedEvent): Buffer => leafHash(entryBytes(event));
