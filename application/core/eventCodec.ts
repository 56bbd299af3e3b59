// The codec of the log: stores facts as JSON, in the form that their serde defines. Events encoded by this process are not parsed again.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { type AnyAggregate, readStreamName } from '../../domain/kernel/aggregate.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import { MalformedEvent, type Serde } from '../../domain/kernel/serde.ts';
import { type Decoded, type EventCodec, type EventsToEncode, UnreadableEvent } from '../ports/eventCodec.ts';
import type { NewEvent, RecordedEvent } from '../ports/eventStore.ts';
import type { EventMetadata, LoggedEvent } from '../ports/loggedEvent.ts';

/** The content of a logged event, without its place in the log. */
type Content = Pick<LoggedEvent, 'event' | 'account' | 'mode' | 'correlationId'>;

/** Decodes the events of one aggregate. */
type Reader = Pick<Serde<Fact<string, unknown>>, 'decode'>;

interface Encoded {
  /** With its keys in the same order as in the stored text. */
  readonly data: Json;
  readonly metadata: EventMetadata;
}
/** The same number as the store's cache of newest events, from which this process reads its own events. */
const ENCODED_MAX = 4_096;

export class JsonEventCodec implements EventCodec {
  /** Decoded events that this process encoded itself, so that all readers of a cached event share one object. */
  readonly #decoded = new WeakMap<RecordedEvent, LoggedEvent>();
  /** By event id, which is a hash of the content. Saves parsing events that this process encoded recently. */
  readonly #encoded = new LRUCache<string, Encoded>({ max: ENCODED_MAX });

  /** By category. */
  readonly #serdes: ReadonlyMap<string, Reader>;

  /** Reads the events of these aggregates; default: all aggregates of the domain. */
  constructor(aggregates: readonly Pick<AnyAggregate, 'category' | 'serde'>[] = AGGREGATES) {
    this.#serdes = new Map(aggregates.map(({ category, serde }) => [category, serde]));
  }

  // Both methods work synchronously: a batch costs one promise, a single event none.

  async encode({ serde, stream, events, commandId, metadata }: EventsToEncode): Promise<readonly NewEvent[]> {
    const around = { ...metadata, subject: readStreamName(stream).id };
    return events.map((event, index) => {
      const form = serde.encode(event);
      const { type, version } = form;
      const data = JSON.stringify(serde.storedData(form, around));
      const id = uuidOf(`${commandId}\n${index}\n${type}\n${data}`);
      this.#encoded.set(id, { data: form.data, metadata });
      return { id, type, data, metadata: metadataText(metadata, around.subject, version) };
    });
  }

  async decode(recorded: readonly RecordedEvent[]): Promise<readonly Decoded[]> {
    return recorded.map((one) => this.#decoded.get(one) ?? this.#read(one));
  }

  #read(recorded: RecordedEvent): Decoded {
    const { stream, id, revision, position, recordedAt } = recorded;
    const { category, id: subject } = readStreamName(stream);
    try {
      const serde = this.#serdes.get(category);
      if (serde === undefined) throw new MalformedEvent(`${stream}: unknown category`);
      const encodedHere = this.#encodedHere(recorded);
      const { event, account, mode, correlationId } = encodedHere ?? contentOf(recorded, subject, serde);
      const logged = {
        category,
        stream,
        subject,
        id,
        revision,
        position,
        recordedAt,
        event,
        account,
        mode,
        correlationId,
      };
      // The store returns a new object for every other read, so caching those would only burden the garbage collector.
      if (encodedHere !== null) this.#decoded.set(recorded, logged);
      return logged;
    } catch (error) {
      return new UnreadableEvent(recorded, error as Error);
    }
  }

  #encodedHere({ id, type }: RecordedEvent): Content | null {
    const known = this.#encoded.get(id);
    if (known === undefined) return null;
    const { account, mode, correlationId } = known.metadata;
    return { event: { type, data: known.data }, account, mode, correlationId };
  }
}

/** The stored metadata. Values that can be derived from the others, or from the stream's name, are omitted. */
interface StoredMetadata {
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

const metadataText = (
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

/** Returns the event's content. Throws MalformedEvent if data or metadata have an unknown shape. */
const contentOf = ({ type, data, metadata }: RecordedEvent, subject: string, serde: Reader): Content => {
  try {
    const meta = JSON.parse(metadata) as StoredMetadata;
    const { account, mode, $correlationId: correlationId = subject, v: version = 1 } = meta;
    const stored = { type, version, data: JSON.parse(data) as unknown };
    const event = serde.decode(stored, { subject, account, mode, correlationId });
    return { event, account, mode, correlationId };
  } catch (error) {
    if (error instanceof MalformedEvent) throw error;
    // The parser's message quotes the text, which may contain personal data.
    throw new MalformedEvent(`${type}: ${(error as Error).name} while decoding`);
  }
};

/** Returns a UUID (version 8) made from the first 16 bytes of the text's SHA-256. */
const uuidOf = (text: string): string => {
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
