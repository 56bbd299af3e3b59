// The form in which an event is a leaf of the audit log: one line of JSON, the same from both event stores.
import { isDeletable } from '../../domain/aggregates.ts';
import { completeMetadata, type StoredMetadata } from '../core/eventMetadata.ts';
import { jsonOf } from '../core/eventView.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';
import type { EventMetadata } from '../ports/loggedEvent.ts';
import { leafHash } from './merkleTree.ts';

/** Returns whether the event is a leaf. Deliveries of webhooks expire, so they are not. */
export const isEntry = ({ stream }: Pick<RecordedEvent, 'stream'>): boolean => !isDeletable(stream);

/** Returns the stored text if it isn't JSON, which no version of Quita writes. */
const metadataOf = ({ metadata, stream }: RecordedEvent): (EventMetadata & { readonly v: number }) | string => {
  const stored = jsonOf(metadata);
  return typeof stored === 'object' && stored !== null
    ? completeMetadata(stored as unknown as StoredMetadata, stream)
    : metadata;
};

/** Returns the complete metadata of an event, or null if the stored text isn't JSON. */
export const metadataIn = (event: RecordedEvent): EventMetadata | null => {
  const metadata = metadataOf(event);
  return typeof metadata === 'string' ? null : metadata;
};

/** Returns whether a text can be part of a line of JSON unchanged. All texts that Quita stores can. */
const isOneLineOfJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return !/[\r\n]/.test(text);
  } catch {
    return false;
  }
};

/**
 * Returns the entry: the data as stored, then the id, the complete metadata, when the event was first recorded (also if the log has moved
 * since), revision, stream and type. Personal fields are sealed, and fields with a known value are omitted, as in the stored data.
 */
const entryText = (event: RecordedEvent): string => {
  const { id, recordedAt, revision, stream, type } = event;
  const data = isOneLineOfJson(event.data) ? event.data : JSON.stringify(event.data);
  const rest = JSON.stringify({ id, metadata: metadataOf(event), recordedAt, revision, stream, type });
  return `{"data":${data},${rest.slice(1)}`;
};

export const entryBytes = (event: RecordedEvent): Buffer => Buffer.from(entryText(event));

export const leafOf = (event: RecordedEvent): Buffer => leafHash(entryText(event));
