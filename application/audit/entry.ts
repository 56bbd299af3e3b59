// The canonical form of an event, which is a leaf of the audit log: RFC 8785 (JCS), the same bytes from both event stores.
import { isDeletable } from '../../domain/aggregates.ts';
import { jsonOf } from '../core/eventView.ts';
import { completeMetadata, type StoredMetadata } from '../core/storedMetadata.ts';
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

const metadataOf = ({ metadata, stream }: RecordedEvent): Entry['metadata'] => {
  const stored = jsonOf(metadata);
  return typeof stored === 'object' && stored !== null
    ? completeMetadata(stored as unknown as StoredMetadata, stream)
    : metadata;
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
  return { data: jsonOf(event.data), id, metadata: metadataOf(event), recordedAt, revision, stream, type };
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
