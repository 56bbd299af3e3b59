// Encodes facts for the log and decodes them. Codecs are asynchronous and work on batches. This allows encrypting personal fields with
// external keys, or chaining events by hashes, without changing the callers.
import type { Fact } from '../../domain/kernel/decider.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import type { Serde } from '../../domain/kernel/serde.ts';
import type { EventStore, ExpectedRevision, NewEvent, ReadOptions, RecordedEvent } from './eventStore.ts';
import type { EventMetadata, LoggedEvent } from './loggedEvent.ts';

/** The events of one append, and their context. */
export interface EventsToEncode<Event extends Fact<string, unknown> = Fact<string, unknown>> {
  readonly serde: Pick<Serde<Event>, 'encode' | 'newest' | 'storedData' | 'takePersonal'>;
  readonly stream: StreamName;
  /** Revision of the stream's last event before the append; -1 if the stream is empty. */
  readonly after: ExpectedRevision;
  readonly events: readonly Event[];
  /** A random id for each run of a command. */
  readonly commandId: string;
  readonly metadata: EventMetadata;
  /** Whether the stream is assumed to be empty without having been read, so that the append may store a new data key. Default: false. */
  readonly isCreation?: boolean;
}

/** An event that this version can't read (a poison event), and the reason, which contains no personal data. */
export class UnreadableEvent {
  readonly recorded: RecordedEvent;
  readonly reason: Error;
  constructor(recorded: RecordedEvent, reason: Error) {
    this.recorded = recorded;
    this.reason = reason;
  }
}
export type Decoded = LoggedEvent | UnreadableEvent;

export interface EventCodec {
  /**
   * Returns the events in stored form, in order. Each id is a hash of the command id, the place in the append and the content, so only a
   * repeat of the same append has the same ids. The metadata key `chain` is reserved for a chain of hashes. Throws DataKeysUnavailable.
   */
  encode(append: EventsToEncode): Promise<readonly NewEvent[]>;

  /**
   * Returns each event decoded, or the reason why it can't be read, in order. An unreadable event never makes the call reject. Erased
   * personal data reads as null or `erased`. Throws DataKeysUnavailable. `isClosed`: payers' personal data may read as erased, too. No key
   * is fetched and nothing opened then. Default: false.
   */
  decode(recorded: readonly RecordedEvent[], isClosed?: boolean): Promise<readonly Decoded[]>;
}

/** Returns the codec for readers that never look at payers' personal data. */
export const closedCodec = (codec: EventCodec): EventCodec => ({
  encode: (append) => codec.encode(append),
  decode: (recorded) => codec.decode(recorded, true),
});

/** The event store and the codec of its events. */
export interface EventLog {
  readonly store: EventStore;
  readonly codec: EventCodec;
}

/** Streams are read in pages, so that memory does not grow with the stream. */
const PAGE_EVENTS = 256;

/** Reads a stream in order and yields its events decoded, up to 256 at a time. Throws EventStoreUnavailable. */
export async function* readDecoded(
  { store, codec }: EventLog,
  stream: StreamName,
  options?: ReadOptions,
): AsyncIterable<readonly Decoded[]> {
  let page: RecordedEvent[] = [];
  for await (const recorded of store.readStream(stream, options)) {
    page.push(recorded);
    if (page.length < PAGE_EVENTS) continue;
    yield await codec.decode(page);
    page = [];
  }
  if (page.length > 0) yield await codec.decode(page);
}

/** The field of stored data that holds the sealed personal fields. */
export const SEALED = 'sealed';
const SEALED_TEXT = /"sealed":"[^"]/;
/** Returns whether stored data has sealed fields, which need the data key of their owner. */
export const hasSealed = (data: string): boolean => SEALED_TEXT.test(data);
