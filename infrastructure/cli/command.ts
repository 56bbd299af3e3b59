// A command as data: its words, its options, and what it does.
import type { Platform } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { AccessLeases } from '../../application/ports/accessLeases.ts';
import type { Storage } from '../boot/storage.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import type { Progress, Screen } from './output.ts';

/** The only values that an argument or option takes. They are completed by the shell, and a mistyped one is answered with the nearest. */
export interface Choice {
  /** What they are, as an operator calls them: `queue`. */
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
  /** It takes no value. */
  readonly flag?: true;
  readonly choice?: Choice;
}

/** What is typed, and what `--help` says of it. */
export interface CommandWords {
  /** `account create`. */
  readonly name: string;
  readonly summary: string;
  /** In their order; only the last may be optional. */
  readonly args: readonly CliArgument[];
  /** What it takes, where its arguments and options do not say so by themselves. */
  readonly takes?: string;
  readonly options: { readonly [name: string]: CliOption };
}

/** What was typed behind the name of a command, checked against its words. */
export interface CliInput {
  readonly args: readonly string[];
  /** Own options only; a flag is `true`. */
  readonly options: { readonly [name: string]: string | true | undefined };
  readonly isJson: boolean;
}

/** Where a command shows what it does before it has ended. */
export interface CliOutput {
  /** Prints a line to standard output: for a command that has no end of its own. */
  readonly print: (line: string) => void;
  readonly screen: Screen;
  readonly progress: Progress;
}

export interface CliResult {
  /** Printed with --json, as one JSON text; undefined prints nothing. */
  readonly json: unknown;
  /** Printed otherwise; an empty text prints nothing. */
  readonly text: string | ((screen: Screen) => string);
  /** Something is wrong with the data: exit code 1. */
  readonly isBad?: boolean;
}

interface LocalWorld {
  readonly env: NodeJS.ProcessEnv;
  /** It ends with SIGINT and SIGTERM. */
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
  /** Announces what processes must not remember any more. */
  readonly leases: AccessLeases;
  /** What operators of the platform call. */
  readonly platform: Platform;
  /** Who acts, as it stands in metadata and in the security log: `operator:<user of the operating system>`. */
  readonly operator: string;
  /** The security log. */
  readonly log: Log;
}

/** A command that works on the database and the event log, beside the running program. */
export interface StorageCommand extends CommandWords {
  readonly isLocal?: never;
  /** It changes something (`withOptions`: only when one is given): the security log tells who called it, and with which arguments. */
  readonly changes?: 'always' | 'withOptions';
  /** Returns what it has to say when the stores can't be opened; null when that is nothing but the error itself. */
  whenUnopened?(config: Config, error: unknown): Promise<CliResult | null>;
  run(world: CliWorld, input: CliInput, output: CliOutput): Promise<CliResult>;
}

export type CliCommand = LocalCommand | StorageCommand;

/** The operator's fault, in one line. */
export class UsageError extends Error {
  override name = 'UsageError';
}
