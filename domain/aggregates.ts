// The list of all aggregates. Everything that depends on all of them derives from this list.
import { ACCOUNT } from './account/account.ts';
import { MED_CASE } from './dispute/aggregate.ts';
import { type AnyAggregate, readStreamName } from './kernel/aggregate.ts';
import { type PaymentId, PREFIX, parseId, type StreamName } from './kernel/ids.ts';
import { type AccountWords, GENERAL_ACCOUNTS, type LedgerAccount } from './kernel/journal.ts';
import type { ErrorEntry } from './kernel/rejection.ts';
import { KEYRING } from './keyring/keyring.ts';
import { LOG_CONSUMER } from './logConsumer/logConsumer.ts';
import { PAYMENT } from './payment/aggregate.ts';
import { PAYOUT } from './payout/aggregate.ts';
import { PROVIDER_CONNECTION } from './providerConnection/aggregate.ts';
import { REFUND } from './refund/refund.ts';
import { USER } from './user/user.ts';
import { WEBHOOK_DELIVERY } from './webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from './webhookEndpoint/webhookEndpoint.ts';

export const AGGREGATES = [
  PAYMENT,
  REFUND,
  PAYOUT,
  MED_CASE,
  WEBHOOK_DELIVERY,
  WEBHOOK_ENDPOINT,
  KEYRING,
  ACCOUNT,
  USER,
  LOG_CONSUMER,
  PROVIDER_CONNECTION,
] as const;
type Listed = (typeof AGGREGATES)[number];

export type Category = Listed['category'];
export type EventOf = { readonly [A in Listed as A['category']]: ReturnType<A['serde']['decode']> };

export const CATEGORIES: readonly Category[] = AGGREGATES.map(({ category }) => category);
/** The postings of these aggregates by category. Aggregates that post nothing are left out. */
export const postingsOf = (
  aggregates: readonly AnyAggregate[],
): ReadonlyMap<string, NonNullable<AnyAggregate['postings']>> =>
  new Map(aggregates.flatMap(({ category, postings }) => (postings === null ? [] : [[category, postings] as const])));
/** Returns whether an event of this type certainly moves no money. */
export const isIdleIn = (postings: ReturnType<typeof postingsOf>) => {
  const idle = new Set([...postings.values()].flatMap(({ idleTypes = [] }) => idleTypes));
  return ({ type }: { readonly type: string }): boolean => idle.has(type);
};
/** The ledger accounts to which these aggregates post, with their descriptions. */
export const accountsOf = (aggregates: readonly AnyAggregate[]) =>
  Object.fromEntries([
    ...aggregates.flatMap(({ postings }) => Object.entries(postings?.accounts ?? {})),
    ...Object.entries(GENERAL_ACCOUNTS),
  ]) as { readonly [account in LedgerAccount]: AccountWords };
/** The effect of postings on each ledger account, in words. */
export const ACCOUNT_WORDS = accountsOf(AGGREGATES);
export const LEDGER_ACCOUNTS = Object.keys(ACCOUNT_WORDS) as readonly LedgerAccount[];

/** Categories so rare that their events have their own index in the log. */
export const RARE_CATEGORIES: readonly Category[] = AGGREGATES.flatMap(({ isRare, category }) =>
  isRare ? [category] : [],
);

type CodeOf<A> = A extends { readonly errors?: infer Errors } ? keyof NonNullable<Errors> : never;
/** Error codes of all aggregates, with their descriptions. */
export const AGGREGATES_ERRORS = Object.fromEntries(
  AGGREGATES.flatMap(({ errors = {} }) => Object.entries(errors)),
) as {
  readonly [Code in CodeOf<Listed>]: ErrorEntry;
};

/** Aggregates whose ids name no account, or another one than their own (ADR 0012). */
const OUTSIDE: readonly AnyAggregate[] = [USER, LOG_CONSUMER, PROVIDER_CONNECTION];
const OF_ACCOUNTS: ReadonlySet<string> = new Set(
  AGGREGATES.filter((one) => !OUTSIDE.includes(one)).map(({ category }) => category),
);
/** Returns whether the streams of the category belong to an account whose partition is in their ids. */
export const isOfAccount = (category: string): boolean => OF_ACCOUNTS.has(category);

const DELETABLE: ReadonlySet<string> = new Set(
  AGGREGATES.flatMap(({ isDeletable, category }) => (isDeletable ? [category] : [])),
);
/** Returns whether the stream may be deleted as a whole. Readers must expect such a stream to be missing. */
export const isDeletable = (stream: string): boolean => DELETABLE.has(readStreamName(stream).category);

/** Parses a stream's name, an id with its prefix, such as `po_…`, or a payment's id without one. Returns null if it names no stream. */
export const parseStreamName = (text: string): StreamName | null => {
  const paymentId = parseId<PaymentId>(text, PREFIX.charge, PAYMENT.idPrefix);
  if (paymentId !== null) return PAYMENT.stream(paymentId);
  const { category, id } = readStreamName(text);
  const named = AGGREGATES.find((one) => one.category === category);
  if (named?.isSubject(id)) return text as StreamName;
  const [, prefix = '', raw = ''] = /^([a-z]+_)(.*)$/s.exec(text) ?? [];
  const owner = AGGREGATES.find(({ idPrefix }) => idPrefix === prefix);
  return owner?.isSubject(raw) ? (`${owner.category}-${raw}` as StreamName) : null;
};
