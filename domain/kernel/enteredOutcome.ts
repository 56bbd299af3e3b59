// The outcome of an order that an operator enters, because the institution reports none: it forgot the order, or the credentials changed.
import { type Rejection, reject } from './rejection.ts';
import { oneOf, record, text, time } from './serde.ts';
import { addMillis, DAY_MS, type Timestamp } from './time.ts';

export interface EnteredOutcome {
  /** Whether the payer or receiver has the money, as the operator found out at the institution. */
  readonly outcome: 'done' | 'refused';
  readonly by: string;
  readonly reason: string;
}

export const enteredFields = { outcome: oneOf('done', 'refused'), by: text(), reason: text(), at: time } as const;
export const enteredShape = { shape: record(enteredFields), personal: ['reason'] } as const;

/** An institution may still execute an order that is younger. */
export const ENTERED_AFTER_MS = DAY_MS;

/** The failure reason of an order that an operator entered as refused. */
export const NOT_EXECUTED = 'not_executed';

export const NO_ORDER = reject('not_found', 'There is no such order.');
const OTHER_OUTCOME = reject('invalid_request', 'The order has the other outcome.');
const NOT_SENT = reject('invalid_request', 'The order was not sent to the institution yet.');

/** Returns the reply to an order that has ended. Entering the same outcome again changes nothing. */
export const enteredAgain = (is: EnteredOutcome['outcome'], { outcome }: EnteredOutcome) =>
  is === outcome ? { events: [], reply: 'known' as const } : OTHER_OUTCOME;

/** Returns why no outcome can be entered at this time, or null. `askedAt` null: the order was not sent yet. */
export const notEnterable = (askedAt: Timestamp | null, at: Timestamp): Rejection | null => {
  if (askedAt === null) return NOT_SENT;
  const from = addMillis(askedAt, ENTERED_AFTER_MS);
  return at < from
    ? reject('invalid_request', `The institution may still execute the order. Enter its outcome after ${from}.`)
    : null;
};
