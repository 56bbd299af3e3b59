// Read models: how far they are, building them anew, and comparing them with the events.
import { PROCESSES } from '../../application/capabilities.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import { RebuildRunning, rebuild } from '../../projections/engine/rebuild.ts';
import { type VerifyProgress, verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { shareOf } from '../eventStore/share.ts';
import { type CliCommand, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';

/** Names of the consumers of the log, which are those of their checkpoints: read models and processes. */
export const CONSUMERS: readonly string[] = [...PROJECTIONS.map(({ name }) => name), ...PROCESSES.map(consumerName)];

/** Piped, a table has no columns of its own: names are padded, so that positions stand below one another there too. */
const NAME_WIDTH = Math.max(...CONSUMERS.map(({ length }) => length));

const status: CliCommand = {
  name: 'projections status',
  summary: 'How far each read model and process has followed the log',
  args: [],
  options: {},
  run: async ({ storage }) => {
    const head = await storage.store.head();
    const checkpoints = await readCheckpoints(storage.reads, CONSUMERS);
    const consumers = CONSUMERS.map((name) => {
      const position = checkpoints.get(name)?.position ?? null;
      return { name, position, isCaughtUp: position === head };
    });
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

const rebuildCommand: CliCommand = {
  name: 'projections rebuild',
  summary: `Build a read model anew beside the live copy and swap (${PROJECTIONS.map(({ name }) => name).join(', ')}, or all)`,
  args: [{ name: 'name', choice: { what: 'read model', names: [...PROJECTIONS.map(({ name }) => name), 'all'] } }],
  options: {},
  changes: 'always',
  run: async ({ storage, signal }, { args: [name] }, { progress }) => {
    const chosen = PROJECTIONS.filter((projection) => name === 'all' || projection.name === name);
    const reports = [];
    for (const projection of chosen) {
      try {
        const head = await storage.store.head();
        const onTaken = (position: Position, events: number) =>
          progress.show(shareOf(position, head), `${projection.name}: ${events} events`);
        reports.push(await rebuild(projection, storage, storage.openSession, signal, onTaken));
      } catch (error) {
        if (error instanceof RebuildRunning) throw new UsageError(error.message);
        throw error;
      }
    }
    const lines = reports.map(
      ({ projection, events, seconds }) => `${projection}: ${events} events in ${seconds.toFixed(1)} s`,
    );
    return { json: { rebuilt: reports }, text: lines.join('\n') };
  },
};

const WORK: { readonly [W in VerifyProgress['work']]: (count: number) => string } = {
  replay: (count) => `${count} events replayed`,
  compare: (count) => `${count} rows compared`,
  fold: (count) => `${count} rows compared with their streams`,
};

const verifyCommand: CliCommand = {
  name: 'projections verify',
  summary:
    'Compare every read model with a replay of the log, and each row with the fold of its stream; 0 differences is the only good answer',
  args: [],
  options: {},
  run: async ({ storage }, _, { progress }) => {
    const head = await storage.store.head();
    const report = await verify(PROJECTIONS, storage, storage.openSession, (at) => {
      const share = at.position === null ? 0 : shareOf(at.position, head);
      progress.show((at.step + share) / at.steps, `${at.projection}: ${WORK[at.work](at.count)}`);
    });
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
