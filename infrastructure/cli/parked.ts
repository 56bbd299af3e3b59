// Streams that read models and processes do not take any more, from an event on that they could not take (architecture §7).

import { PROCESSES } from '../../application/capabilities.ts';
import { LOG_CONSUMER } from '../../application/core/aggregates.ts';
import { maySkip } from '../../application/core/capability.ts';
import type { RecordedEvent } from '../../application/ports/eventStore.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { type AccountId, type Mode, PREFIX } from '../../domain/kernel/ids.ts';
import { skipEvent } from '../../domain/logConsumer/logConsumer.ts';
import { askRetry, type ParkedRow, readParked } from '../../projections/engine/parkedStreams.ts';
import { CONSUMERS } from '../boot/platformWork.ts';
import { type CliCommand, type CliResult, type CliWorld, UsageError } from './command.ts';
import { eventTable, shown as shownEvent } from './events.ts';
import { type Screen, table } from './output.ts';
import { streamOf } from './typed.ts';

const shown = ({ account, isRetryAsked: _, ...row }: ParkedRow) => ({
  ...row,
  accountId: account === null ? null : PREFIX.account + account,
});
const rowTable = (screen: Screen, rows: readonly ParkedRow[]): string =>
  table(
    screen,
    ['PARKED', 'CONSUMER', 'FIRST EVENT NOT TAKEN', 'TYPE', 'ERROR'],
    rows.map(({ parkedAt, consumer, stream, revision, eventType, error }) => [
      parkedAt,
      consumer,
      `${stream}@${revision}`,
      eventType,
      error,
    ]),
  );

/** The parked rows of one stream, or of all; of one consumer, when it is named. Throws UsageError when there is none. */
const chosen = async (db: Sql, stream: string | null, consumer: unknown): Promise<readonly ParkedRow[]> => {
  const all = (await readParked(db, null)).filter((row) => stream === null || row.stream === stream);
  const rows = all.filter(({ consumer: name }) => consumer === undefined || name === consumer);
  if (rows.length === 0)
    throw new UsageError(
      `${stream ?? 'no stream'} is ${stream === null ? '' : 'not '}parked${consumer === undefined ? '' : ` for ${consumer}`}`,
    );
  return rows;
};

const CONSUMER = {
  description: 'of this read model or process only',
  choice: { what: 'read model or process', names: CONSUMERS },
};

const list: CliCommand = {
  name: 'parked list',
  summary: 'Streams that a read model or process does not take any more, longest parked first',
  args: [],
  options: { consumer: CONSUMER },
  run: async ({ storage }, { options: { consumer } }) => {
    const rows = (await readParked(storage.reads, null)).filter(
      (row) => consumer === undefined || row.consumer === consumer,
    );
    return {
      json: { parked: rows.map(shown) },
      text: rows.length > 0 ? (screen) => rowTable(screen, rows) : 'nothing is parked',
    };
  },
};

const show: CliCommand = {
  name: 'parked show',
  summary: 'Who has parked a stream and why, and its events from the first that was not taken',
  args: [{ name: 'stream' }],
  options: { consumer: CONSUMER },
  run: async ({ storage }, { args, options: { consumer } }) => {
    const rows = await chosen(storage.reads, streamOf(args[0] as string), consumer);
    const [{ stream }] = rows as [ParkedRow];
    const from = Math.min(...rows.map(({ revision }) => revision));
    const events: RecordedEvent[] = [];
    for await (const event of storage.store.readStream(streamOf(stream), { from })) events.push(event);
    return {
      json: { parked: rows.map(shown), events: events.map(shownEvent) },
      text: (screen) => `${rowTable(screen, rows)}\n\n${eventTable(screen, events)}`,
    };
  },
};

/** Longest wait for one more of them to be taken up by whoever leads, which is another process. */
const ANSWER_MS_MAX = 30_000;
const LOOK_MS = 100;

interface Outcome {
  readonly consumer: string;
  readonly stream: string;
  /** `waiting`: nobody who leads has taken it up yet; it stays asked for. */
  readonly outcome: 'taken' | 'parked' | 'waiting';
  /** Of the event at which it is parked now. */
  readonly revision: number | null;
  readonly error: string | null;
}

const takenUp = async (
  { storage: { operations: db }, signal }: CliWorld,
  rows: readonly ParkedRow[],
): Promise<CliResult> => {
  await askRetry(db, rows);
  const look = async () => {
    const left = await readParked(db, [...new Set(rows.map(({ consumer }) => consumer))]);
    return rows.map((row) => left.find(({ consumer, stream }) => consumer === row.consumer && stream === row.stream));
  };
  const openIn = (found: Awaited<ReturnType<typeof look>>) => found.filter((row) => row?.isRetryAsked).length;
  let now = await look();
  let deadline = performance.now() + ANSWER_MS_MAX;
  for (let open = openIn(now); open > 0 && performance.now() < deadline && !signal.aborted; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    now = await look();
    if (openIn(now) < open) deadline = performance.now() + ANSWER_MS_MAX;
    open = openIn(now);
  }
  const results = rows.map(({ consumer, stream }, i): Outcome => {
    const row = now[i];
    if (row === undefined) return { consumer, stream, outcome: 'taken', revision: null, error: null };
    const { revision, error, isRetryAsked } = row;
    return { consumer, stream, outcome: isRetryAsked ? 'waiting' : 'parked', revision, error };
  });
  const text = results.map(({ consumer, stream, outcome, revision, error }) =>
    outcome === 'taken'
      ? `${consumer} has taken ${stream} up again`
      : outcome === 'parked'
        ? `${consumer} has parked ${stream} again, from event ${revision} on: ${error}`
        : `${consumer} has not taken ${stream} up yet: does a projector and a worker run? It is done as soon as one does`,
  );
  return { json: { results }, text: text.join('\n'), isBad: results.some(({ outcome }) => outcome !== 'taken') };
};

const retry: CliCommand = {
  name: 'parked retry',
  changes: 'always',
  summary: 'Have a parked stream taken up again, after the mend; its events are applied in order',
  args: [{ name: 'stream', optional: true }],
  options: { all: { description: 'every parked stream', flag: true }, consumer: CONSUMER },
  run: async (world, { args: [stream], options: { all, consumer } }) => {
    if ((stream === undefined) !== (all === true)) throw new UsageError('name a stream, or --all');
    const rows = await chosen(world.storage.reads, stream === undefined ? null : streamOf(stream), consumer);
    return takenUp(world, rows);
  },
};

const REASON_LENGTH_MAX = 500;

const skip: CliCommand = {
  name: 'parked skip',
  changes: 'always',
  summary:
    'Pass over the event at which a stream is parked and take up what follows; recorded in the log, with the reason',
  args: [{ name: 'stream' }],
  options: {
    reason: { description: 'why, for whoever reads the log later: no personal data', required: true },
    consumer: CONSUMER,
    force: {
      description:
        'read models and processes that move money for which it is meant all the same, by name, with commas between',
    },
  },
  run: async (world, { args, options }) => {
    const reason = String(options['reason']).trim();
    if (reason === '' || reason.length > REASON_LENGTH_MAX)
      throw new UsageError(`--reason must have 1 to ${REASON_LENGTH_MAX} characters`);
    const rows = await chosen(world.storage.reads, streamOf(args[0] as string), options['consumer']);
    const forced = String(options['force'] ?? '')
      .split(',')
      .map((name) => name.trim());
    const refused = rows.filter(({ consumer }) => !maySkip(PROCESSES, consumer) && !forced.includes(consumer));
    if (refused.length > 0)
      throw new UsageError(
        `nothing was skipped: what ${refused.map(({ consumer }) => consumer).join(', ')} would miss is money, or shown to merchants; if that is meant, --force names each of them`,
      );
    for (const row of rows) await record(world, row, reason);
    return takenUp(world, rows);
  },
};

const record = async (
  { commands, accounts, operator: actor }: CliWorld,
  row: ParkedRow,
  reason: string,
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
  const why = {
    ...tenant,
    actor,
    requestId: null,
    correlationId: stream,
    causationId: eventId,
  };
  await commands.record(
    LOG_CONSUMER,
    streamName.logConsumer(consumer),
    skipEvent({ ...decided, at: accounts.realNow() }),
    why,
  );
};

export const parkedCommands: readonly CliCommand[] = [list, show, retry, skip];
