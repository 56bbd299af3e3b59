// Operators' use cases for parked streams, which read models and processes skip after a failed event (architecture §7, rule O1).
import { ACCOUNT } from '../../domain/account/account.ts';
import type { AccountId, Mode, StreamName } from '../../domain/kernel/ids.ts';
import { LOG_CONSUMER, skipEvent } from '../../domain/logConsumer/logConsumer.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { Consumers, ParkedRow, TakenUp, WhichParked } from '../ports/consumers.ts';
import type { EventStore, RecordedEvent } from '../ports/eventStore.ts';

interface Needs extends UseCaseNeeds {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly consumers: Consumers;
}

export interface ParkedItem extends Omit<ParkedRow, 'account'> {
  /** Account and mode are null if neither the event nor the first one of its stream names them. */
  readonly accountId: string | null;
}

const shown = ({
  consumer,
  stream,
  account,
  mode,
  revision,
  eventId,
  eventType,
  error,
  parkedAt,
}: ParkedRow): ParkedItem => ({
  consumer,
  stream,
  mode,
  revision,
  eventId,
  eventType,
  error,
  parkedAt,
  accountId: account === null ? null : ACCOUNT.idPrefix + account,
});

/** Returns parked streams, longest parked first. */
export const listParked =
  ({ consumers }: Pick<Needs, 'consumers'>) =>
  async (consumer: string | null): Promise<readonly ParkedItem[]> =>
    (await consumers.parked({ stream: null, consumer })).map(shown);

/** Returns the consumers that parked the stream, and its events from the first failed one on, or null if it is not parked. */
export const showParked =
  ({ consumers, store }: Pick<Needs, 'consumers' | 'store'>) =>
  async (
    stream: StreamName,
    consumer: string | null,
  ): Promise<{ readonly parked: readonly ParkedItem[]; readonly events: readonly RecordedEvent[] } | null> => {
    const rows = await consumers.parked({ stream, consumer });
    if (rows.length === 0) return null;
    const from = Math.min(...rows.map(({ revision }) => revision));
    const events: RecordedEvent[] = [];
    for await (const event of store.readStream(stream, { from })) events.push(event);
    return { parked: rows.map(shown), events };
  };

/**
 * Retries parked streams and waits for the results, until 30 s pass without progress or the signal aborts. Returns the result for each
 * stream; empty if no such stream is parked.
 */
export const retryParked =
  ({ consumers }: Pick<Needs, 'consumers'>) =>
  async (which: WhichParked, signal: AbortSignal): Promise<readonly TakenUp[]> =>
    consumers.takeUp(await consumers.parked(which), signal);

/**
 * Skips the events at which streams are parked, records that in the log, and continues like `retryParked`. Consumers that move money or
 * face merchants must be named in `forced`. If some are not named, nothing is done and `unmeant` lists them.
 */
export const skipParked =
  (needs: Needs) =>
  async (
    which: WhichParked,
    { reason, forced }: { readonly reason: string; readonly forced: readonly string[] },
    by: Changer,
    signal: AbortSignal,
  ): Promise<readonly TakenUp[] | { readonly unmeant: readonly string[] }> => {
    const { consumers } = needs;
    const rows = await consumers.parked(which);
    const money = rows.map(({ consumer }) => consumer).filter((name) => !consumers.maySkip(name));
    const unmeant = money.filter((name) => !forced.includes(name));
    if (unmeant.length > 0) return { unmeant };
    for (const row of rows) await record(needs, row, reason, by);
    return consumers.takeUp(rows, signal);
  };

const record = async (
  { commands, accounts, consumers }: Needs,
  row: ParkedRow,
  reason: string,
  { actor, requestId }: Changer,
): Promise<void> => {
  const { consumer, stream, revision, eventId, eventType } = row;
  const decided = {
    consumer,
    stream,
    revision,
    eventId,
    eventType,
    reason,
    operator: actor.replace('operator:', ''),
    isForced: !consumers.maySkip(consumer),
  };
  // The tenant of the stream; the account is empty if its events name none.
  const tenant = { account: (row.account ?? '') as AccountId, mode: (row.mode ?? 'live') as Mode };
  const metadata = { ...tenant, actor, requestId, correlationId: stream, causationId: eventId };
  await commands.record(
    LOG_CONSUMER,
    LOG_CONSUMER.stream(consumer),
    skipEvent({ ...decided, at: accounts.realNow() }),
    metadata,
  );
};
