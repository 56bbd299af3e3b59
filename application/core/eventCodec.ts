// The codec of the log: facts as JSON, in the stored form of their serde. What one process has decoded or encoded it need not read again.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { type AnyAggregate, readStreamName } from '../../domain/kernel/aggregate.ts';
import type { Fact } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import { MalformedEvent, type Serde } from '../../domain/kernel/serde.ts';
import { type Decoded, type EventCodec, type EventsToEncode, UnreadableEvent } from '../ports/eventCodec.ts';
import type { NewEvent, RecordedEvent } from '../ports/eventStore.ts';
import type { EventMetadata, LoggedEvent } from '../ports/loggedEvent.ts';

/** What the log says of an event, apart from where it stands. */
type Content = Pick<LoggedEvent, 'event' | 'account' | 'mode' | 'correlationId'>;

/** Of one aggregate. */
type Reader = Pick<Serde<Fact<string, unknown>>, 'decode'>;

interface Encoded {
  /** In the order of its shape, as reading the stored text would give it. */
  readonly data: Json;
  readonly metadata: EventMetadata;
}
/** As many as a store keeps of its newest events: those are what this process reads of its own. */
const ENCODED_MAX = 4_096;

export class JsonEventCodec implements EventCodec {
  /** Readers of the newest events share one object for each of them: of those that were encoded here, which is what a store remembers. */
  readonly #decoded = new WeakMap<RecordedEvent, LoggedEvent>();
  /** By event id, which is a hash of the content: what was encoded here a moment ago is not parsed when it comes back. */
  readonly #encoded = new LRUCache<string, Encoded>({ max: ENCODED_MAX });

  /** By category. */
  readonly #serdes: ReadonlyMap<string, Reader>;

  /** Reads the events of these aggregates; default: all that the domain has. */
  constructor(aggregates: readonly Pick<AnyAggregate, 'category' | 'serde'>[] = AGGREGATES) {
    this.#serdes = new Map(aggregates.map(({ category, serde }) => [category, serde]));
  }

  // Both are synchronous inside: a batch costs one promise, an event none.

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
      if (serde === undefined) throw new MalformedEvent(`${stream}: no such category`);
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
      // What comes from the log itself is a new object for each reader: to remember it only costs the garbage collector.
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

/** What is stored: `v` is the version of the event's form. What follows from the rest, or from the stream's name, is left out. */
interface StoredMetadata {
  readonly account: AccountId;
  readonly mode: Mode;
  readonly actor: string;
  /** Default: the cause, where a request is the cause. */
  readonly requestId?: string;
  /** Default: the subject of the stream. The names with `$` are EventStoreDB's. */
  readonly $correlationId?: string;
  /** Default: what correlates. */
  readonly $causationId?: string;
  /** Default: 1. */
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

/** Throws MalformedEvent when the text is of no known shape. */
const contentOf = ({ type, data, metadata }: RecordedEvent, subject: string, serde: Reader): Content => {
  try {
    const meta = JSON.parse(metadata) as StoredMetadata;
    const { account, mode, $correlationId: correlationId = subject, v: version = 1 } = meta;
    const stored = { type, version, data: JSON.parse(data) as unknown };
    const event = serde.decode(stored, { subject, account, mode, correlationId });
    return { event, account, mode, correlationId };
  } catch (error) {
    if (error instanceof MalformedEvent) throw error;
    // What a parser says quotes the text, which may hold personal data.
    throw new MalformedEvent(`${type}: ${(error as Error).name} while it was read`);
  }
};

/** UUID (version 8) from the first 16 bytes of a SHA-256. */
const uuidOf = (text: string): string => {
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
