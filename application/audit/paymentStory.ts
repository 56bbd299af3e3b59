// The story of a payment: its events and those of its refunds and disputes, who caused them, their postings, the provider's calls and
// the webhooks with their attempts.
import { ACCOUNT } from '../../domain/account/account.ts';
import { AGGREGATES, type EventOf, postingsOf } from '../../domain/aggregates.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { PaymentId, StreamName, Tenant } from '../../domain/kernel/ids.ts';
import type { LedgerAccount } from '../../domain/kernel/journal.ts';
import { isTimestamp, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { Words } from '../../domain/presentation/eventWords/words.ts';
import { wordsOf } from '../../domain/presentation/eventWords.ts';
import { wordsOfPosting } from '../../domain/presentation/postingWords.ts';
import { REFUND } from '../../domain/refund/refund.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { type EventLog, UnreadableEvent } from '../ports/eventCodec.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';
import type { EventMetadata, LoggedEvent } from '../ports/loggedEvent.ts';
import type {
  DeliveriesOfPayment,
  NotificationsOfPayment,
  TracedDelivery,
  TracedNotification,
} from '../ports/paymentTraces.ts';
import { metadataIn } from './entry.ts';

export interface StoryNeeds extends EventLog {
  readonly deliveriesOfPayment: DeliveriesOfPayment;
  readonly notificationsOfPayment: NotificationsOfPayment;
}

/** One line of a ledger entry. */
interface ChapterPosting {
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Signed minor units; credit is positive. */
  readonly amount: number;
  readonly what: Words;
}

export interface Chapter {
  readonly at: string;
  readonly words: Words;
}
export interface EventChapter extends Chapter {
  readonly kind: 'event';
  readonly stream: StreamName;
  readonly revision: number;
  readonly type: string;
  readonly actor: string;
  readonly requestId: string | null;
  /** The event, request or object that led to it. `<stream>@<revision>` if it is an event of this story. */
  readonly cause: string;
  readonly postings: readonly ChapterPosting[];
  /** The message and the endpoint, if the event is an attempt to deliver a webhook. `endpointId` null: the payment's own URL. */
  readonly webhook?: { readonly eventType: string; readonly endpointId: string | null };
}
/** The provider called Quita. */
export interface NotificationChapter extends Chapter {
  readonly kind: 'notification';
  readonly reference: string;
  readonly outcome: string | null;
}

export interface PaymentStory {
  readonly paymentId: string;
  readonly accountId: string;
  readonly mode: string;
  /** In the order in which Quita recorded it. */
  readonly chapters: readonly (EventChapter | NotificationChapter)[];
  /** Messages that have not been attempted yet. */
  readonly waiting: readonly { readonly eventType: string; readonly endpointId: string | null }[];
}

interface StoryEvent {
  readonly recorded: RecordedEvent;
  /** null: this version can't read the event. */
  readonly logged: LoggedEvent | null;
}

const read = async ({ store, codec }: EventLog, stream: StreamName): Promise<readonly StoryEvent[]> => {
  const recorded: RecordedEvent[] = [];
  for await (const event of store.readStream(stream)) recorded.push(event);
  const decoded = await codec.decode(recorded);
  return recorded.map((one, n) => {
    const logged = decoded[n];
    return { recorded: one, logged: logged === undefined || logged instanceof UnreadableEvent ? null : logged };
  });
};

/** Returns the stream that an event of a payment begins, if it begins one. */
const begunBy = (event: EventOf['payment']): StreamName | null => {
  if (event.type === 'TransactionRefundReserved') return REFUND.stream(event.data.refundId);
  if (event.type === 'TransactionHeldPayoutRequested') return REFUND.stream(event.data.payoutId);
  return event.type === 'TransactionDisputeOpened' ? MED_CASE.stream(event.data.caseId) : null;
};

const streamsBegunBy = (events: readonly StoryEvent[]): readonly StreamName[] => [
  ...new Set(events.flatMap(({ logged }) => (logged && begunBy(logged.event as EventOf['payment'])) ?? [])),
];

/** Returns the streams of a payment: its own, and those of its refunds and disputes. */
export const streamsOfPayment = async (log: EventLog, id: PaymentId): Promise<readonly StreamName[]> => {
  const own = PAYMENT.stream(id);
  return [own, ...streamsBegunBy(await read(log, own))];
};

/** Returns the events of these streams, reading each once. */
const eventsOfPayment = async (log: EventLog, id: PaymentId): Promise<readonly StoryEvent[]> => {
  const own = await read(log, PAYMENT.stream(id));
  const others = await Promise.all(streamsBegunBy(own).map((stream) => read(log, stream)));
  return [...own, ...others.flat()];
};

const POSTINGS = postingsOf(AGGREGATES);

const postingsIn = ({ category, event }: LoggedEvent): readonly ChapterPosting[] =>
  (POSTINGS.get(category)?.entryOf(event)?.postings ?? []).map(({ account, currency, amount }) => ({
    account,
    currency,
    amount,
    what: wordsOfPosting(account, amount),
  }));

const UNKNOWN: Pick<EventMetadata, 'actor' | 'requestId' | 'causationId'> = {
  actor: 'unknown',
  requestId: null,
  causationId: 'unknown',
};
const UNREADABLE: Words = { en: 'This version can’t read the event.', pt: 'Esta versão não consegue ler o evento.' };

const chapterOf =
  (placeOfId: ReadonlyMap<string, string>) =>
  ({ recorded, logged }: StoryEvent): EventChapter => {
    const { stream, revision, type, recordedAt: at } = recorded;
    const { actor, requestId, causationId } = metadataIn(recorded) ?? UNKNOWN;
    return {
      kind: 'event',
      at,
      stream,
      revision,
      type,
      words: (logged && wordsOf(logged.event)) ?? UNREADABLE,
      actor,
      requestId,
      cause: placeOfId.get(causationId) ?? causationId,
      postings: logged === null ? [] : postingsIn(logged),
    };
  };

const OUTCOMES: { readonly [outcome: string]: Words } = {
  settled: { en: '; the provider’s records confirm it', pt: '; os registros do provedor o confirmam' },
  not_confirmed: {
    en: '; the provider’s records do not confirm it',
    pt: '; os registros do provedor não o confirmam',
  },
};
const UNHANDLED: Words = { en: ', not handled yet', pt: ', ainda não tratado' };
const wordsOfOutcome = (outcome: string | null): Words =>
  outcome === null ? UNHANDLED : (OUTCOMES[outcome] ?? { en: `; ${outcome}`, pt: `; ${outcome}` });

const notificationChapter = ({ kind, reference, receivedAt: at, outcome }: TracedNotification): NotificationChapter => {
  const { en, pt } = wordsOfOutcome(outcome);
  const words = {
    en: `The provider reported a ${kind} (${reference})${en}.`,
    pt: `O provedor enviou um aviso do tipo ${kind} (${reference})${pt}.`,
  };
  return { kind: 'notification', at, reference, outcome, words };
};

/** Returns all times in the events, in any order. */
const timesIn = (events: readonly StoryEvent[]): readonly Timestamp[] => {
  const times = new Set<Timestamp>();
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      if (isTimestamp(value)) times.add(value);
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
  };
  for (const { logged } of events) look(logged?.event);
  return [...times];
};

const inOrder = <C extends Chapter>(chapters: readonly C[]): readonly C[] =>
  chapters.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));

/** Returns the story of a payment, or null if it does not exist. */
export const paymentStory =
  ({ deliveriesOfPayment, notificationsOfPayment, ...log }: StoryNeeds) =>
  async (id: PaymentId): Promise<PaymentStory | null> => {
    const events = await eventsOfPayment(log, id);
    const tenant = events[0] && metadataIn(events[0].recorded);
    if (!tenant) return null;
    const { account: accountId, mode } = tenant;
    const placeOfId = new Map(events.map(({ recorded: one }) => [one.id, `${one.stream}@${one.revision}`]));
    const deliveries = await deliveriesOfPayment({ accountId, mode }, id, timesIn(events));
    const attempts = await Promise.all(deliveries.map((one) => read(log, WEBHOOK_DELIVERY.stream(one.id))));
    const webhookOf = (n: number) => {
      const { eventType, endpointId } = deliveries[n] as (typeof deliveries)[number];
      return { eventType, endpointId: endpointId && WEBHOOK_ENDPOINT.idPrefix + endpointId };
    };
    const notifications = (await notificationsOfPayment({ accountId, mode }, id)).map(notificationChapter);
    const chapters = [
      ...notifications,
      ...events.map(chapterOf(placeOfId)),
      ...attempts.flatMap((attempted, n) =>
        attempted.map(chapterOf(placeOfId)).map((chapter) => ({ ...chapter, webhook: webhookOf(n) })),
      ),
    ];
    return {
      paymentId: PAYMENT.idPrefix + id,
      accountId: ACCOUNT.idPrefix + accountId,
      mode,
      chapters: inOrder(chapters),
      waiting: deliveries.flatMap((_, n) => (attempts[n]?.length === 0 ? [webhookOf(n)] : [])),
    };
  };

/** The part of a payment's story that its merchant sees. */
export interface PaymentHistory {
  /** In the order in which Quita recorded them. */
  readonly chapters: readonly EventChapter[];
  readonly webhooks: readonly TracedDelivery[];
}

/** Returns the history of a tenant's payment; empty if the tenant has no such payment. Reads each stream once. */
export const paymentHistory =
  ({ deliveriesOfPayment, ...log }: StoryNeeds) =>
  async (tenant: Tenant, id: PaymentId): Promise<PaymentHistory> => {
    const events = await eventsOfPayment(log, id);
    const owner = events[0] && metadataIn(events[0].recorded);
    if (owner?.account !== tenant.accountId || owner.mode !== tenant.mode) return { chapters: [], webhooks: [] };
    return {
      chapters: inOrder(events.map(chapterOf(new Map()))),
      webhooks: await deliveriesOfPayment(tenant, id, timesIn(events)),
    };
  };
