// The codec of the log: stores facts as JSON, in the form that their serde defines. Payers' personal fields are sealed with the data key of
// the payment or payout (ADR 0017). Events encoded by this process are not parsed and opened again.

import { hash } from 'node:crypto';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { type AnyAggregate, readStreamName } from '../../domain/kernel/aggregate.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import { MalformedEvent, type PersonalValues } from '../../domain/kernel/serde.ts';
import { boundedCache } from '../ports/boundedCache.ts';
import type { DataKeys, FoundKey, NewDataKey } from '../ports/dataKeys.ts';
import { type Decoded, type EventCodec, type EventsToEncode, SEALED, UnreadableEvent } from '../ports/eventCodec.ts';
import type { NewEvent, RecordedEvent } from '../ports/eventStore.ts';
import type { EventMetadata, LoggedEvent } from '../ports/loggedEvent.ts';
import { metadataText, type StoredMetadata } from './eventMetadata.ts';

/** The content of a logged event, without its place in the log. */
type Content = Pick<LoggedEvent, 'event' | 'account' | 'mode' | 'correlationId'>;

type Listed = Pick<AnyAggregate, 'category' | 'serde' | 'isSealed'>;

interface Encoded {
  /** The data, with its keys in the order of the stored text, and its personal fields in clear. */
  readonly data: Json;
  readonly metadata: EventMetadata;
  /** The key that was to be stored with the event. It is stored if the event is. */
  readonly dataKey: NewDataKey | null;
}
/** The same number as the store's cache of newest events, from which this process reads its own events. */
const ENCODED_MAX = 4_096;

/** The sealed text of an event whose owner's key was destroyed before. Its personal fields were never stored. */
const ERASED_AT_ONCE = '';

const sealContext = (stream: string, type: string): string => `${stream}\n${type}`;

/** An event whose texts are parsed. Its sealed fields are still closed. */
interface Parsed {
  readonly recorded: RecordedEvent;
  readonly subject: string;
  readonly aggregate: Listed;
  readonly account: AccountId;
  readonly mode: Mode;
  readonly correlationId: string;
  readonly version: number;
  readonly data: Json;
  /** null: nothing is sealed. */
  readonly sealed: string | null;
}

export class JsonEventCodec implements EventCodec {
  /** Decoded events that this process encoded itself or opened, so that all readers of a recorded event share one object. */
  #decoded = new WeakMap<RecordedEvent, LoggedEvent>();
  /** By event id, which is a hash of the content. Saves parsing and opening events that this process encoded, when it first reads them. */
  readonly #encoded = boundedCache<string, Encoded>(ENCODED_MAX);
  readonly #keys: DataKeys;
  /** By category. */
  readonly #aggregates: ReadonlyMap<string, Listed>;

  /** Reads the events of these aggregates; default: all aggregates of the domain. */
  constructor(keys: DataKeys, aggregates: readonly Listed[] = AGGREGATES) {
    this.#keys = keys;
    this.#aggregates = new Map(aggregates.map((one) => [one.category, one]));
    keys.onDestroyed(() => {
      this.#encoded.clear();
      this.#decoded = new WeakMap();
    });
  }

  // Both methods work synchronously unless a key must be fetched: a batch costs one promise, a single event none.

  async encode({
    serde,
    stream,
    events,
    commandId,
    metadata,
    isCreation,
  }: EventsToEncode): Promise<readonly NewEvent[]> {
    const { category, id: subject } = readStreamName(stream);
    const around = { ...metadata, subject };
    const isSealed = this.#aggregates.get(category)?.isSealed === true;
    const drafts = events.map((event) => {
      const form = serde.encode(event);
      const stored = serde.storedData(form, around);
      return { form, ...(isSealed ? serde.takePersonal({ ...form, data: stored }) : { rest: stored, personal: null }) };
    });
    const owner = metadata.correlationId;
    const isNew = isCreation === true && subject === owner;
    const sealing = drafts.some(({ personal }) => personal !== null)
      ? (this.#keyAtHand(owner, isNew) ?? { key: await this.#keys.findOrCreate(owner, isNew), toStore: null })
      : null;
    return drafts.map(({ form, rest, personal }, index) => {
      const { type, version } = form;
      const sealed = personal === null || sealing === null ? null : sealedText(sealing.key, stream, type, personal);
      // If personal values were removed, `rest` is a copy and may be changed.
      if (sealed !== null) (rest as Record<string, Json>)[SEALED] = sealed;
      const data = JSON.stringify(rest);
      const id = uuidOf(`${commandId}\n${index}\n${type}\n${data}`);
      const dataKey = sealed === null ? null : (sealing?.toStore ?? null);
      const isKept = sealed === null || (sealed !== ERASED_AT_ONCE && this.#keys.mayRemember);
      if (isKept) this.#encoded.set(id, { data: serde.newest(form), metadata, dataKey });
      const event = { id, type, data, metadata: metadataText(metadata, subject, version) };
      return dataKey === null ? event : { ...event, dataKey };
    });
  }

  async decode(recorded: readonly RecordedEvent[], isClosed = false): Promise<readonly Decoded[]> {
    const decoded: (Decoded | Parsed)[] = recorded.map((one) => this.#decoded.get(one) ?? this.#read(one, isClosed));
    const closed = decoded.filter((one) => 'sealed' in one);
    if (closed.length === 0) return decoded as Decoded[];
    const keys = await this.#keys.find([...new Set(closed.map(({ correlationId }) => correlationId))]);
    return decoded.map((one) =>
      // A key that is missing was lost with its table, and the data with it.
      'sealed' in one ? this.#opened(one, keys.get(one.correlationId) ?? 'destroyed') : one,
    );
  }

  /** Opening costs more than remembering: several consumers decode the same recorded event. */
  #opened(parsed: Parsed, key: FoundKey): Decoded {
    const known = this.#decoded.get(parsed.recorded);
    if (known !== undefined) return known;
    const decoded = opened(parsed, key);
    if (this.#keys.mayRemember && !(decoded instanceof UnreadableEvent)) this.#decoded.set(parsed.recorded, decoded);
    return decoded;
  }

  /** Returns null if the key must be fetched. */
  #keyAtHand(owner: string, isNew: boolean): { key: FoundKey; toStore: NewDataKey | null } | null {
    const known = this.#keys.recall(owner);
    if (known !== undefined) return { key: known, toStore: null };
    const created = isNew ? this.#keys.createWithAppend(owner) : null;
    return created === null ? null : { key: created.key, toStore: created };
  }

  /** Returns the event parsed, if its key must be fetched first. */
  #read(recorded: RecordedEvent, isClosed: boolean): Decoded | Parsed {
    try {
      const { category, id: subject } = readStreamName(recorded.stream);
      const aggregate = this.#aggregates.get(category);
      if (aggregate === undefined) throw new MalformedEvent(`${recorded.stream}: unknown category`);
      const encodedHere = this.#encodedHere(recorded);
      if (encodedHere !== null) {
        const logged = loggedEvent(recorded, subject, encodedHere);
        // The store returns a new object for every other read, so caching those would only burden the garbage collector.
        this.#decoded.set(recorded, logged);
        this.#encoded.delete(recorded.id); // its readers share the recorded event
        return logged;
      }
      const parsed = parse(recorded, subject, aggregate);
      if (parsed.sealed === null) return loggedEvent(recorded, subject, contentOf(parsed));
      if (isClosed) return opened(parsed, 'destroyed'); // not remembered: other readers open it
      const key = parsed.sealed === ERASED_AT_ONCE ? 'destroyed' : this.#keys.recall(parsed.correlationId);
      return key === undefined ? parsed : this.#opened(parsed, key);
    } catch (error) {
      return new UnreadableEvent(recorded, error as Error);
    }
  }

  #encodedHere({ id, type }: RecordedEvent): Content | null {
    const known = this.#encoded.get(id);
    if (known === undefined) return null;
    if (known.dataKey !== null) this.#keys.remember(known.dataKey);
    const { account, mode, correlationId } = known.metadata;
    return { event: { type, data: known.data }, account, mode, correlationId };
  }
}

const sealedText = (key: FoundKey, stream: string, type: string, personal: PersonalValues): string =>
  key === 'destroyed' ? ERASED_AT_ONCE : key.seal(sealContext(stream, type), JSON.stringify(personal));

const loggedEvent = (recorded: RecordedEvent, subject: string, content: Content): LoggedEvent => {
  const { stream, id, revision, position, recordedAt } = recorded;
  const { event, account, mode, correlationId } = content;
  const { category } = readStreamName(stream);
  return { category, stream, subject, id, revision, position, recordedAt, event, account, mode, correlationId };
};

/** Throws MalformedEvent if data or metadata are no JSON. */
const parse = (recorded: RecordedEvent, subject: string, aggregate: Listed): Parsed => {
  try {
    const meta = JSON.parse(recorded.metadata) as StoredMetadata;
    const { account, mode, $correlationId: correlationId = subject, v: version = 1 } = meta;
    const data = JSON.parse(recorded.data) as Json;
    const found = aggregate.isSealed ? (data as { readonly [SEALED]?: unknown } | null)?.[SEALED] : undefined;
    const sealed = typeof found === 'string' ? found : null;
    return { recorded, subject, aggregate, account, mode, correlationId, version, data, sealed };
  } catch (error) {
    throw unreadable(recorded.type, error);
  }
};

/** Returns the event of a sealed one, with the erased values if its key was destroyed or is lost. */
const opened = (parsed: Parsed, key: FoundKey): Decoded => {
  const { recorded, subject, aggregate, version, data, sealed } = parsed;
  const { stream, type } = recorded;
  try {
    if (!Object.hasOwn(aggregate.serde.table, type)) throw new MalformedEvent(`${type}: expected a known event type`);
    const text = key === 'destroyed' ? null : key.open(sealContext(stream, type), sealed as string);
    const personal = text === null ? null : (JSON.parse(text) as PersonalValues);
    aggregate.serde.putPersonal({ type, version, data }, personal);
    return loggedEvent(recorded, subject, contentOf(parsed));
  } catch (error) {
    return new UnreadableEvent(recorded, unreadable(type, error));
  }
};

/** Returns the event's content. Throws MalformedEvent if the data has an unknown shape. */
const contentOf = ({ recorded, subject, aggregate, account, mode, correlationId, version, data }: Parsed): Content => {
  const { type } = recorded;
  try {
    const event = aggregate.serde.decode({ type, version, data }, { subject, account, mode, correlationId });
    return { event, account, mode, correlationId };
  } catch (error) {
    throw unreadable(type, error);
  }
};

/** The message of a parser quotes the text, which may contain personal data. */
const unreadable = (type: string, error: unknown): Error =>
  error instanceof MalformedEvent ? error : new MalformedEvent(`${type}: ${(error as Error).name} while decoding`);

/** Returns a UUID (version 8) made from the first 16 bytes of the text's SHA-256. */
const uuidOf = (text: string): string => {
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
