// How facts go into the log and come out of it again. A codec works by batch and asynchronously, so that personal fields can be sealed with
// keys that are kept elsewhere, and the events of a stream chained by hashes, without a change of whoever uses it.
import type { Fact, StreamName } from '../../domain/kernel/event.ts';
import type { Serde } from '../../domain/kernel/serde.ts';
import type { EventStore, ExpectedRevision, NewEvent, ReadOptions, RecordedEvent } from './eventStore.ts';
import type { EventMetadata, LoggedEvent } from './loggedEvent.ts';

/** The events of one append, and all that is known when they are encoded. */
export interface EventsToEncode<Event extends Fact<string, unknown> = Fact<string, unknown>> {
  readonly serde: Pick<Serde<Event>, 'encode' | 'storedData'>;
  readonly stream: StreamName;
  /** Revision of the stream's last event before them; -1 when it is empty. */
  readonly after: ExpectedRevision;
  readonly events: readonly Event[];
  /** Random for each run of a command. */
  readonly commandId: string;
  readonly metadata: EventMetadata;
}

/** An event of the log that is of no form this version reads (a poison event), and the reason, which holds no personal data. */
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
   * Returns the events as they are stored, in order. The id of each is a hash of command id, place in the append and content: only a
   * repeat of the same append carries the same ids. The key `chain` of the metadata is reserved for a chain of hashes.
   */
  encode(append: EventsToEncode): Promise<readonly NewEvent[]>;

  /** Returns, for each event and in order, what it says or why it can't be read; an event never makes it reject. */
  decode(recorded: readonly RecordedEvent[]): Promise<readonly Decoded[]>;
}

/** The log as its readers have it: the store, and the codec of its events. */
export interface EventLog {
  readonly store: EventStore;
  readonly codec: EventCodec;
}

/** Memory does not grow with a stream. */
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
