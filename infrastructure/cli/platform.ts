// Shared by the operators' commands: options that create users, the acting operator, and rejections.
import { PROCESSES } from '../../application/capabilities.ts';
import type { Changer } from '../../application/core/eventMetadata.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import { isEmailAddress } from '../../domain/kernel/email.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { passwordProblem } from '../../domain/user/password.ts';
import { USER_NAME_LENGTH_MAX } from '../../domain/user/user.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { type CliInput, type CliWorld, UsageError } from './command.ts';

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

/** Returns the result. Throws UsageError with the message of a rejection; a message about an option starts with its name. */
export const accepted = <Reply>(done: Reply | Rejection): Reply => {
  if (!isRejection(done)) return done;
  const { message, param } = done;
  throw new UsageError(param !== undefined && message.startsWith(`${param} `) ? `--${message}` : message);
};
