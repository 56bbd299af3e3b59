// How the events of one category of streams are published as webhook messages.
import type { PaymentId } from '../kernel/ids.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { Message } from './envelope.ts';

/** Returns the messages that one event publishes; none when it is internal. `after` is `before` with the event applied. */
type MessagesOf<State, Event> = (before: State, event: Event, after: State) => readonly Message[];

/** An event that has the messages of an earlier one of its stream published again (W8). */
export interface Again {
  readonly ofRevision: number;
  /** 1, 2, 3 … over the stream. */
  readonly number: number;
  /** When they are due. */
  readonly at: Timestamp;
  readonly includes: (message: Pick<Message, 'type'>) => boolean;
}

export interface Publisher<State, Event> {
  /** Whether messages may be published of the event, or of an earlier one again: only such an event costs a job. */
  readonly isPublished: (event: Event) => boolean;
  readonly messagesOf: MessagesOf<State, Event>;
  /** Default: nothing is published again. */
  readonly againOf?: (event: Event) => Again | null;
  /** Returns where the stream's messages go in place of the account's endpoints; null: to those. Default: to those. */
  readonly urlOf?: (state: State) => string | null;
  /** Returns the payment that the messages are about. `subject`: the part of the stream's name after the category. Default: none. */
  readonly paymentOf?: (subject: string, state: State) => PaymentId | null;
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
): MessagesOf<State, Event> => {
  if (form !== MESSAGE_FORM) throw new RangeError(`messages of form ${form} are not known`);
  return messagesOf;
};
