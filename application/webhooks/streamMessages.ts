// Renders the messages of streams from their events, for attempts, retries and reads. Messages are not stored, because they derive from
// the events up to their own one and from the version of their form.

import { type AnyAggregate, readStreamName } from '../../domain/kernel/aggregate.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import type { EventId, PaymentId, StreamName, Tenant } from '../../domain/kernel/ids.ts';
import {
  type Again,
  MESSAGE_FORM,
  type Message,
  messagesInForm,
  type Publisher,
} from '../../domain/kernel/publisher.ts';
import type { Delivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { eventIdOf } from '../core/derivedIds.ts';
import { boundedCache } from '../ports/boundedCache.ts';

/** A message of one stream. */
export class StreamMessage {
  readonly type: string;
  readonly family: Message['family'];
  readonly at: Message['at'];
  /** Number of the message in its stream, from 1. */
  readonly sequence: number;
  readonly #idOf: (type: string) => EventId;
  readonly #render: Message['render'];
  #eventId: EventId | undefined;
  #body: string | undefined;

  constructor({ type, family, at, render }: Message, idOf: (type: string) => EventId, sequence: number) {
    this.type = type;
    this.family = family;
    this.at = at;
    this.sequence = sequence;
    this.#idOf = idOf;
    this.#render = render;
  }

  /** The same for every endpoint, retry and resend (W2). */
  get eventId(): EventId {
    this.#eventId ??= this.#idOf(this.type);
    return this.#eventId;
  }

  /** The exact JSON text that every attempt sends. */
  get body(): string {
    this.#body ??= this.#render(this.eventId);
    return this.#body;
  }
}

/** The messages of one event, and their destination. */
export interface PublishedEvent {
  readonly tenant: Tenant;
  /** The payment concerned, or null. */
  readonly paymentId: PaymentId | null;
  /** URL that gets the messages instead of the account's endpoints, or null. */
  readonly url: string | null;
  readonly messages: readonly StreamMessage[];
  /** The earlier messages that the event publishes again, or null. */
  readonly again: Again | null;
}

type Steps = Pick<CommandHandler, 'loadSteps'>;

/** An aggregate that publishes messages. */
type PublishingAggregate = AnyAggregate & { readonly publisher: Publisher<unknown, Fact<string, unknown>> };

/** Returns the aggregates that publish messages, by category. */
export const publishingOf = (aggregates: readonly AnyAggregate[]): ReadonlyMap<string, PublishingAggregate> =>
  new Map(
    aggregates.flatMap((one) => (one.publisher === null ? [] : [[one.category, { ...one, publisher: one.publisher }]])),
  );

/** Returns the messages of the events at `revisions`. Throws if one of the events is missing or the form is unknown. */
const readPublished = async (
  steps: Steps,
  aggregate: PublishingAggregate,
  stream: StreamName,
  revisions: readonly number[],
  form: number,
): Promise<ReadonlyMap<number, PublishedEvent>> => {
  const { publisher } = aggregate;
  const { id: subject } = readStreamName(stream);
  const last = Math.max(...revisions);
  const messagesOf = messagesInForm(publisher, form);
  const published = new Map<number, PublishedEvent>();
  let sequence = 0;
  for await (const { before, event, after, revision, account, mode } of steps.loadSteps(aggregate, stream)) {
    const messages = messagesOf(before, event, after);
    if (revisions.includes(revision))
      published.set(revision, {
        tenant: { accountId: account, mode },
        paymentId: publisher.paymentOf?.(subject, after) ?? null,
        url: publisher.urlOf?.(after) ?? null,
        messages: messages.map(
          (message, n) =>
            new StreamMessage(message, (type) => eventIdOf(account, stream, revision, type), sequence + n + 1),
        ),
        again: publisher.againOf?.(event) ?? null,
      });
    sequence += messages.length;
    if (revision >= last) break;
  }
  for (const revision of revisions) if (!published.has(revision)) throw new Error(`no event ${revision} of ${stream}`);
  return published;
};

/** Cached between fan-out and attempts, a few kB each. */
const CACHED_MAX = 4_000;

const keyOf = (stream: StreamName, revision: number, form: number): string => `${stream} ${revision} ${form}`;

export class StreamMessages {
  readonly #steps: Steps;
  readonly #publishing: ReadonlyMap<string, PublishingAggregate>;
  readonly #cache = boundedCache<string, Promise<PublishedEvent>>(CACHED_MAX);

  constructor(steps: Steps, aggregates: readonly AnyAggregate[]) {
    this.#steps = steps;
    this.#publishing = publishingOf(aggregates);
  }

  /** Clears the cache. After a restore, a revision may hold another event. */
  forgetAll(): void {
    this.#cache.clear();
  }

  /** Returns the messages of the event at `revision`. Throws if the stream has no such event. */
  at(stream: StreamName, revision: number, form = MESSAGE_FORM): Promise<PublishedEvent> {
    const key = keyOf(stream, revision, form);
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const published = this.#read(stream, [revision], form).then((all) => all.get(revision) as PublishedEvent);
    this.#cache.set(key, published);
    published.catch(() => this.#cache.delete(key));
    return published;
  }

  /** Returns the message of a delivery, and all messages of its event. */
  async of({ stream, revision, eventType, form }: Delivery): Promise<{
    readonly published: PublishedEvent;
    readonly message: StreamMessage;
  }> {
    const published = await this.at(stream, revision, form);
    return { published, message: messageOfType(published, eventType, stream) };
  }

  /** Returns the bodies of deliveries, in order. Each stream is read only once. */
  async bodiesOf(deliveries: readonly Delivery[]): Promise<readonly string[]> {
    const bodies: string[] = [];
    const places = deliveries.map((delivery, place) => ({ delivery, place }));
    const groups = Map.groupBy(places, ({ delivery: { stream, form } }) => `${stream} ${form}`);
    await Promise.all(
      [...groups.values()].map(async (group) => {
        const { stream, form } = (group[0] as (typeof places)[number]).delivery;
        const revisions = group.map(({ delivery }) => delivery.revision);
        const published = await this.#cachedOrRead(stream, revisions, form);
        for (const { delivery, place } of group)
          bodies[place] = messageOfType(
            published.get(delivery.revision) as PublishedEvent,
            delivery.eventType,
            stream,
          ).body;
      }),
    );
    return bodies;
  }

  /** Uses the cache but adds nothing to it, so that reading old deliveries doesn't displace current ones. */
  async #cachedOrRead(
    stream: StreamName,
    revisions: readonly number[],
    form: number,
  ): Promise<ReadonlyMap<number, PublishedEvent>> {
    const cached = new Map<number, PublishedEvent>();
    for (const revision of revisions) {
      const published = await this.#cache.peek(keyOf(stream, revision, form));
      if (published === undefined) return this.#read(stream, revisions, form);
      cached.set(revision, published);
    }
    return cached;
  }

  async #read(
    stream: StreamName,
    revisions: readonly number[],
    form: number,
  ): Promise<ReadonlyMap<number, PublishedEvent>> {
    const aggregate = this.#publishing.get(readStreamName(stream).category);
    if (aggregate === undefined) throw new Error(`${stream} publishes no messages`);
    return readPublished(this.#steps, aggregate, stream, revisions, form);
  }
}

const messageOfType = ({ messages }: PublishedEvent, eventType: string, stream: StreamName): StreamMessage => {
  const message = messages.find(({ type }) => type === eventType);
  if (message === undefined) throw new Error(`${stream}: the event has no message ${eventType}`);
  return message;
};
