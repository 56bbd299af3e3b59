// A command as data: its name, arguments, options and action.
import type { Platform } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { AccessLeases } from '../../application/ports/accessLeases.ts';
import type { Storage } from '../boot/storage.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import type { Progress, Screen } from './output.ts';

/** The values that an argument or option accepts. The shell completes them; for a typo, the error suggests the nearest one. */
export interface Choice {
  /** What the values are, in an operator's words: `queue`. */
  readonly what: string;
  readonly names: readonly string[];
}

interface CliArgument {
  readonly name: string;
  readonly optional?: true;
  readonly choice?: Choice;
}

export interface CliOption {
  readonly description: string;
  readonly required?: true;
  /** The option takes no value. */
  readonly flag?: true;
  readonly choice?: Choice;
}

/** The syntax of a command, and its help. */
export interface CommandWords {
  /** For example `account create`. */
  readonly name: string;
  readonly summary: string;
  /** In order; only the last may be optional. */
  readonly args: readonly CliArgument[];
  /** A rule that arguments and options alone can't express. An error message quotes it. */
  readonly takes?: string;
  readonly options: { readonly [name: string]: CliOption };
}

/** The arguments and options of a call, checked against the command's syntax. */
export interface CliInput {
  readonly args: readonly string[];
  /** Without the common options. A flag is `true`. */
  readonly options: { readonly [name: string]: string | true | undefined };
  readonly isJson: boolean;
}

/** Output of a command while it runs. */
export interface CliOutput {
  /** Prints a line to standard output, for commands that run until they are stopped. */
  readonly print: (line: string) => void;
  readonly screen: Screen;
  readonly progress: Progress;
}

export interface CliResult {
  /** Printed with --json, as one JSON text; if undefined, nothing is printed. */
  readonly json: unknown;
  /** Printed without --json; if empty, nothing is printed. */
  readonly text: string | ((screen: Screen) => string);
  /** The command found a problem: exit code 1. */
  readonly isBad?: boolean;
}

interface LocalWorld {
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

/** A command that needs no database. */
export interface LocalCommand extends CommandWords {
  readonly isLocal: true;
  run(world: LocalWorld, input: CliInput, output: CliOutput): Promise<CliResult>;
}

export interface CliWorld extends LocalWorld {
  readonly config: Config;
  readonly storage: Storage;
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  /** Tells running processes to drop cached accounts and keys. */
  readonly leases: AccessLeases;
  /** The operations of the platform's operators. */
  readonly platform: Platform;
  /** The acting operator, as in event metadata and the security log: `operator:<user of the operating system>`. */
  readonly operator: string;
  /** The security log. */
  readonly log: Log;
}

/** A command that works on the database and the event log, beside the running program. */
export interface StorageCommand extends CommandWords {
  readonly isLocal?: never;
  /** The command changes something (`withOptions`: only if an option is given). The security log records the operator and arguments. */
  readonly changes?: 'always' | 'withOptions';
  /** Returns the result to print if the stores can't be opened, or null to print only the error. */
  whenUnopened?(config: Config, error: unknown): Promise<CliResult | null>;
  run(world: CliWorld, input: CliInput, output: CliOutput): Promise<CliResult>;
}

type Declared<Command extends CommandWords> = Omit<Command, 'args' | 'options'> &
  Partial<Pick<Command, 'args' | 'options'>>;
/** A command as it is declared: one without arguments or options doesn't mention them. */
export type CliCommand = Declared<LocalCommand> | Declared<StorageCommand>;

export type CompleteCommand = LocalCommand | StorageCommand;
export const complete = (declared: CliCommand): CompleteCommand => ({ args: [], options: {}, ...declared });

/** The command was used wrongly. The message is one line; the exit code is 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
