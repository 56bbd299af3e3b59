// What commands of operators have in common: the options of those that make users, who acts, and refusals.
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

/** Throws UsageError. */
export const nameOf = (options: Options): string => {
  const name = String(options['name']).trim();
  if (name === '' || name.length > USER_NAME_LENGTH_MAX)
    throw new UsageError(`--name must have 1 to ${USER_NAME_LENGTH_MAX} characters`);
  return name;
};

/** Throws UsageError. */
export const emailOf = (options: Options): string => {
  const email = String(options['email']).trim();
  if (!isEmailAddress(email)) throw new UsageError('--email must be an e-mail address');
  return email;
};

export const PASSWORD_OPTION = {
  description: 'the first password; without it one is made (what is typed here, others may see in a list of processes)',
};

/** Returns the one that was typed; null: one is to be made. Throws UsageError. */
export const passwordOf = (options: Options): string | null => {
  const typed = options['password'];
  if (typeof typed !== 'string') return null;
  const problem = passwordProblem(typed);
  if (problem !== null) throw new UsageError(`--password ${problem}`);
  return typed;
};

/** Names of the consumers of the log, which are those of their checkpoints: read models and processes. */
export const CONSUMERS: readonly string[] = [...PROJECTIONS.map(({ name }) => name), ...PROCESSES.map(consumerName)];

/** Who acts, as events and logs have it. */
export const byOf = ({ operator }: CliWorld): Changer => ({ actor: operator, requestId: null });

/** Returns what was done. Throws UsageError with the words of a refusal; what is wrong with an option bears its name. */
export const accepted = <Reply>(done: Reply | Rejection): Reply => {
  if (!isRejection(done)) return done;
  const { message, param } = done;
  throw new UsageError(param !== undefined && message.startsWith(`${param} `) ? `--${message}` : message);
};
