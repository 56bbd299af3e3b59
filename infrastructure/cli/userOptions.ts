// What commands that make users have in common: their options, and what is needed for it.
import type { AddUserNeeds } from '../../application/accounts/addUser.ts';
import type { PasswordLinks } from '../../application/ports/passwordLinks.ts';
import { isEmailAddress } from '../../domain/kernel/email.ts';
import { passwordProblem } from '../../domain/user/password.ts';
import { credentialsOf } from '../boot/access.ts';
import { linkRequests } from '../operations/passwordLinks.ts';
import { newPassword } from '../secrets/newSecrets.ts';
import { systemRandomness } from '../system/randomness.ts';
import { type CliInput, type CliWorld, UsageError } from './command.ts';

type Options = CliInput['options'];

const NAME_LENGTH_MAX = 200;

/** Throws UsageError. */
export const nameOf = (options: Options): string => {
  const name = String(options['name']).trim();
  if (name === '' || name.length > NAME_LENGTH_MAX)
    throw new UsageError(`--name must have 1 to ${NAME_LENGTH_MAX} characters`);
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

/** Returns the one that was typed, or a new one. Throws UsageError. */
export const passwordOf = (options: Options): string => {
  const typed = options['password'];
  if (typeof typed !== 'string') return newPassword();
  const problem = passwordProblem(typed);
  if (problem !== null) throw new UsageError(`--password ${problem}`);
  return typed;
};

export const userNeeds = ({
  storage,
  commands,
  accounts,
}: CliWorld): AddUserNeeds &
  Pick<ReturnType<typeof credentialsOf>, 'sessions'> & { readonly links: Pick<PasswordLinks, 'request'> } => ({
  commands,
  accounts,
  randomness: systemRandomness,
  ...credentialsOf(storage.operations),
  // The running program looks for requests every few seconds.
  links: linkRequests(storage.operations, null),
});
