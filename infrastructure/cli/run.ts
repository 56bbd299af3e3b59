// Finds the command, reads its options, connects, runs it and prints what it found.

import { Accounts } from '../../application/accounts/accounts.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { openClock } from '../boot/clock.ts';
import { type Config, loadToolConfig } from '../boot/config.ts';
import { outcomeOf } from '../boot/explain.ts';
import { openStorage } from '../boot/storage.ts';
import { attachToEmbeddedPostgres } from '../embeddedPostgres/attach.ts';
import { type Log, openLog } from '../log/log.ts';
import { assertSchema } from '../postgres/migrate.ts';
import { reachDatabase } from '../postgres/reachDatabase.ts';
import { systemRandomness } from '../system/randomness.ts';
import { systemStopwatch } from '../system/stopwatch.ts';
import { type CliCommand, type CliResult, type CliWorld, UsageError } from './command.ts';
import { meantCommands } from './meant.ts';
import { operatorOf } from './operator.ts';
import { toldOf } from './operatorLog.ts';
import { type OptionsRead, readOptions } from './options.ts';
import { help, signature, usage, versionText } from './usage.ts';

type Out = { write(text: string): unknown; readonly isTTY?: boolean };

const find = (
  commands: readonly CliCommand[],
  words: readonly string[],
): { command: CliCommand; rest: readonly string[] } | null => {
  for (const command of commands) {
    const name = command.name.split(' ');
    if (name.every((word, i) => words[i] === word)) return { command, rest: words.slice(name.length) };
  }
  return null;
};

const nameBehind = (words: readonly string[]): readonly string[] => {
  const end = words.findIndex((word) => word.startsWith('-'));
  return end === -1 ? words : words.slice(0, end);
};

/** Of what was typed; enough to recognise it. */
const SHOWN_LENGTH_MAX = 100;

const noSuchCommand = (commands: readonly CliCommand[], words: readonly string[]): UsageError => {
  const typed = nameBehind(words);
  if (typed.length === 0) return new UsageError('a command is needed; npm run cli -- --help lists them');
  const near = meantCommands(
    typed,
    commands.map(({ name }) => name),
  ).map((name) => `"${name}"`);
  const hint = near.length === 0 ? 'npm run cli -- --help lists them' : `did you mean ${near.join(' or ')}?`;
  return new UsageError(`there is no command "${typed.join(' ').slice(0, SHOWN_LENGTH_MAX)}"; ${hint}`);
};

/** Options that every command has may stand before it, too. */
const withCommandFirst = (words: readonly string[]): readonly string[] => {
  const start = words.findIndex((word) => !word.startsWith('-'));
  return start === -1 ? words : [...words.slice(start), ...words.slice(0, start)];
};

interface Typed {
  readonly args: readonly string[];
  readonly options: OptionsRead['values'];
  readonly isJson: boolean;
}

/** A text: nothing is to be done but to print it. Throws UsageError. */
const readCommand = (command: CliCommand, rest: readonly string[]): Typed | string => {
  const { values, positionals } = readOptions(command.name, rest, command.options);
  if (values['help']) return help(command);
  if (values['version']) return versionText();
  for (const [name, { required }] of Object.entries(command.options))
    if (required && !values[name]) throw new UsageError(`${command.name}: --${name} is required`);
  const least = command.args.filter((arg) => !arg.startsWith('?')).length;
  if (positionals.length < least)
    throw new UsageError(
      `${command.name}: <${command.args[positionals.length]}> is missing; expected: ${signature(command)}`,
    );
  if (positionals.length > command.args.length)
    throw new UsageError(
      `${command.name}: "${positionals[command.args.length]}" is one argument too many; expected: ${signature(command)}`,
    );
  return { args: positionals, options: values, isJson: values['json'] === true };
};

const readWords = (
  commands: readonly CliCommand[],
  typed: readonly string[],
): { readonly command: CliCommand; readonly input: Typed } | string => {
  const words = withCommandFirst(typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed);
  const found = find(commands, words);
  if (found !== null) {
    const input = readCommand(found.command, found.rest);
    return typeof input === 'string' ? input : { command: found.command, input };
  }
  const name = nameBehind(words);
  const group = commands.filter((command) => command.name.startsWith(`${name.join(' ')} `));
  if (name.length > 0 && group.length === 0) throw noSuchCommand(commands, words);
  const { values } = readOptions(name.join(' ') || 'npm run cli --', words.slice(name.length), {});
  if (values['version']) return versionText();
  if (values['help']) return usage(name.length === 0 ? commands : group);
  throw noSuchCommand(commands, words);
};

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const connect = async (config: Config, log: Log): Promise<{ world: CliWorld; close: () => Promise<void> }> => {
  if (config.databaseUrl !== null) await reachDatabase(config.databaseUrl);
  const connectionString = config.databaseUrl ?? (await attachToEmbeddedPostgres(config.dataDir));
  await assertSchema(connectionString);
  const storage = await openStorage(connectionString, config.eventStoreUrl, () => undefined);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const name of SIGNALS) process.once(name, onSignal);
  const commands = new CommandHandler({
    store: storage.store,
    randomness: systemRandomness,
    stopwatch: systemStopwatch,
  });
  const clock = await openClock(storage.operations, openLog('silent'));
  const accounts = new Accounts(commands, clock);
  const close = async () => {
    for (const name of SIGNALS) process.off(name, onSignal);
    await clock.close();
    await storage.close();
  };
  return { world: { config, storage, commands, accounts, operator: operatorOf(), log, signal: stop.signal }, close };
};

/** An operator at a terminal sees what was done anyway; asked for by name, the log is written there, too. */
const openSecurityLog = ({ logLevel }: Config, env: NodeJS.ProcessEnv, err: Out): Log =>
  openLog(err.isTTY && !env['LOG_LEVEL'] ? 'silent' : logLevel, { write: (line) => void err.write(line) });

interface Executed {
  readonly result: CliResult;
  readonly code: 0 | 1 | 2;
}

const execute = async (
  command: CliCommand,
  { args, options }: Typed,
  config: Config,
  log: Log,
  print: (line: string) => void,
): Promise<Executed> => {
  let opened: Awaited<ReturnType<typeof connect>>;
  try {
    opened = await connect(config, log);
  } catch (error) {
    const result = await command.whenUnopened?.(config, error);
    if (!result) throw error;
    return { result, code: 2 };
  }
  try {
    const run = () => command.run(opened.world, { args, options, print });
    const result = await toldOf(command, { args, options, operator: opened.world.operator }, log, run);
    return { result, code: result.isBad ? 1 : 0 };
  } finally {
    await opened.close();
  }
};

export const runCli = async (
  commands: readonly CliCommand[],
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  out: Out,
  err: Out,
): Promise<number> => {
  if (words.length === 0) {
    out.write(usage(commands));
    return 2;
  }
  try {
    const asked = readWords(commands, words);
    if (typeof asked === 'string') {
      out.write(asked);
      return 0;
    }
    const { command, input } = asked;
    const print = (line: string): void => void out.write(`${line}\n`);
    const config = loadToolConfig(env);
    const { result, code } = await execute(command, input, config, openSecurityLog(config, env, err), print);
    const text = input.isJson ? JSON.stringify(result.json) : result.text;
    if (text !== '') out.write(`${text}\n`);
    return code;
  } catch (error) {
    const { says, code } = outcomeOf(error);
    err.write(`quita: ${says}\n`);
    return code;
  }
};
