// Parked streams: a read model or process failed on an event and skips the stream from there on (architecture §7).
import type { ParkedItem } from '../../../application/operations/parked.ts';
import type { TakenUp, WhichParked } from '../../../application/ports/consumers.ts';
import { byOf, type CliCommand, type CliResult, CONSUMERS, streamOf, UsageError } from '../../cli/command.ts';
import { type Screen, table } from '../../cli/output.ts';
import { eventTable, shown as shownEvent } from './events.ts';

const rowTable = (screen: Screen, rows: readonly ParkedItem[]): string =>
  table(
    screen,
    ['PARKED', 'CONSUMER', 'FIRST FAILED EVENT', 'TYPE', 'ERROR'],
    rows.map(({ parkedAt, consumer, stream, revision, eventType, error }) => [
      parkedAt,
      consumer,
      `${stream}@${revision}`,
      eventType,
      error,
    ]),
  );

const whichOf = (stream: string | undefined, consumer: unknown): WhichParked => ({
  stream: stream === undefined ? null : streamOf(stream),
  consumer: consumer === undefined ? null : String(consumer),
});
const noneParked = ({ stream, consumer }: WhichParked): UsageError =>
  new UsageError(
    `${stream ?? 'no stream'} is ${stream === null ? '' : 'not '}parked${consumer === null ? '' : ` for ${consumer}`}`,
  );

const CONSUMER = {
  description: 'only for this read model or process',
  choices: CONSUMERS,
};

const list: CliCommand = {
  name: 'parked list',
  summary: 'List streams that a read model or process parked after a failed event, oldest first',
  options: { consumer: CONSUMER },
  run: async (world, { options: { consumer } }) => {
    const parked = await world.platform.listParked(whichOf(undefined, consumer).consumer);
    return {
      json: { parked },
      text: parked.length > 0 ? (screen) => rowTable(screen, parked) : 'no parked streams',
    };
  },
};

const show: CliCommand = {
  name: 'parked show',
  summary: 'Show which consumers parked a stream and why, and its events from the failed one on',
  args: [{ name: 'stream' }],
  options: { consumer: CONSUMER },
  run: async (world, { args, options }) => {
    const stream = streamOf(args[0] as string);
    const { consumer } = whichOf(undefined, options['consumer']);
    const found = await world.platform.showParked(stream, consumer);
    if (found === null) throw noneParked({ stream, consumer });
    const { parked, events } = found;
    return {
      json: { parked, events: events.map(shownEvent) },
      text: (screen) => `${rowTable(screen, parked)}\n\n${eventTable(screen, events)}`,
    };
  },
};

const resultOf = (results: readonly TakenUp[]): CliResult => {
  const text = results.map(({ consumer, stream, outcome, revision, error }) =>
    outcome === 'taken'
      ? `${consumer} resumed ${stream}`
      : outcome === 'parked'
        ? `${consumer} parked ${stream} again at event ${revision}: ${error}`
        : `${consumer} has not resumed ${stream} yet: check that projector and worker run; it resumes when they do`,
  );
  return { json: { results }, text: text.join('\n'), isBad: results.some(({ outcome }) => outcome !== 'taken') };
};

const retry: CliCommand = {
  name: 'parked retry',
  changes: 'always',
  summary: 'Retry a parked stream after the cause is fixed; its events are applied in order',
  args: [{ name: 'stream', optional: true }],
  options: { all: { description: 'every parked stream', flag: true }, consumer: CONSUMER },
  run: async (world, { args: [stream], options: { all, consumer } }) => {
    if ((stream === undefined) !== (all === true)) throw new UsageError('give either a stream or --all');
    const which = whichOf(stream, consumer);
    const results = await world.platform.retryParked(which, world.signal);
    if (results.length === 0) throw noneParked(which);
    return resultOf(results);
  },
};

const REASON_LENGTH_MAX = 500;

const skip: CliCommand = {
  name: 'parked skip',
  changes: 'always',
  summary:
    'Skip the event at which a stream is parked and resume after it; the event log records the skip and its reason',
  args: [{ name: 'stream' }],
  options: {
    reason: { description: 'reason, stored in the event log; no personal data', required: true },
    consumer: CONSUMER,
    force: {
      description: 'confirm the skip for consumers that move money or face merchants: their names, separated by commas',
    },
  },
  run: async (world, { args, options }) => {
    const reason = String(options['reason']).trim();
    if (reason === '' || reason.length > REASON_LENGTH_MAX)
      throw new UsageError(`--reason must have 1 to ${REASON_LENGTH_MAX} characters`);
    const which = whichOf(args[0] as string, options['consumer']);
    const forced = String(options['force'] ?? '')
      .split(',')
      .map((name) => name.trim());
    const done = await world.platform.skipParked(which, { reason, forced }, byOf(world), world.signal);
    if ('unmeant' in done)
      throw new UsageError(
        `nothing was skipped: ${done.unmeant.join(', ')} would miss money or data shown to merchants; to skip anyway, name each in --force`,
      );
    if (done.length === 0) throw noneParked(which);
    return resultOf(done);
  },
};

export const parkedCommands: readonly CliCommand[] = [list, show, retry, skip];
