// A command as data: name, options, and what it does.
import type { Accounts } from '../../application/accounts/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { Config } from '../boot/config.ts';
import type { Storage } from '../boot/storage.ts';
import type { Log } from '../log/log.ts';

export interface CliOption {
  readonly description: string;
  readonly required?: true;
  /** Takes no value. */
  readonly flag?: true;
}

export interface CliWorld {
  readonly config: Config;
  readonly storage: Storage;
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  /** Who acts, as it stands in metadata and in the security log: `operator:<user of the operating system>`. */
  readonly operator: string;
  /** The security log. */
  readonly log: Log;
  /** Ends with SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

export interface CliResult {
  /** Printed with --json, as one JSON text. */
  readonly json: unknown;
  /** Printed otherwise. */
  readonly text: string;
  /** Something is wrong with the data: exit code 1. */
  readonly isBad?: boolean;
}

export interface CliCommand {
  /** `account create`. */
  readonly name: string;
  readonly summary: string;
  /** Names of positional arguments; all required unless the last begins with `?`. */
  readonly args: readonly string[];
  readonly options: { readonly [name: string]: CliOption };
  /** It changes something (`withOptions`: only when one is given): the security log tells who called it, and with which arguments. */
  readonly changes?: 'always' | 'withOptions';
  /** What it has to say when the stores can't be opened. null: nothing but the error itself. */
  whenUnopened?(config: Config, error: unknown): Promise<CliResult | null>;
  /** May print by itself through `print` when it has no end of its own. */
  run(
    world: CliWorld,
    input: {
      args: readonly string[];
      options: { readonly [name: string]: string | boolean | undefined };
      print: (line: string) => void;
    },
  ): Promise<CliResult>;
}

/** The operator's fault, in one line. */
export class UsageError extends Error {
  override name = 'UsageError';
}
