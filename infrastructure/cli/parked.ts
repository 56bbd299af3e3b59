// Streams that read models and processes do not take any more, from an event on that they could not take (architecture §7).
import type { ParkedItem } from '../../application/operations/parked.ts';
import type { TakenUp, WhichParked } from '../../application/ports/consumers.ts';
import { type CliCommand, type CliResult, UsageError } from './command.ts';
import { eventTable, shown as shownEvent } from './events.ts';
import { type Screen, table } from './output.ts';
import { byOf, CONSUMERS } from './platform.ts';
import { streamOf } from './typed.ts';

const rowTable = (screen: Screen, rows: readonly ParkedItem[]): string =>
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

const whichOf = (stream: string | undefined, consumer: unknown): WhichParked => ({
  stream: stream === undefined ? null : streamOf(stream),
  consumer: consumer === undefined ? null : String(consumer),
});
const noneParked = ({ stream, consumer }: WhichParked): UsageError =>
  new UsageError(
    `${stream ?? 'no stream'} is ${stream === null ? '' : 'not '}parked${consumer === null ? '' : ` for ${consumer}`}`,
  );

const CONSUMER = {
  description: 'of this read model or process only',
  choice: { what: 'read model or process', names: CONSUMERS },
};

const list: CliCommand = {
  name: 'parked list',
  summary: 'Streams that a read model or process does not take any more, longest parked first',
  args: [],
  options: { consumer: CONSUMER },
  run: async (world, { options: { consumer } }) => {
    const parked = await world.platform.listParked(whichOf(undefined, consumer).consumer);
    return {
      json: { parked },
      text: parked.length > 0 ? (screen) => rowTable(screen, parked) : 'nothing is parked',
    };
  },
};

const show: CliCommand = {
  name: 'parked show',
  summary: 'Who has parked a stream and why, and its events from the first that was not taken',
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
    const which = whichOf(args[0] as string, options['consumer']);
    const forced = String(options['force'] ?? '')
      .split(',')
      .map((name) => name.trim());
    const done = await world.platform.skipParked(which, { reason, forced }, byOf(world), world.signal);
    if ('unmeant' in done)
      throw new UsageError(
        `nothing was skipped: what ${done.unmeant.join(', ')} would miss is money, or shown to merchants; if that is meant, --force names each of them`,
      );
    if (done.length === 0) throw noneParked(which);
    return resultOf(done);
  },
};

export const parkedCommands: readonly CliCommand[] = [list, show, retry, skip];
