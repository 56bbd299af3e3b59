// The messages of streams, rendered from their events wherever they are needed: for an attempt, a retry, a read. They are not stored, for
// they follow from the events up to the one that they tell of, and from the version of their form.
import { LRUCache } from 'lru-cache';
import { type AnyAggregate, readStreamName } from '../../domain/kernel/aggregate.ts';
import type { Fact, StreamName } from '../../domain/kernel/event.ts';
import type { EventId, PaymentId } from '../../domain/kernel/ids.ts';
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
import type { Tenant } from '../ports/paymentProvider.ts';

/** A message of one stream. */
export class StreamMessage {
  readonly type: string;
  readonly family: Message['family'];
  readonly at: Message['at'];
  /** 1, 2, 3 … over the messages of the stream, in their order. */
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

  /** The same on every endpoint, retry and resend (W2). */
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

/** What one event of a stream tells. */
export interface Told {
  readonly tenant: Tenant;
  /** The payment that it is about; null: none. */
  readonly paymentId: PaymentId | null;
  /** Where its messages go in place of the account's endpoints; null: to those. */
  readonly url: string | null;
  readonly messages: readonly StreamMessage[];
  /** The messages of an earlier event that it has published again; null: it has none. */
  readonly again: Again | null;
}

type Steps = Pick<CommandHandler, 'loadSteps'>;

/** An aggregate that publishes. */
type Published = AnyAggregate & { readonly publisher: Publisher<unknown, Fact<string, unknown>> };

/** Returns those of the aggregates that publish, by category. */
export const publishingOf = (aggregates: readonly AnyAggregate[]): ReadonlyMap<string, Published> =>
  new Map(
    aggregates.flatMap((one) => (one.publisher === null ? [] : [[one.category, { ...one, publisher: one.publisher }]])),
  );

/** Returns what the events at `revisions` tell. Throws when the stream lacks one of them, or the form is not known. */
const tell = async (
  steps: Steps,
  aggregate: Published,
  stream: StreamName,
  revisions: readonly number[],
  form: number,
): Promise<ReadonlyMap<number, Told>> => {
  const { publisher } = aggregate;
  const { id: subject } = readStreamName(stream);
  const last = Math.max(...revisions);
  const messagesOf = messagesInForm(publisher, form);
  const told = new Map<number, Told>();
  let sequence = 0;
  for await (const { before, event, after, revision, account, mode } of steps.loadSteps(aggregate, stream)) {
    const messages = messagesOf(before, event, after);
    if (revisions.includes(revision))
      told.set(revision, {
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
  for (const revision of revisions) if (!told.has(revision)) throw new Error(`no event ${revision} of ${stream}`);
  return told;
};

/** Remembered between fan-out and attempts: a few kB each, and a moment of a busy hour. */
const REMEMBERED_MAX = 4_000;

const keyOf = (stream: StreamName, revision: number, form: number): string => `${stream} ${revision} ${form}`;

export class StreamMessages {
  readonly #steps: Steps;
  readonly #publishing: ReadonlyMap<string, Published>;
  readonly #remembered = new LRUCache<string, Promise<Told>>({ max: REMEMBERED_MAX });

  constructor(steps: Steps, aggregates: readonly AnyAggregate[]) {
    this.#steps = steps;
    this.#publishing = publishingOf(aggregates);
  }

  /** Forgets every message: another event may stand where the one it tells of stood. */
  forgetAll(): void {
    this.#remembered.clear();
  }

  /** Returns what the event at `revision` tells. Throws when the stream has no such event. */
  at(stream: StreamName, revision: number, form = MESSAGE_FORM): Promise<Told> {
    const key = keyOf(stream, revision, form);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const told = this.#tell(stream, [revision], form).then((all) => all.get(revision) as Told);
    this.#remembered.set(key, told);
    told.catch(() => this.#remembered.delete(key));
    return told;
  }

  /** Returns the message of a delivery, with what its event tells. */
  async of({ stream, revision, eventType, form }: Delivery): Promise<{
    readonly told: Told;
    readonly message: StreamMessage;
  }> {
    const told = await this.at(stream, revision, form);
    return { told, message: messageOfType(told, eventType, stream) };
  }

  /** Returns the bodies of deliveries, in order. A stream is read once, however many of them tell of it. */
  async bodiesOf(deliveries: readonly Delivery[]): Promise<readonly string[]> {
    const bodies: string[] = [];
    const places = deliveries.map((delivery, place) => ({ delivery, place }));
    const groups = Map.groupBy(places, ({ delivery: { stream, form } }) => `${stream} ${form}`);
    await Promise.all(
      [...groups.values()].map(async (group) => {
        const { stream, form } = (group[0] as (typeof places)[number]).delivery;
        const revisions = group.map(({ delivery }) => delivery.revision);
        const told = await this.#knownOrTold(stream, revisions, form);
        for (const { delivery, place } of group)
          bodies[place] = messageOfType(told.get(delivery.revision) as Told, delivery.eventType, stream).body;
      }),
    );
    return bodies;
  }

  /** Keeps nothing of what must be read: whoever looks through old deliveries pushes out none that are on their way. */
  async #knownOrTold(
    stream: StreamName,
    revisions: readonly number[],
    form: number,
  ): Promise<ReadonlyMap<number, Told>> {
    const known = new Map<number, Told>();
    for (const revision of revisions) {
      const told = await this.#remembered.peek(keyOf(stream, revision, form));
      if (told === undefined) return this.#tell(stream, revisions, form);
      known.set(revision, told);
    }
    return known;
  }

  async #tell(stream: StreamName, revisions: readonly number[], form: number): Promise<ReadonlyMap<number, Told>> {
    const published = this.#publishing.get(readStreamName(stream).category);
    if (published === undefined) throw new Error(`${stream} publishes no messages`);
    return tell(this.#steps, published, stream, revisions, form);
  }
}

const messageOfType = ({ messages }: Told, eventType: string, stream: StreamName): StreamMessage => {
  const message = messages.find(({ type }) => type === eventType);
  if (message === undefined) throw new Error(`${stream} has no message ${eventType} of that event`);
  return message;
};
