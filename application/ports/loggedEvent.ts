// From facts with their circumstances to events as they are stored, and back: decoded once however many readers share them, and not at all
// where this process rendered them a moment ago.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type AnyEvent, type EventOf, SERDE } from '../../domain/events.ts';
import { type Category, readStreamName, type StreamName } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { type Json, MalformedEvent, type StoredForm } from '../../domain/kernel/serde.ts';
import type { NewEvent, Position, RecordedEvent } from './eventStore.ts';

/** Who, on whose behalf, because of what. Stored beside every event. */
export interface Circumstances {
  readonly account: AccountId;
  readonly mode: Mode;
  /** `key:<fingerprint, 16 hex>` for an API key, `process:<name>`, or `operator:<name>`. */
  readonly actor: string;
  /** The X-Request-Id that led here; null for what happens by itself. */
  readonly requestId: string | null;
  /** The payment, or the root id of what is not about a payment. */
  readonly correlationId: string;
  /** The event or request that caused it. */
  readonly causationId: string;
}

export interface LoggedEvent<C extends Category = Category> {
  readonly category: C;
  readonly stream: StreamName;
  /** The part of the stream name after the category. */
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
  readonly position: Position;
  readonly account: AccountId;
  readonly mode: Mode;
  readonly correlationId: string;
  readonly recordedAt: string;
  readonly event: EventOf[C];
}

const decoded = new WeakMap<RecordedEvent, LoggedEvent>();

interface Rendered {
  /** In the order of its shape, as reading `data` would give it. */
  readonly form: Json;
  readonly why: Circumstances;
}
/** What was rendered here and may soon be read here, by event id, a hash of the content. As many as the store keeps in its tail. */
const RENDERED_MAX = 4_096;
const rendered = new LRUCache<string, Rendered>({ max: RENDERED_MAX });

/** Throws MalformedEvent (a poison event) when the event is of no known shape. */
export const decodeEvent = (recorded: RecordedEvent): LoggedEvent => {
  const known = decoded.get(recorded);
  if (known) return known;
  const { category, id: subject } = readStreamName(recorded.stream);
  if (!Object.hasOwn(SERDE, category)) throw new MalformedEvent(`${recorded.stream}: no such category`);
  const { stream, id, revision, position, recordedAt } = recorded;
  const { event, account, mode, correlationId } = renderedHere(recorded) ?? parsed(recorded, category as Category);
  const logged = {
    category: category as Category,
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
  decoded.set(recorded, logged);
  return logged;
};

type Content = Pick<LoggedEvent, 'event' | 'account' | 'mode' | 'correlationId'>;

const renderedHere = ({ id, type }: RecordedEvent): Content | null => {
  const known = rendered.get(id);
  if (known === undefined) return null;
  const { account, mode, correlationId } = known.why;
  return { event: { type, data: known.form } as unknown as AnyEvent, account, mode, correlationId };
};

const parsed = (recorded: RecordedEvent, category: Category): Content => {
  try {
    const meta = JSON.parse(recorded.metadata) as { account: AccountId; mode: Mode; $correlationId: string; v: number };
    const event = SERDE[category].decode({
      type: recorded.type,
      version: meta.v,
      data: JSON.parse(recorded.data) as unknown,
    });
    return { event, account: meta.account, mode: meta.mode, correlationId: meta.$correlationId };
  } catch (error) {
    if (error instanceof MalformedEvent) throw error;
    // What a parser says quotes the text, which may hold personal data.
    throw new MalformedEvent(`${recorded.type}: ${(error as Error).name} while it was read`);
  }
};

export const isOf = <C extends Category>(event: LoggedEvent, category: C): event is LoggedEvent<C> & LoggedEvent =>
  event.category === category;

/** UUID (version 8) from the first 16 bytes of a SHA-256. */
const uuidOf = (text: string): string => {
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** The id of an event is a hash of (command id, index, bytes): only a repeat of the same append can carry it (architecture §3). */
export const renderEvents = <C extends Category>(
  category: C,
  events: readonly EventOf[C][],
  commandId: string,
  why: Circumstances,
): NewEvent[] => {
  const encode = SERDE[category].encode as (event: AnyEvent) => StoredForm;
  return events.map((event, index) => {
    const { type, version, data: form } = encode(event);
    const data = JSON.stringify(form);
    const metadata = JSON.stringify({
      account: why.account,
      mode: why.mode,
      actor: why.actor,
      requestId: why.requestId,
      $correlationId: why.correlationId,
      $causationId: why.causationId,
      v: version,
    });
    const id = uuidOf(`${commandId}\n${index}\n${type}\n${data}`);
    rendered.set(id, { form, why });
    return { id, type, data, metadata };
  });
};
