// A plain sentence for each stored event, for readers of a payment's history. One table for all event types: a new type does not compile
// until it has words in every language. No sentence shows personal data.
import { ACCOUNT_SENTENCES } from './eventWords/account.ts';
import { CHARGE_SENTENCES } from './eventWords/charge.ts';
import { DISPUTE_SENTENCES } from './eventWords/dispute.ts';
import { ERASURE_SENTENCES } from './eventWords/erasure.ts';
import { PAYOUT_SENTENCES } from './eventWords/payout.ts';
import { PLATFORM_SENTENCES } from './eventWords/platform.ts';
import { REFUND_SENTENCES } from './eventWords/refund.ts';
import { TRANSACTION_SENTENCES } from './eventWords/transaction.ts';
import { WEBHOOK_SENTENCES } from './eventWords/webhooks.ts';
import type { EventType, EventWords, Words } from './eventWords/words.ts';

const EVENT_WORDS: EventWords = {
  ...CHARGE_SENTENCES,
  ...TRANSACTION_SENTENCES,
  ...REFUND_SENTENCES,
  ...PAYOUT_SENTENCES,
  ...DISPUTE_SENTENCES,
  ...WEBHOOK_SENTENCES,
  ...ACCOUNT_SENTENCES,
  ...PLATFORM_SENTENCES,
  ...ERASURE_SENTENCES,
};

/** Every stored event type. */
export const EVENT_TYPES = Object.keys(EVENT_WORDS) as readonly EventType[];

/** Returns the event's sentence in every language, or null for a type unknown to this version. */
export const wordsOf = ({ type, data }: { readonly type: string; readonly data: unknown }): Words | null =>
  Object.hasOwn(EVENT_WORDS, type) ? (EVENT_WORDS[type as EventType] as (data: unknown) => Words)(data) : null;
