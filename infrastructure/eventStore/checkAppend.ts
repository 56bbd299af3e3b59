// Validates an append before an adapter sends it, so that an invalid append never reaches the server and fails others in its batch.
import { APPEND_BYTES_MAX, InvalidAppend, type NewEvent, type StoredKey } from '../../application/ports/eventStore.ts';

const EVENT_BYTES_MAX = APPEND_BYTES_MAX / 2;
/** UTF-16 units. Quita's names have fewer than 50; an index entry of PostgreSQL holds 2,700 bytes. */
const STREAM_LENGTH_MAX = 200;
const TYPE_LENGTH_MAX = 100;
const STREAM = /^[A-Za-z][A-Za-z0-9]*-[^\p{Cc}]+$/u;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A validated append, with ids in lower case and its sizes. */
export interface CheckedAppend {
  readonly stream: string;
  readonly expected: number;
  readonly events: readonly Omit<NewEvent, 'dataKey'>[];
  /** The new key to be stored with the events. */
  readonly dataKey?: StoredKey | undefined;
  /** UTF-8 bytes of all `data`, and of all `metadata`. */
  readonly dataBytes: number;
  readonly metadataBytes: number;
}

/** PostgreSQL's text can't hold U+0000 or a lone surrogate. Escaped inside JSON (\u0000, \ud800), both are plain ASCII. */
const storable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Checks only the first and last character: the texts come from Quita's own serde, and parsing each would cost more than the append. */
const looksLikeObject = (json: string): boolean => json.startsWith('{') && json.endsWith('}');

const checkStream = (stream: string): void => {
  if (stream.length > STREAM_LENGTH_MAX || !STREAM.test(stream) || !storable(stream)) {
    throw new InvalidAppend(`bad stream name ${JSON.stringify(stream.slice(0, STREAM_LENGTH_MAX))}`);
  }
};

const checkType = (type: string): void => {
  if (type.length < 1 || type.length > TYPE_LENGTH_MAX || type.startsWith('$') || !storable(type)) {
    throw new InvalidAppend(`bad event type ${JSON.stringify(type.slice(0, TYPE_LENGTH_MAX))}`);
  }
};

const checkJson = (field: 'data' | 'metadata', json: string): number => {
  if (!looksLikeObject(json)) throw new InvalidAppend(`${field} is not the JSON text of an object`);
  if (!storable(json)) throw new InvalidAppend(`${field} holds U+0000 or a lone surrogate that is not escaped`);
  return Buffer.byteLength(json);
};

/** Throws InvalidAppend at the first fault, in this order: revision, stream, no events; then per event: type, id, data, metadata, size. */
export const checkAppend = (stream: string, expected: number, events: readonly NewEvent[]): CheckedAppend => {
  if (!Number.isSafeInteger(expected) || expected < -1) throw new InvalidAppend(`bad expected revision ${expected}`);
  checkStream(stream);
  if (events.length === 0) throw new InvalidAppend('an append needs at least one event');
  const seen = new Set<string>();
  let dataBytes = 0;
  let metadataBytes = 0;
  const checked = events.map((event): NewEvent => {
    checkType(event.type);
    const id = event.id.toLowerCase();
    if (!UUID.test(id)) throw new InvalidAppend(`bad event id ${JSON.stringify(event.id.slice(0, 50))}`);
    if (seen.has(id)) throw new InvalidAppend(`event id ${id} occurs twice in one append`);
    seen.add(id);
    const bytesOfData = checkJson('data', event.data);
    const bytesOfMetadata = checkJson('metadata', event.metadata);
    if (bytesOfData + bytesOfMetadata > EVENT_BYTES_MAX) throw new InvalidAppend('event exceeds 500,000 bytes');
    dataBytes += bytesOfData;
    metadataBytes += bytesOfMetadata;
    if (dataBytes + metadataBytes > APPEND_BYTES_MAX) throw new InvalidAppend('append exceeds 1,000,000 bytes');
    return { id, type: event.type, data: event.data, metadata: event.metadata };
  });
  const dataKey = events.find((event) => event.dataKey !== undefined)?.dataKey;
  return { stream, expected, events: checked, dataKey, dataBytes, metadataBytes };
};
