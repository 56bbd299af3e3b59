// Read models: shows their progress, rebuilds them, compares them with the events, and builds them as they were.
import { AlreadyRunning, AsOfRefused, type Moment, type WorkProgress } from '../../application/ports/readModelWork.ts';
import { instantOf } from '../../http/kernel/query.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { type CliCommand, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';
import { CONSUMERS } from './platform.ts';

/** Names are padded so that positions line up when the output is piped, too. */
const NAME_WIDTH = Math.max(...CONSUMERS.map(({ length }) => length));

const status: CliCommand = {
  name: 'projections status',
  summary: 'Show the position of each read model and process in the log',
  run: async (world) => {
    const { head, consumers } = await world.platform.listConsumers();
    const rows = consumers.map(({ name, position, isCaughtUp }) => [
      name.padEnd(NAME_WIDTH),
      position ?? '-',
      isCaughtUp ? 'caught up' : 'behind',
    ]);
    const text = (screen: Screen) =>
      table(screen, ['NAME', 'POSITION', ''], [['head of the log'.padEnd(NAME_WIDTH), head ?? '-', ''], ...rows]);
    return { json: { head, consumers }, text };
  },
};

/** Throws UsageError if another such work is running, or the schema can't be used. */
const ofOne = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AlreadyRunning || error instanceof AsOfRefused) throw new UsageError(error.message);
    throw error;
  }
};

const rebuildCommand: CliCommand = {
  name: 'projections rebuild',
  summary: `Rebuild a read model beside the live copy, then swap them (${PROJECTIONS.map(({ name }) => name).join(', ')}, or all)`,
  args: [{ name: 'name', choice: { what: 'read model', names: [...PROJECTIONS.map(({ name }) => name), 'all'] } }],
  changes: 'always',
  run: async (world, { args: [name] }, { progress }) => {
    const onProgress = ({ share, what }: WorkProgress) => progress.show(share, what);
    const reports = await ofOne(() => world.platform.rebuild(name as string, world.signal, onProgress));
    const lines = reports.map(
      ({ projection, events, seconds }) => `${projection}: ${events} events in ${seconds.toFixed(1)} s`,
    );
    return { json: { rebuilt: reports }, text: lines.join('\n') };
  },
};

const verifyCommand: CliCommand = {
  name: 'projections verify',
  summary:
    'Compare every read model with a replay of the log, and each row with its stream; any difference is an error',
  run: async (world, _, { progress }) => {
    const onProgress = ({ share, what }: WorkProgress) => progress.show(share, what);
    const report = await ofOne(() => world.platform.verify(world.signal, onProgress));
    const { position, rows, differences, differenceCount, parked } = report;
    const lines = differences.map(
      ({ table, live, replayed }) =>
        `${table}\n  live     ${live ?? '(missing)'}\n  replayed ${replayed ?? '(missing)'}`,
    );
    const text = [
      ...lines,
      ...(differenceCount > differences.length ? [`and ${differenceCount - differences.length} more differences`] : []),
      ...parked.map(({ consumer, stream, revision }) => `${consumer} parked ${stream} at event ${revision}`),
      `${rows} rows compared at ${position ?? 'an empty log'}: ${differenceCount} differences${parked.length > 0 ? `, ${parked.length} parked streams skipped` : ''}`,
    ].join('\n');
    return {
      json: report,
      text,
      isBad: differenceCount > 0 || parked.length > 0,
    };
  },
};

const NAMES = PROJECTIONS.map(({ name }) => name);

/** Returns the read models of --only, or all. Throws UsageError for an unknown name. */
const namesOf = (only: string | true | undefined): readonly string[] => {
  if (typeof only !== 'string') return NAMES;
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new UsageError(`"${unknown}" is no read model: use ${NAMES.join(', ')}`);
  return names;
};

const momentOf = (text: string): Moment => {
  const time = instantOf(text);
  if (time !== undefined) return { time };
  if (isDate(text)) throw new UsageError('a date needs a time and an offset, such as 2026-11-01T00:00-03:00');
  return { position: text };
};
const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

const EITHER = 'give either a moment or --drop';

const asOf: CliCommand = {
  name: 'projections as-of',
  summary:
    'Build read models as they were at a time (2026-11-01T00:00-03:00) or position, in a schema beside the live ones; or remove such a schema',
  args: [{ name: 'moment', optional: true }],
  takes: EITHER,
  options: {
    into: { description: 'the schema; created by the command', required: true },
    only: { description: `only these read models, separated by commas (${NAMES.join(', ')}); all by default` },
    drop: { description: 'remove the schema, if this command made it', flag: true },
  },
  changes: 'always',
  run: async (world, { args: [moment], options }, { progress }) => {
    const schema = String(options['into']);
    if ((moment === undefined) !== (options['drop'] === true) || (options['drop'] && options['only']))
      throw new UsageError(`projections as-of: ${EITHER}`);
    if (moment === undefined) {
      await ofOne(() => world.platform.dropReadModelsAsOf(schema));
      return { json: { dropped: schema }, text: `dropped ${schema}` };
    }
    const wish = { moment: momentOf(moment), schema, names: namesOf(options['only']) };
    const onProgress = ({ share, what }: WorkProgress) => progress.show(share, what);
    const result = await ofOne(() => world.platform.readModelsAsOf(wish, world.signal, onProgress));
    const { position, readModels } = result;
    const lines = readModels.map(
      ({ readModel, events, parked }) =>
        `${readModel}: ${events} events${parked > 0 ? `, ${parked} streams parked` : ''}`,
    );
    const isBad = readModels.some(({ parked }) => parked > 0);
    return { json: { schema, ...result }, text: [...lines, `${schema} is as of ${position}`].join('\n'), isBad };
  },
};

export const projectionCommands: readonly CliCommand[] = [status, rebuildCommand, verifyCommand, asOf];
