// How an aggregate publishes its events as webhook messages.
import type { EventId, PaymentId } from './ids.ts';
import type { Timestamp } from './time.ts';

/** Of envelopes: each has a signature of its own. */
export type WebhookFamily = 'canonical' | 'legacy';

export interface Message {
  readonly type: string;
  readonly family: WebhookFamily;
  readonly at: Timestamp;
  /** The exact JSON text to send, with `eventId` as its stable id. */
  readonly render: (eventId: EventId) => string;
}

/** A name that an endpoint can subscribe to. */
export interface CatalogueEntry {
  readonly event: string;
  readonly description: string;
  readonly legacy?: true;
}

/** An event that has the messages of an earlier one of its stream published again (W8). */
export interface Again {
  readonly ofRevision: number;
  /** 1, 2, 3 … over the stream. */
  readonly number: number;
  /** When they are due. */
  readonly at: Timestamp;
  readonly includes: (message: Pick<Message, 'type'>) => boolean;
}

/** Its members are methods, so that publishers of different aggregates fit into one list. */
export interface Publisher<State, Event> {
  /** What the types of its messages are, and when they are sent. */
  readonly catalogue: readonly CatalogueEntry[];
  /** Returns whether messages may be published of the event, or of an earlier one again: only such an event costs a job. */
  isPublished(event: Event): boolean;
  /** Returns the messages that one event publishes; none when it is internal. `after` is `before` with the event applied. */
  messagesOf(before: State, event: Event, after: State): readonly Message[];
  /** Default: nothing is published again. */
  againOf?(event: Event): Again | null;
  /** Returns where the stream's messages go in place of the account's endpoints; null: to those. Default: to those. */
  urlOf?(state: State): string | null;
  /** Returns the payment that the messages are about. `subject`: the part of the stream's name after the category. Default: none. */
  paymentOf?(subject: string, state: State): PaymentId | null;
}

/**
 * Version of the form that bodies are rendered in. A body is not stored: attempts and reads render it anew, in the form that its delivery
 * names. So a change of any byte of a body is a new form, and the old one stays for the deliveries that have it.
 */
export const MESSAGE_FORM = 1;

/** Returns `messagesOf` as it was when the form was the newest one. Throws RangeError when this program does not know the form. */
export const messagesInForm = <State, Event>(
  { messagesOf }: Pick<Publisher<State, Event>, 'messagesOf'>,
  form: number,
): Publisher<State, Event>['messagesOf'] => {
  if (form !== MESSAGE_FORM) throw new RangeError(`messages of form ${form} are not known`);
  return messagesOf;
};
