// Streams that read models and processes do not take any more, as operators see to them: by requests and at a terminal alike (architecture
// §7, rule O1).

import { PROCESSES } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import { maySkip } from '../../application/core/capability.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { Changer } from '../../application/core/eventMetadata.ts';
import type { RecordedEvent } from '../../application/ports/eventStore.ts';
import type { ParkedItem, ParkedWork, TakenUp, WhichParked } from '../../application/ports/platformWork.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { LOG_CONSUMER, skipEvent } from '../../domain/logConsumer/logConsumer.ts';
import { askRetry, type ParkedRow, readParked } from '../../projections/engine/parkedStreams.ts';
import { pause } from '../../projections/engine/pause.ts';
import type { Storage } from './storage.ts';

const shown = ({ account, isRetryAsked: _, ...row }: ParkedRow): ParkedItem => ({
  ...row,
  accountId: account === null ? null : ACCOUNT.idPrefix + account,
});

const chosen = async (db: Sql, { stream, consumer }: WhichParked): Promise<readonly ParkedRow[]> =>
  (await readParked(db, null)).filter(
    (row) => (stream === null || row.stream === stream) && (consumer === null || row.consumer === consumer),
  );

/** Longest wait for one more of them to be taken up by whoever leads, which is another process. */
const ANSWER_MS_MAX = 30_000;
const LOOK_MS = 100;

const takenUp = async (db: Sql, rows: readonly ParkedRow[], signal: AbortSignal): Promise<readonly TakenUp[]> => {
  await askRetry(db, rows);
  const look = async () => {
    const left = await readParked(db, [...new Set(rows.map(({ consumer }) => consumer))]);
    return rows.map((row) => left.find(({ consumer, stream }) => consumer === row.consumer && stream === row.stream));
  };
  const openIn = (found: Awaited<ReturnType<typeof look>>) => found.filter((row) => row?.isRetryAsked).length;
  let now = await look();
  let deadline = performance.now() + ANSWER_MS_MAX;
  for (let open = openIn(now); open > 0 && performance.now() < deadline && !signal.aborted; ) {
    await pause(LOOK_MS, signal);
    now = await look();
    if (openIn(now) < open) deadline = performance.now() + ANSWER_MS_MAX;
    open = openIn(now);
  }
  return rows.map(({ consumer, stream }, i): TakenUp => {
    const row = now[i];
    if (row === undefined) return { consumer, stream, outcome: 'taken', revision: null, error: null };
    const { revision, error, isRetryAsked } = row;
    return { consumer, stream, outcome: isRetryAsked ? 'waiting' : 'parked', revision, error };
  });
};

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
}

const record = async (
  { commands, accounts }: Needs,
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
    isForced: !maySkip(PROCESSES, consumer),
  };
  // Of whom the stream is; of nobody when its events name none.
  const tenant = { account: (row.account ?? '') as AccountId, mode: (row.mode ?? 'live') as Mode };
  const why = { ...tenant, actor, requestId, correlationId: stream, causationId: eventId };
  await commands.record(
    LOG_CONSUMER,
    LOG_CONSUMER.stream(consumer),
    skipEvent({ ...decided, at: accounts.realNow() }),
    why,
  );
};

export const parkedWork = (needs: Needs, { store, reads, operations }: Storage): ParkedWork => ({
  listParked: async (consumer) => (await chosen(reads, { stream: null, consumer })).map(shown),
  showParked: async (stream, consumer) => {
    const rows = await chosen(reads, { stream, consumer });
    if (rows.length === 0) return null;
    const from = Math.min(...rows.map(({ revision }) => revision));
    const events: RecordedEvent[] = [];
    for await (const event of store.readStream(stream, { from })) events.push(event);
    return { parked: rows.map(shown), events };
  },
  retryParked: async (which, signal) => takenUp(operations, await chosen(reads, which), signal),
  skipParked: async (which, { reason, forced }, by, signal) => {
    const rows = await chosen(reads, which);
    const money = rows.map(({ consumer }) => consumer).filter((name) => !maySkip(PROCESSES, name));
    const unmeant = money.filter((name) => !forced.includes(name));
    if (unmeant.length > 0) return { unmeant };
    for (const row of rows) await record(needs, row, reason, by);
    return takenUp(operations, rows, signal);
  },
});
