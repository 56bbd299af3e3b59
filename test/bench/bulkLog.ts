// A year-long log, written in minutes: payments of many merchants and their webhook deliveries, through the program’s own codec and append.
// All other events come from the program itself.
import { randomUUID } from 'node:crypto';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import { EMPTY_STREAM } from '../../application/ports/eventStore.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { AccountId, EndpointId, PaymentId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { paymentHistory } from './paymentHistory.ts';
import { appendAll, finishedDelivery, type NewStream } from './seed.ts';

export interface BulkTenant {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
}

/** Messages about a payment’s creation and settlement, each with the revision of its event. */
const CREATED = [
  ['charge.created', 1],
  ['payment.created', 1],
] as const;
const PAID = [
  ['charge.paid', 2],
  ['payment.completed', 2],
  ['payment.status_changed', 2],
] as const;
const BATCH_PAYMENTS = 1_000;
const SAID_EVERY = 500_000;

/** Returns the streams of a payment and its deliveries. Returns none for a pending payment, because the program would process it. */
const streamsOf = (
  history: readonly LoggedEvent<PaymentEvent>[],
  tenants: ReadonlyMap<AccountId, BulkTenant>,
): readonly NewStream[] => {
  const [first] = history as readonly [LoggedEvent<PaymentEvent>];
  const { accountId, endpointId } = tenants.get(first.account) as BulkTenant;
  const events = history.map(({ event }) => event);
  if (events.length === 2) return [];
  const metadata = {
    ...{ account: accountId, mode: 'test' as const, actor: 'process:bench', requestId: null },
    ...{ correlationId: first.subject, causationId: 'bench' },
  };
  const payment: NewStream = {
    ...{ serde: PAYMENT.serde, stream: first.stream, after: EMPTY_STREAM, events, commandId: randomUUID(), metadata },
  };
  const isPaid = events[2]?.type === 'TransactionSettled';
  const sent = [...CREATED, ...(isPaid ? PAID : [])].map(([type, revision]) =>
    finishedDelivery(endpointId, first.subject as PaymentId, revision, type, accountId),
  );
  return [payment, ...sent];
};

/** The share of one of several processes that fill the log together. */
export interface Part {
  readonly index: number;
  readonly of: number;
}

/** Appends at least `atLeast` events, with payments of each tenant in turn. Returns the number of events appended. */
export const fillLog = async (
  log: EventLog,
  tenants: readonly BulkTenant[],
  atLeast: number,
  part: Part,
  say: (line: string) => void,
): Promise<number> => {
  // More payments than needed, because most have eight events with their deliveries.
  const payments = Math.ceil((atLeast * part.of) / 4);
  const tenantOf = (n: number) => tenants[n % tenants.length] as BulkTenant;
  const batches: Iterator<readonly LoggedEvent<PaymentEvent>[], undefined> = paymentHistory(
    payments,
    fromMillis(Date.now()),
    BATCH_PAYMENTS,
    undefined,
    (n) => tenantOf(n).accountId,
    part,
  );
  const byAccount = new Map(tenants.map((tenant) => [tenant.accountId, tenant]));
  let [events, said] = [0, 0];
  let waiting: NewStream[] = [];
  const next = (): NewStream | null => {
    if (events >= atLeast) return null;
    while (waiting.length === 0) {
      const batch = batches.next().value ?? null;
      if (batch === null) return null;
      const all: NewStream[] = [];
      for (const history of Map.groupBy(batch, ({ stream }) => stream).values())
        for (const one of streamsOf(history, byAccount)) all.push(one);
      waiting = all.reverse();
    }
    const one = waiting.pop() as NewStream;
    events += one.events.length;
    if (events - said >= SAID_EVERY) {
      said = events;
      say(`${events} events`);
    }
    return one;
  };
  await appendAll(log, next);
  return events;
};
