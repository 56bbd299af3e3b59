// Read models: shows their progress, rebuilds them, and compares them with the events.
import { AlreadyRunning, type WorkProgress } from '../../application/ports/readModelWork.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { type CliCommand, CONSUMERS, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';

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

/** Throws UsageError if another rebuild or verification is running. */
const ofOne = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AlreadyRunning) throw new UsageError(error.message);
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

export const projectionCommands: readonly CliCommand[] = [status, rebuildCommand, verifyCommand];
