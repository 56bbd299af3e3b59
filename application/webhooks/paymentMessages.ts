// The messages of payments, rendered from their events wherever they are needed: for an attempt, a retry, a read. They are not stored, for
// they follow from the events up to the one that they tell of, and from the version of their form.
import { LRUCache } from 'lru-cache';
import type { EventId, PaymentId } from '../../domain/kernel/ids.ts';
import { assertExists, type ExistingPayment, PAYMENT, type PaymentEvent } from '../../domain/payment/payment.ts';
import type { Message } from '../../domain/presentation/envelope.ts';
import { MESSAGE_FORM, messagesInForm } from '../../domain/presentation/messages.ts';
import type { Delivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { eventIdOf } from '../core/derivedIds.ts';

/** A message of one payment. */
export class PaymentMessage {
  readonly type: string;
  readonly family: Message['family'];
  readonly at: Message['at'];
  /** 1, 2, 3 … over the messages of the payment, in their order. */
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

/** What one event of a payment tells. */
export interface Told {
  /** As it was after the event. */
  readonly payment: ExistingPayment;
  readonly event: PaymentEvent;
  readonly messages: readonly PaymentMessage[];
}

/** Remembered between fan-out and attempts: a few kB each, and a moment of a busy hour. */
const REMEMBERED_MAX = 4_000;

const keyOf = (paymentId: PaymentId, revision: number, form: number): string => `${paymentId} ${revision} ${form}`;

export class PaymentMessages {
  readonly #commands: Pick<CommandHandler, 'loadSteps'>;
  readonly #remembered = new LRUCache<string, Promise<Told>>({ max: REMEMBERED_MAX });

  constructor(commands: Pick<CommandHandler, 'loadSteps'>) {
    this.#commands = commands;
  }

  /** Forgets every message: another event may stand where the one it tells of stood. */
  forgetAll(): void {
    this.#remembered.clear();
  }

  /** Returns what the event at `revision` tells. Throws when the payment has no such event. */
  at(paymentId: PaymentId, revision: number, form = MESSAGE_FORM): Promise<Told> {
    const key = keyOf(paymentId, revision, form);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const told = this.#tell(paymentId, [revision], form).then((all) => all.get(revision) as Told);
    this.#remembered.set(key, told);
    told.catch(() => this.#remembered.delete(key));
    return told;
  }

  /** Returns the message of a delivery, with the payment as it was then. */
  async of({ paymentId, revision, eventType, form }: Delivery): Promise<{
    readonly payment: ExistingPayment;
    readonly message: PaymentMessage;
  }> {
    const { payment, messages } = await this.at(paymentId, revision, form);
    return { payment, message: messageOfType(messages, eventType, paymentId) };
  }

  /** Returns the bodies of deliveries, in order. A payment is read once, however many of them tell of it. */
  async bodiesOf(deliveries: readonly Delivery[]): Promise<readonly string[]> {
    const bodies: string[] = [];
    const places = deliveries.map((delivery, place) => ({ delivery, place }));
    const groups = Map.groupBy(places, ({ delivery: { paymentId, form } }) => `${paymentId} ${form}`);
    await Promise.all(
      [...groups.values()].map(async (group) => {
        const { paymentId, form } = (group[0] as (typeof places)[number]).delivery;
        const revisions = group.map(({ delivery }) => delivery.revision);
        const told = await this.#knownOrTold(paymentId, revisions, form);
        for (const { delivery, place } of group) {
          const { messages } = told.get(delivery.revision) as Told;
          bodies[place] = messageOfType(messages, delivery.eventType, paymentId).body;
        }
      }),
    );
    return bodies;
  }

  /** Keeps nothing of what must be read: whoever looks through old deliveries pushes out none that are on their way. */
  async #knownOrTold(
    paymentId: PaymentId,
    revisions: readonly number[],
    form: number,
  ): Promise<ReadonlyMap<number, Told>> {
    const known = new Map<number, Told>();
    for (const revision of revisions) {
      const told = await this.#remembered.peek(keyOf(paymentId, revision, form));
      if (told === undefined) return this.#tell(paymentId, revisions, form);
      known.set(revision, told);
    }
    return known;
  }

  async #tell(paymentId: PaymentId, revisions: readonly number[], form: number): Promise<ReadonlyMap<number, Told>> {
    const stream = PAYMENT.stream(paymentId);
    const last = Math.max(...revisions);
    const messagesOf = messagesInForm(form);
    const told = new Map<number, Told>();
    let sequence = 0;
    for await (const { before, event, after, revision } of this.#commands.loadSteps(PAYMENT, stream)) {
      const messages = messagesOf(before, event, after);
      if (revisions.includes(revision)) {
        const payment = assertExists(after);
        const idOf = (type: string) => eventIdOf(payment.charge.terms.accountId, stream, revision, type);
        const numbered = messages.map((message, n) => new PaymentMessage(message, idOf, sequence + n + 1));
        told.set(revision, { payment, event, messages: numbered });
      }
      sequence += messages.length;
      if (revision >= last) break;
    }
    for (const revision of revisions)
      if (!told.has(revision)) throw new Error(`no event ${revision} of payment ${paymentId}`);
    return told;
  }
}

const messageOfType = (
  messages: readonly PaymentMessage[],
  eventType: string,
  paymentId: PaymentId,
): PaymentMessage => {
  const message = messages.find(({ type }) => type === eventType);
  if (message === undefined) throw new Error(`payment ${paymentId} has no message ${eventType} of that event`);
  return message;
};
