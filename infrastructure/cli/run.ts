// Parses the command line, connects to the stores if the command needs them, runs it and prints the result.
import {
  CAPABILITIES,
  DECLARED_SETTINGS,
  type OperatorsNeeds,
  type Platform,
  PROCESSES,
} from '../../application/capabilities.ts';
import { Accounts } from '../../application/core/accounts.ts';
import { consumersOf, operatorsOf } from '../../application/core/capabilityList.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
import { operatorsReads, PROJECTIONS } from '../../projections/registry.ts';
import { accessLeases } from '../accounts/adapters.ts';
import { operatorsAdapters } from '../adapters.ts';
import { openStorage } from '../boot/storage.ts';
import { type Config, loadToolConfig } from '../config/config.ts';
import { attachToEmbeddedPostgres } from '../embeddedPostgres/embeddedPostgres.ts';
import { type Log, openLog } from '../log/log.ts';
import { reachDatabase } from '../postgres/database.ts';
import { openClock } from '../postgres/databaseClock.ts';
import { assertSchema } from '../postgres/migrate.ts';
import { knownKeyring } from '../secrets/secretsKey.ts';
import { systemRandomness, systemStopwatch } from '../system/system.ts';
import type { CliInput, CliOutput, CliResult, CliWorld, CompleteCommand, StorageCommand } from './command.ts';
import { outcomeOf } from './explain.ts';
import { operatorOf, recorded } from './operator.ts';
import { NO_PROGRESS, type Out, progressOn, type Screen, screenOf } from './output.ts';
import { readWords, usage } from './program.ts';
import { untilUpToDate } from './upToDate.ts';

type Opened = Omit<CliWorld, 'signal'>;

const platformOf = (world: Omit<Opened, 'platform'>): Platform => {
  const { storage, commands, accounts, leases } = world;
  const consumers = consumersOf(PROJECTIONS, PROCESSES);
  return operatorsOf<OperatorsNeeds, typeof CAPABILITIES>(CAPABILITIES, {
    ...{ commands, accounts, leases },
    ...operatorsAdapters({ ...world, projections: PROJECTIONS, consumers }),
    ...operatorsReads(storage.reads),
  });
};

const connect = async (
  env: NodeJS.ProcessEnv,
  config: Config,
  log: Log,
  declared: DeclaredSettings,
): Promise<{ opened: Opened; close: () => Promise<void> }> => {
  if (config.databaseUrl !== null) await reachDatabase(config.databaseUrl);
  const connectionString = config.databaseUrl ?? (await attachToEmbeddedPostgres(config.dataDir));
  await assertSchema(connectionString);
  const storage = await openStorage(
    connectionString,
    config.eventStoreUrl,
    await knownKeyring(config),
    () => undefined,
  );
  const commands = new CommandHandler({
    store: storage.store,
    codec: storage.codec,
    randomness: systemRandomness,
    stopwatch: systemStopwatch,
  });
  const clock = await openClock(storage.operations, openLog('silent'));
  const accounts = new Accounts(commands, clock, declared);
  const close = async () => {
    await clock.close();
    await storage.close();
  };
  const world = {
    env,
    config,
    storage,
    commands,
    accounts,
    leases: accessLeases(storage),
    operator: operatorOf(),
    log,
  };
  return { opened: { ...world, platform: platformOf(world) }, close };
};

/** On a terminal the operator sees the result anyway, so the log is written there only if LOG_LEVEL is set. */
const openSecurityLog = ({ logLevel }: Config, env: NodeJS.ProcessEnv, err: Out): Log =>
  openLog(err.isTTY && !env['LOG_LEVEL'] ? 'silent' : logLevel, { write: (line) => void err.write(line) });

/** A signal stopped the command before its end. */
class Stopped extends Error {
  override name = 'Stopped';
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborts the work on the first signal. A second signal ends the process at once. */
const withSignal = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const name of SIGNALS) process.once(name, onSignal);
  try {
    return await work(stop.signal);
  } catch (error) {
    throw stop.signal.aborted ? new Stopped('stopped', { cause: error }) : error;
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
};

interface Executed {
  readonly result: CliResult;
  readonly code: 0 | 1 | 2;
}

const executeOnStorage = async (
  command: StorageCommand,
  env: NodeJS.ProcessEnv,
  input: CliInput,
  output: CliOutput,
  err: Out,
  declared: DeclaredSettings,
): Promise<Executed> => {
  const config = loadToolConfig(env);
  let connected: Awaited<ReturnType<typeof connect>>;
  try {
    connected = await connect(env, config, openSecurityLog(config, env, err), declared);
  } catch (error) {
    const result = await command.whenUnopened?.(config, error);
    if (!result) throw error;
    return { result, code: 2 };
  }
  const { opened, close } = connected;
  try {
    const run = () =>
      withSignal(async (signal) => {
        await untilUpToDate(opened.storage, command, (line) => void err.write(`quita: ${line}\n`));
        return command.run({ ...opened, signal }, input, output);
      });
    const result = await recorded(command, input, opened, run);
    return { result, code: result.isBad ? 1 : 0 };
  } finally {
    await close();
  }
};

const execute = async (
  command: CompleteCommand,
  env: NodeJS.ProcessEnv,
  input: CliInput,
  output: CliOutput,
  err: Out,
  declared: DeclaredSettings,
): Promise<Executed> => {
  if (!command.isLocal) return executeOnStorage(command, env, input, output, err, declared);
  const result = await withSignal((signal) => command.run({ env, signal }, input, output));
  return { result, code: result.isBad ? 1 : 0 };
};

const textOf = ({ json, text }: CliResult, isJson: boolean, screen: Screen): string => {
  if (isJson) return json === undefined ? '' : JSON.stringify(json);
  return typeof text === 'string' ? text : text(screen);
};

/**
 * Returns the exit code: 0, 1 if the command found a problem, 2 if the command or the environment is wrong. `declared`: the settings of
 * accounts, to which an extension may have added its own.
 */
export const runCli = async (
  commands: readonly CompleteCommand[],
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  out: Out,
  err: Out,
  declared: DeclaredSettings = DECLARED_SETTINGS,
): Promise<number> => {
  const screen = screenOf(out, env);
  if (words.length === 0) {
    out.write(usage(commands, screen));
    return 2;
  }
  try {
    const asked = readWords(commands, words, screen);
    if (asked.kind === 'text') {
      out.write(asked.text);
      return 0;
    }
    const { command, input } = asked;
    const progress = input.isJson ? NO_PROGRESS : progressOn(err, () => performance.now());
    const output = {
      print: (line: string): void => void out.write(`${line}\n`),
      warn: (line: string): void => void err.write(`quita: ${line}\n`),
      ...{ screen, progress },
    };
    const { result, code } = await execute(command, env, input, output, err, declared).finally(() => progress.clear());
    const text = textOf(result, input.isJson, screen);
    if (text !== '') out.write(`${text}\n`);
    return code;
  } catch (error) {
    const { says, code } = error instanceof Stopped ? { says: 'stopped', code: 1 } : outcomeOf(error, env);
    err.write(`quita: ${says}\n`);
    return code;
  }
};
