// The codec of the log: facts as JSON, in the stored form of their serde. What one process has decoded or encoded it need not read again.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type AnyEvent, SERDE } from '../../domain/events.ts';
import { type Category, readStreamName } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { type Json, MalformedEvent, type StoredForm } from '../../domain/kernel/serde.ts';
import { type Decoded, type EventCodec, type EventsToEncode, UnreadableEvent } from '../ports/eventCodec.ts';
import type { NewEvent, RecordedEvent } from '../ports/eventStore.ts';
import type { EventMetadata, LoggedEvent } from '../ports/loggedEvent.ts';

/** What the log says of an event, apart from where it stands. */
type Content = Pick<LoggedEvent, 'event' | 'account' | 'mode' | 'correlationId'>;

type Serdes = typeof SERDE;

interface Encoded {
  /** In the order of its shape, as reading the stored text would give it. */
  readonly data: Json;
  readonly metadata: EventMetadata;
}
/** As many as a store keeps of its newest events: those are what this process reads of its own. */
const ENCODED_MAX = 4_096;

export class JsonEventCodec implements EventCodec {
  /** Readers of the newest events share one object for each of them. */
  readonly #decoded = new WeakMap<RecordedEvent, LoggedEvent>();
  /** By event id, which is a hash of the content: what was encoded here a moment ago is not parsed when it comes back. */
  readonly #encoded = new LRUCache<string, Encoded>({ max: ENCODED_MAX });

  readonly #serdes: Serdes;

  /** `serdes`: by category; default: those of the domain. */
  constructor(serdes: Serdes = SERDE) {
    this.#serdes = serdes;
  }

  // Both are synchronous inside: a batch costs one promise, an event none.

  async encode<C extends Category>({
    category,
    events,
    commandId,
    metadata,
  }: EventsToEncode<C>): Promise<readonly NewEvent[]> {
    const toStored = this.#serdes[category].encode as (event: AnyEvent) => StoredForm;
    return events.map((event, index) => {
      const { type, version, data: form } = toStored(event);
      const data = JSON.stringify(form);
      const id = uuidOf(`${commandId}\n${index}\n${type}\n${data}`);
      this.#encoded.set(id, { data: form, metadata });
      return { id, type, data, metadata: metadataText(metadata, version) };
    });
  }

  async decode(recorded: readonly RecordedEvent[]): Promise<readonly Decoded[]> {
    return recorded.map((one) => this.#decoded.get(one) ?? this.#read(one));
  }

  #read(recorded: RecordedEvent): Decoded {
    const { stream, id, revision, position, recordedAt } = recorded;
    const { category, id: subject } = readStreamName(stream);
    try {
      if (!this.#isCategory(category)) throw new MalformedEvent(`${stream}: no such category`);
      const { event, account, mode, correlationId } =
        this.#encodedHere(recorded) ?? contentOf(recorded, this.#serdes[category]);
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
      this.#decoded.set(recorded, logged);
      return logged;
    } catch (error) {
      return new UnreadableEvent(recorded, error as Error);
    }
  }

  #isCategory(category: string): category is Category {
    return Object.hasOwn(this.#serdes, category);
  }

  #encodedHere({ id, type }: RecordedEvent): Content | null {
    const known = this.#encoded.get(id);
    if (known === undefined) return null;
    const { account, mode, correlationId } = known.metadata;
    return { event: { type, data: known.data } as unknown as AnyEvent, account, mode, correlationId };
  }
}

const metadataText = (
  { account, mode, actor, requestId, correlationId, causationId }: EventMetadata,
  v: number,
): string =>
  JSON.stringify({ account, mode, actor, requestId, $correlationId: correlationId, $causationId: causationId, v });

/** Throws MalformedEvent when the text is of no known shape. */
const contentOf = ({ type, data, metadata }: RecordedEvent, serde: Serdes[Category]): Content => {
  try {
    const meta = JSON.parse(metadata) as { account: AccountId; mode: Mode; $correlationId: string; v: number };
    const event = serde.decode({ type, version: meta.v, data: JSON.parse(data) as unknown });
    return { event, account: meta.account, mode: meta.mode, correlationId: meta.$correlationId };
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
