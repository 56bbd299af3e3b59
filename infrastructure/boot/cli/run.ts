// Finds the command, reads its options, connects, runs it and prints what it found.
import { parseArgs } from 'node:util';
import { Accounts } from '../../../application/accounts.ts';
import { CommandHandler } from '../../../application/commandHandler.ts';
import { LogNotInUse } from '../../../application/ports/eventStore.ts';
import { attachToEmbeddedPostgres } from '../../postgres/embedded/attach.ts';
import { type Config, loadConfig } from '../config.ts';
import { isOperatorsError } from '../database.ts';
import { NewerSchema } from '../migrate.ts';
import { openStorage } from '../storage.ts';
import { type CliCommand, type CliResult, type CliWorld, UsageError } from './command.ts';

type Out = { write(text: string): unknown };

const signature = ({ name, args, options }: CliCommand): string => {
  const shownArgs = args.map((arg) => (arg.startsWith('?') ? `[${arg.slice(1)}]` : `<${arg}>`));
  const shownOptions = Object.entries(options).map(([option, { required, flag }]) => {
    const shown = flag ? `--${option}` : `--${option} …`;
    return required ? shown : `[${shown}]`;
  });
  return [name, ...shownArgs, ...shownOptions].join(' ');
};

const usage = (commands: readonly CliCommand[]): string =>
  `Usage: npm run cli -- <command> [--json] [--help]\n\n${commands.map((command) => `  ${signature(command)}\n      ${command.summary}\n`).join('')}
It works beside the running program: on DATABASE_URL, or on the embedded database in DATA_DIR (default .data).\n`;

const help = (command: CliCommand): string => {
  const options = Object.entries(command.options).map(([name, option]) => `  --${name}  ${option.description}\n`);
  return `Usage: npm run cli -- ${signature(command)}\n\n${command.summary}\n${options.length > 0 ? `\n${options.join('')}` : ''}  --json  machine-readable output\n`;
};

const find = (
  commands: readonly CliCommand[],
  words: readonly string[],
): { command: CliCommand; rest: string[] } | null => {
  for (const command of commands) {
    const name = command.name.split(' ');
    if (name.every((word, i) => words[i] === word)) return { command, rest: words.slice(name.length) };
  }
  return null;
};

const readInput = (command: CliCommand, rest: string[]) => {
  const spec = { json: { type: 'boolean' }, help: { type: 'boolean' } } as Record<
    string,
    { type: 'boolean' | 'string' }
  >;
  for (const [name, { flag }] of Object.entries(command.options)) spec[name] = { type: flag ? 'boolean' : 'string' };
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: rest, options: spec, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { values, positionals } = parsed as {
    values: Record<string, string | boolean | undefined>;
    positionals: string[];
  };
  if (values['help']) return { isHelp: true as const };
  for (const [name, { required }] of Object.entries(command.options))
    if (required && !values[name]) throw new UsageError(`--${name} is required`);
  const least = command.args.filter((arg) => !arg.startsWith('?')).length;
  if (positionals.length < least || positionals.length > command.args.length)
    throw new UsageError(`expected: ${signature(command)}`);
  return { isHelp: false as const, args: positionals, options: values, isJson: values['json'] === true };
};

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const connect = async (config: Config): Promise<{ world: CliWorld; close: () => Promise<void> }> => {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const name of SIGNALS) process.once(name, onSignal);
  const connectionString = config.databaseUrl ?? (await attachToEmbeddedPostgres(config.dataDir));
  const storage = await openStorage(connectionString, config.eventStoreUrl, () => undefined);
  const commands = new CommandHandler(storage.store);
  const accounts = new Accounts(commands, { now: Date.now });
  const close = async () => {
    for (const name of SIGNALS) process.off(name, onSignal);
    await storage.close();
  };
  return { world: { config, storage, commands, accounts, signal: stop.signal }, close };
};

const execute = async (
  command: CliCommand,
  {
    args,
    options,
  }: { readonly args: readonly string[]; readonly options: Parameters<CliCommand['run']>[1]['options'] },
  config: Config,
  print: (line: string) => void,
): Promise<CliResult> => {
  let opened: Awaited<ReturnType<typeof connect>>;
  try {
    opened = await connect(config);
  } catch (error) {
    const result = await command.whenUnopened?.(config, error);
    if (!result) throw error;
    return result;
  }
  try {
    return await command.run(opened.world, { args, options, print });
  } finally {
    await opened.close();
  }
};

/** The tools seal nothing: a missing SECRETS_KEY must not keep an operator from looking. */
export const toolEnv = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  SECRETS_KEY: env['SECRETS_KEY'] || Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64'),
});

export const runCli = async (
  commands: readonly CliCommand[],
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  out: Out,
  err: Out,
): Promise<number> => {
  if (words.length === 0 || words[0] === '--help' || words[0] === 'help') {
    out.write(usage(commands));
    return words.length === 0 ? 2 : 0;
  }
  try {
    const found = find(commands, words);
    if (!found)
      throw new UsageError(
        `there is no command "${words.filter((word) => !word.startsWith('-')).join(' ')}"; npm run cli -- --help lists them`,
      );
    const input = readInput(found.command, found.rest);
    if (input.isHelp) {
      out.write(help(found.command));
      return 0;
    }
    const print = (line: string): void => void out.write(`${line}\n`);
    const result = await execute(found.command, input, loadConfig(toolEnv(env)), print);
    const text = input.isJson ? JSON.stringify(result.json) : result.text;
    if (text !== '') out.write(`${text}\n`);
    return result.isBad ? 1 : 0;
  } catch (error) {
    const isExplained =
      isOperatorsError(error) || [UsageError, NewerSchema, LogNotInUse].some((kind) => error instanceof kind);
    err.write(`quita: ${isExplained ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
    return isExplained ? 2 : 1;
  }
};
