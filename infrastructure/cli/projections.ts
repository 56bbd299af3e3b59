// Read models: how far they are, building them anew, and comparing them with the events.
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import { RebuildRunning, rebuild } from '../../projections/engine/rebuild.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { PROCESSES } from '../boot/processManagers.ts';
import { type CliCommand, UsageError } from './command.ts';
import { meant } from './meant.ts';

const status: CliCommand = {
  name: 'projections status',
  summary: 'How far each read model and process has followed the log',
  args: [],
  options: {},
  run: async ({ storage }) => {
    const head = await storage.store.head();
    const names = [...PROJECTIONS.map(({ name }) => name), ...PROCESSES.map(({ name }) => `process/${name}`)];
    const checkpoints = await readCheckpoints(storage.reads, names);
    const followers = names.map((name) => ({
      name,
      position: checkpoints.get(name)?.position ?? null,
      isLevel: (checkpoints.get(name)?.position ?? null) === head,
    }));
    const lines = followers.map(
      ({ name, position, isLevel }) =>
        `${name.padEnd(28)} ${position ?? '-'.padEnd(19)}  ${isLevel ? 'level' : 'behind'}`,
    );
    return { json: { head, followers }, text: [`${'head of the log'.padEnd(28)} ${head ?? '-'}`, ...lines].join('\n') };
  },
};

const rebuildCommand: CliCommand = {
  name: 'projections rebuild',
  summary: `Build a read model anew beside the live copy and swap (${PROJECTIONS.map(({ name }) => name).join(', ')}, or all)`,
  args: ['name'],
  options: {},
  changes: 'always',
  run: async ({ storage, signal }, { args: [name], print }) => {
    const chosen = PROJECTIONS.filter((projection) => name === 'all' || projection.name === name);
    if (chosen.length === 0) {
      const names = [...PROJECTIONS.map((projection) => projection.name), 'all'];
      const near = meant(name as string, names);
      const hint = near === null ? `there are: ${names.join(', ')}` : `did you mean "projections rebuild ${near}"?`;
      throw new UsageError(`there is no read model "${name}"; ${hint}`);
    }
    const reports = [];
    for (const projection of chosen) {
      try {
        reports.push(await rebuild(projection, storage.store, storage.openSession, signal));
      } catch (error) {
        if (error instanceof RebuildRunning) throw new UsageError(error.message);
        throw error;
      }
    }
    for (const { projection, events, seconds } of reports)
      print(`${projection}: ${events} events in ${seconds.toFixed(1)} s`);
    return { json: { rebuilt: reports }, text: '' };
  },
};

const verifyCommand: CliCommand = {
  name: 'projections verify',
  summary:
    'Compare every read model with a replay of the log, and each row with the fold of its stream; 0 differences is the only good answer',
  args: [],
  options: {},
  run: async ({ storage }) => {
    const report = await verify(PROJECTIONS, storage.store, storage.openSession);
    const { position, rows, differences, differenceCount, parked } = report;
    const lines = differences.map(
      ({ table, live, replayed }) =>
        `${table}\n  live     ${live ?? '(missing)'}\n  replayed ${replayed ?? '(missing)'}`,
    );
    const text = [
      ...lines,
      ...(differenceCount > differences.length ? [`and ${differenceCount - differences.length} more differences`] : []),
      ...parked.map(({ consumer, stream, revision }) => `${consumer} has parked ${stream} from event ${revision} on`),
      `${rows} rows compared at ${position ?? 'an empty log'}: ${differenceCount} differences${parked.length > 0 ? `, ${parked.length} parked streams left out` : ''}`,
    ].join('\n');
    return {
      json: report,
      text,
      isBad: differenceCount > 0 || parked.length > 0,
    };
  },
};

export const projectionCommands: readonly CliCommand[] = [status, rebuildCommand, verifyCommand];
