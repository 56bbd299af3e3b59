// A command as data: its name, arguments, options and action, and common parts of commands.
import { type Platform, PROCESSES } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { Changer } from '../../application/core/eventMetadata.ts';
import type { AccessLeases } from '../../application/ports/accessLeases.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import { ACCOUNT, NO_ACCOUNT } from '../../domain/account/account.ts';
import { parseStreamName } from '../../domain/aggregates.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { isEmailAddress } from '../../domain/kernel/email.ts';
import {
  type AccountId,
  type MedCaseId,
  type PaymentId,
  PREFIX,
  parseId,
  type StreamName,
} from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { passwordProblem } from '../../domain/user/password.ts';
import { USER_NAME_LENGTH_MAX } from '../../domain/user/user.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import type { Storage } from '../boot/storage.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import type { Progress, Screen } from './output.ts';

interface CliArgument {
  readonly name: string;
  readonly optional?: true;
  /** The values that it accepts, which the shell completes. Default: any. */
  readonly choices?: readonly string[];
}

export interface CliOption {
  readonly description: string;
  readonly required?: true;
  /** The option takes no value. */
  readonly flag?: true;
  /** The values that it accepts, which the shell completes. Default: any. */
  readonly choices?: readonly string[];
}

/** The syntax of a command, and its help. */
export interface CommandWords {
  /** For example `account create`. */
  readonly name: string;
  readonly summary: string;
  /** In order; only the last may be optional. */
  readonly args: readonly CliArgument[];
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
  /** Prints a line to standard error, and the command continues. */
  readonly warn: (line: string) => void;
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
  /** Makes running processes drop cached accounts and keys. */
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
  /** Read models that should reflect all events before it runs. */
  readonly reads?: readonly ReadModelName[];
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

// --- Options that create users, the acting operator, and rejections ---

type Options = CliInput['options'];

/** Returns the option --name. Throws UsageError if it is empty or too long. */
export const nameOf = (options: Options): string => {
  const name = String(options['name']).trim();
  if (name === '' || name.length > USER_NAME_LENGTH_MAX)
    throw new UsageError(`--name must have 1 to ${USER_NAME_LENGTH_MAX} characters`);
  return name;
};

/** Returns the option --email. Throws UsageError if it is not an email address. */
export const emailOf = (options: Options): string => {
  const email = String(options['email']).trim();
  if (!isEmailAddress(email)) throw new UsageError('--email must be an email address');
  return email;
};

export const PASSWORD_OPTION = {
  description: 'the initial password; generated if omitted (other users of this machine can see arguments)',
};

/** Returns the given password, or null if one must be generated. Throws UsageError if it is invalid. */
export const passwordOf = (options: Options): string | null => {
  const typed = options['password'];
  if (typeof typed !== 'string') return null;
  const problem = passwordProblem(typed);
  if (problem !== null) throw new UsageError(`--password ${problem}`);
  return typed;
};

/** Names of all consumers of the log (read models and processes), as in their checkpoints. */
export const CONSUMERS: readonly string[] = [...PROJECTIONS.map(({ name }) => name), ...PROCESSES.map(consumerName)];

/** Returns the acting operator for event metadata and logs. */
export const byOf = ({ operator }: CliWorld): Changer => ({ actor: operator, requestId: null });

/** The option that sets a field: `returned-to-payer` for `returnedToPayer`. */
export const optionNamed = (field: string): string => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns the result. Throws UsageError with the message of a rejection, which names the option instead of the field at fault. */
export const accepted = <Reply>(done: Reply | Rejection, optionOf = optionNamed): Reply => {
  if (!isRejection(done)) return done;
  const { message, param } = done;
  if (param === undefined) throw new UsageError(message);
  const option = `--${optionOf(param)}`;
  const isFirst = message.startsWith(`${param} `);
  throw new UsageError(isFirst ? option + message.slice(param.length) : message.replaceAll(`\`${param}\``, option));
};

// --- Ids and stream names that operators type ---

/** Accepts a raw id, or one with the prefix of a charge or a transaction. Returns null otherwise. */
export const parsePaymentId = (text: string): PaymentId | null =>
  parseId<PaymentId>(text, PREFIX.charge, PAYMENT.idPrefix);

/** Like `parsePaymentId`, but throws UsageError if the text is no such id. */
export const paymentIdOf = (text: string): PaymentId => {
  const id = parsePaymentId(text);
  if (id === null)
    throw new UsageError(`"${text}" is not a payment id: use a ch_ id, a tx_ id or the 26 characters alone`);
  return id;
};

/** Returns the id of a dispute case. Throws UsageError if the text is not one. */
export const caseIdOf = (text: string): MedCaseId => {
  const id = parseId<MedCaseId>(text, MED_CASE.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is not a dispute case id (med_…)`);
  return id;
};

/** Returns the id of an account. Throws UsageError if the text is not one. */
export const accountIdOf = (text: string): AccountId => {
  const id = parseId<AccountId>(text, ACCOUNT.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is not an account id (acct_…)`);
  return id;
};

/** Returns the id of an account. Throws UsageError if it does not exist. */
export const existingAccountOf = async ({ platform }: Pick<CliWorld, 'platform'>, text: string): Promise<AccountId> => {
  const id = accountIdOf(text);
  if ((await platform.findAccount(id)) === null) throw new UsageError(NO_ACCOUNT.message);
  return id;
};

/** Accepts a stream's name, an id with its prefix, or a payment's id without one. Throws UsageError otherwise. */
export const streamOf = (text: string): StreamName => {
  const stream = parseStreamName(text);
  if (stream === null)
    throw new UsageError(
      `"${text}" is not a stream: use an id such as ch_… or po_…, or a name such as payment-<raw id>`,
    );
  return stream;
};
