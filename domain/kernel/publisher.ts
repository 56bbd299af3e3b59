// How an aggregate publishes its events as webhook messages.
import type { EventId, PaymentId } from './ids.ts';
import type { Timestamp } from './time.ts';

/** Envelope families, each with its own signature. */
export type WebhookFamily = 'canonical' | 'legacy';

export interface Message {
  readonly type: string;
  readonly family: WebhookFamily;
  readonly at: Timestamp;
  /** Returns the exact JSON text to send, with `eventId` as its stable id. */
  readonly render: (eventId: EventId) => string;
}

/** A name that an endpoint can subscribe to. */
export interface CatalogueEntry {
  readonly event: string;
  readonly description: string;
  readonly legacy?: true;
}

/** An event that requests a resend of an earlier event's messages (W8). */
export interface Again {
  readonly ofRevision: number;
  /** Counts from 1 within the stream. */
  readonly number: number;
  /** When the messages are due. */
  readonly at: Timestamp;
  readonly includes: (message: Pick<Message, 'type'>) => boolean;
}

/** Members are methods, so that publishers of different aggregates fit into one list. */
export interface Publisher<State, Event> {
  /** The event names that it publishes, with descriptions. */
  readonly catalogue: readonly CatalogueEntry[];
  /** Returns whether the event may publish messages, its own or a resend of earlier ones. Only such events cost a job. */
  isPublished(event: Event): boolean;
  /**
   * Returns the names of all messages that the event may publish; null: any of the catalogue. It saves the jobs of frequent events that
   * no endpoint wants. Default: null.
   */
  namesOf?(event: Event): readonly string[] | null;
  /** Returns the messages of an event; none if the event is internal. `after` is `before` with the event applied. */
  messagesOf(before: State, event: Event, after: State): readonly Message[];
  /** Returns the resend that the event requests. Default: null. */
  againOf?(event: Event): Again | null;
  /** Returns the URL that receives the stream's messages, or null for the account's endpoints. Default: null. */
  urlOf?(state: State): string | null;
  /** Returns the payment of the messages. `subject` is the stream name after the category. Default: null. */
  paymentOf?(subject: string, state: State): PaymentId | null;
}

/**
 * Version of the format of rendered bodies. Bodies are not stored: attempts and reads render them again in the form that the delivery
 * names. Any change of a body's bytes therefore needs a new form, and the old form remains for existing deliveries.
 */
export const MESSAGE_FORM = 1;

/** Returns `messagesOf` in this form. Throws RangeError for forms unknown to this program. */
export const messagesInForm = <State, Event>(
  { messagesOf }: Pick<Publisher<State, Event>, 'messagesOf'>,
  form: number,
): Publisher<State, Event>['messagesOf'] => {
  if (form !== MESSAGE_FORM) throw new RangeError(`unknown message form ${form}`);
  return messagesOf;
};
