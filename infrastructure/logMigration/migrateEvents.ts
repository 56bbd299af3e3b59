// `npm run migrate-events`: opens both logs and the database with the checkpoints, moves the log, and prints the next step.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EventStoreUnavailable, LogNotInUse } from '../../application/ports/eventStore.ts';
import type { LeaderSession } from '../../application/ports/sql.ts';
import { type CliInput, type CommandWords, UsageError } from '../cli/command.ts';
import { outcomeOf } from '../cli/explain.ts';
import { type Out, type Progress, progressOn, screenOf } from '../cli/output.ts';
import { readOnly } from '../cli/program.ts';
import { type Config, judgeEventStoreUrl, loadToolConfig } from '../config/config.ts';
import { LogsDiffer } from '../eventStore/compareLogs.ts';
import { openMigratableEventStoreDbLog } from '../eventStore/eventStoreDb/eventStoreDb.ts';
import type { MigratableLog } from '../eventStore/logState.ts';
import { startOn } from '../eventStore/logState.ts';
import { openMigratablePostgresLog } from '../eventStore/postgres/migratableLog.ts';
import { openLog } from '../log/log.ts';
import { type Database, openDatabase } from '../postgres/database.ts';
import { leaderSessions } from '../postgres/leaderSession.ts';
import { migrate } from '../postgres/migrate.ts';
import { connectionConfig } from '../postgres/session.ts';
import { assertAlone, leadInstead, named, OWN_NAME } from './alone.ts';
import { type MoveProgress, moveLog, type Step, unseal } from './moveLog.ts';

const ONE_IS_NEEDED = 'give one of --to, --from and --unseal [--from]; npm run migrate-events -- --help explains them';

export const MIGRATE_EVENTS: CommandWords = {
  name: 'npm run migrate-events --',
  summary:
    'Moves the event log of this deployment between PostgreSQL (DATABASE_URL, or the embedded one in DATA_DIR) and EventStoreDB ' +
    '(esdb://… or esdb+discover://…, or the same with kurrentdb). Ids and times of events are kept. Stop the program first. ' +
    'If the command is interrupted, run it again to continue. Once the move is done, repeating the command changes nothing.',
  args: [],
  options: {
    to: { description: 'move from PostgreSQL to the EventStoreDB at this address, which must hold no Quita events' },
    from: {
      description:
        'move from the EventStoreDB at this address to PostgreSQL, which must be empty or hold the log that was moved there',
    },
    unseal: {
      description:
        'cancel an unfinished move: the original (PostgreSQL, or the EventStoreDB in --from) becomes the log in use again',
      flag: true,
    },
  },
};

type Task =
  | { readonly kind: 'to' | 'from'; readonly url: string }
  /** `url` null: the log in PostgreSQL. */
  | { readonly kind: 'unseal'; readonly url: string | null };

/** Returns the task that the options describe. Throws UsageError if they contradict each other. */
const taskOf = ({ options }: CliInput): Task => {
  const { to, from, unseal } = options;
  if (unseal && to === undefined) return { kind: 'unseal', url: typeof from === 'string' ? from : null };
  if (typeof to === 'string' && from === undefined && !unseal) return { kind: 'to', url: to };
  if (typeof from === 'string' && to === undefined) return { kind: 'from', url: from };
  throw new UsageError(ONE_IS_NEEDED);
};

const LINE_EVERY_MS = 1_000;

const STEPS: { readonly [S in Step]: string | null } = {
  marked: null,
  sealed: 'The log is sealed and rejects further events.',
  verified: 'The copy is identical to the log, event by event.',
  translated: 'The checkpoints of read models and processes now refer to the copy.',
  moved: null,
  inUse: null,
};

type OnProgress = (progress: MoveProgress) => void;

/** Returns progress as text, with the events copied per second. */
const figures = (nowMs: () => number): ((progress: Exclude<MoveProgress, { kind: 'step' }>) => string) => {
  let copyingSinceMs: number | null = null;
  return ({ kind, events }) => {
    if (kind === 'compared') return `${events} events compared`;
    copyingSinceMs ??= nowMs();
    const seconds = Math.max((nowMs() - copyingSinceMs) / 1_000, 0.001);
    return `${events} events copied, ${Math.round(events / seconds)}/s`;
  };
};

/** Prints a line for each important step, and progress at most once a second. `nowMs` is a monotonic clock. */
export const progressLines = (print: (line: string) => void, nowMs: () => number): OnProgress => {
  const figuresOf = figures(nowMs);
  let printedAtMs = nowMs();
  return (progress) => {
    if (progress.kind === 'step') {
      const line = STEPS[progress.step];
      if (line !== null) print(line);
      return;
    }
    const line = figuresOf(progress);
    if (nowMs() - printedAtMs < LINE_EVERY_MS) return;
    printedAtMs = nowMs();
    print(line);
  };
};

/** Shows a bar, and above it a line for each important step. */
const progressBar = (print: (line: string) => void, bar: Progress, nowMs: () => number): OnProgress => {
  const figuresOf = figures(nowMs);
  return (progress) => {
    if (progress.kind !== 'step') return bar.show(progress.share, figuresOf(progress));
    bar.clear();
    const line = STEPS[progress.step];
    if (line !== null) print(line);
  };
};

interface Finding {
  readonly json: unknown;
  readonly text: string;
}

/** Opens the database. Throws UsageError if there is no embedded one: with a wrong DATA_DIR a new, empty one would be created. */
const openExisting = async (config: Config, onLost: (error: Error) => void): Promise<Database> => {
  if (config.databaseUrl === null)
    await stat(join(config.dataDir, 'postgres.json')).catch(() => {
      throw new UsageError(`no database in ${config.dataDir}: set DATA_DIR or DATABASE_URL`);
    });
  return await openDatabase(config, openLog('silent'), onLost);
};

/** Connections that are open while a log moves. */
interface Opened {
  /** Holds the leadership of projector and reactor, on the database of the checkpoints. */
  readonly session: LeaderSession;
  readonly assertAlone: () => Promise<void>;
  postgres(): Promise<MigratableLog>;
  eventStoreDb(url: string): Promise<MigratableLog>;
}

const quiet = (): void => undefined;

/** Migrates the database and makes sure that no other process works on it. Everything opened is closed with `resources`. */
const openAlone = async (
  config: Config,
  resources: AsyncDisposableStack,
  onLost: (error: Error) => void,
): Promise<Opened> => {
  const opened = <T extends { close(): Promise<void> }>(thing: T): T => {
    resources.defer(() => thing.close());
    return thing;
  };
  const { connectionString: programUrl } = opened(await openExisting(config, onLost));
  const connectionString = named(programUrl);
  const session = opened(await leaderSessions(connectionConfig(connectionString, OWN_NAME))('migrate-events'));
  await assertAlone(session, programUrl); // Before the schema changes under a running program.
  await migrate(programUrl);
  await leadInstead(session);
  await assertAlone(session, programUrl);
  return {
    session,
    assertAlone: () => assertAlone(session, programUrl),
    postgres: () => openMigratablePostgresLog(connectionString, quiet).then(opened),
    eventStoreDb: (url) => openMigratableEventStoreDbLog(url, quiet).then(opened),
  };
};

const moved = async (
  direction: 'to' | 'from',
  url: string,
  { session, assertAlone, postgres, eventStoreDb }: Opened,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<Finding> => {
  const [here, there] = [await postgres(), await eventStoreDb(url)];
  const [source, target] = direction === 'to' ? [here, there] : [there, here];
  const report = await moveLog({ source, target, session, assertAlone, signal, onProgress });
  const next = `start the program ${startOn(target.name.address)}`;
  const done = report.wasDone
    ? 'The log was already moved; nothing was changed'
    : `Done: ${report.copied} events copied, ${report.compared} compared, ${report.checkpoints} checkpoints translated`;
  return { json: { ...report, next }, text: `${done}. Now ${next}` };
};

const unsealed = async (url: string | null, { session, postgres, eventStoreDb }: Opened): Promise<Finding> => {
  const source = url === null ? await postgres() : await eventStoreDb(url);
  const wasSealed = await unseal(source, session);
  const next = `start the program ${startOn(source.name.address)}`;
  const done = wasSealed
    ? 'The seal was removed and the move cancelled'
    : 'The log was not sealed; nothing was changed';
  return { json: { wasSealed, next }, text: `${done}. Now ${next}` };
};

const perform = async (config: Config, task: Task, onProgress: OnProgress, signal: AbortSignal): Promise<Finding> => {
  const resources = new AsyncDisposableStack();
  let lose: (error: Error) => void = quiet;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(quiet);
  try {
    const opened = await openAlone(config, resources, lose);
    const work =
      task.kind === 'unseal' ? unsealed(task.url, opened) : moved(task.kind, task.url, opened, onProgress, signal);
    return await Promise.race([work, lost, opened.session.lost]);
  } finally {
    await resources.disposeAsync();
  }
};

const AGAIN = 'Run the same command again to continue, or cancel the move with --unseal';

const explain = (
  error: unknown,
  env: NodeJS.ProcessEnv,
  isStopped: boolean,
): { readonly code: number; readonly says: string } => {
  if (error instanceof LogsDiffer)
    return { code: 1, says: `${error.message}. Cancel this move with --unseal, and move to another, empty store` };
  const { says, code } = outcomeOf(error, env);
  if (isStopped && code === 1) return { code, says: `stopped. ${AGAIN}` };
  if (code === 1) return { code, says: `${says}\n${AGAIN}` };
  const isAway = error instanceof EventStoreUnavailable && !(error instanceof LogNotInUse);
  return { code, says: isAway ? `${says}. ${AGAIN}` : says };
};

/**
 * Returns the exit code: 0 if the log was moved, 1 on an unexpected error, 2 if the command or the environment is wrong. `nowMs` is a
 * monotonic clock for progress.
 */
export const runMigrateEvents = async (
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  out: Out,
  err: Out,
  signal: AbortSignal,
  nowMs: () => number = () => performance.now(),
): Promise<number> => {
  try {
    const asked = readOnly(MIGRATE_EVENTS, words, screenOf(out, env));
    if (asked.kind === 'text') {
      out.write(asked.text);
      return 0;
    }
    const { isJson } = asked.input;
    const task = taskOf(asked.input);
    const config = loadToolConfig(env);
    const problem = task.url === null ? null : judgeEventStoreUrl(task.url, config);
    if (problem !== null) throw new UsageError(`--${task.kind === 'to' ? 'to' : 'from'} ${problem}`);
    const print = (line: string): void => void (isJson ? err : out).write(`${line}\n`);
    const bar = progressOn(err, nowMs);
    const onProgress = err.isTTY && !isJson ? progressBar(print, bar, nowMs) : progressLines(print, nowMs);
    const { json, text } = await perform(config, task, onProgress, signal).finally(() => bar.clear());
    out.write(`${isJson ? JSON.stringify(json) : text}\n`);
    return 0;
  } catch (error) {
    const { code, says } = explain(error, env, signal.aborted);
    err.write(`quita: ${says}\n`);
    return code;
  }
};
