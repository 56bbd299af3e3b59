// Users of the dashboard: those of an account and, with the role OPERATOR, those of the platform (rules D2, O1).

import type { UserAddition } from '../../../application/accounts/users.ts';
import type { Platform } from '../../../application/capabilities.ts';
import type { Changer } from '../../../application/core/eventMetadata.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { isEmailAddress } from '../../../domain/kernel/email.ts';
import { type AccountId, parsePrefixedId, type UserId } from '../../../domain/kernel/ids.ts';
import type { Rejection } from '../../../domain/kernel/rejection.ts';
import { ACCOUNT_ROLES, type KnownUser, ROLES, type Role, USER } from '../../../domain/user/user.ts';
import {
  accepted,
  accountIdOf,
  byOf,
  type CliCommand,
  type CliInput,
  emailOf,
  nameOf,
  PASSWORD_OPTION,
  passwordOf,
  UsageError,
} from '../../cli/command.ts';
import { type Screen, table } from '../../cli/output.ts';

/** Throws UsageError if the account is missing, or given for an OPERATOR. */
const accountOf = (role: Role, typed: string | true | undefined): AccountId | null => {
  if (role === 'OPERATOR') {
    if (typed !== undefined) throw new UsageError('an OPERATOR belongs to the platform: omit --account');
    return null;
  }
  if (typeof typed !== 'string') throw new UsageError('--account is required for every role except OPERATOR');
  return accountIdOf(typed);
};

/** Returns the user to add. Throws UsageError if an option is invalid. */
const wishOf = ({ options }: CliInput): Omit<UserAddition, 'password'> => {
  const email = emailOf(options);
  const role = options['role'] as Role;
  const name = options['name'] === undefined ? email : nameOf(options);
  return { email, role, name, accountId: accountOf(role, options['account']) };
};

const USER_OPTIONS = {
  account: { description: 'the user’s account; omit it for an OPERATOR' },
  email: { description: 'the email address that the user logs in with', required: true },
  role: { description: 'the user’s role', required: true, choices: ROLES },
  name: { description: 'the user’s name (default: the email address)' },
} as const;

const add: CliCommand = {
  name: 'user add',
  summary: 'Add a user; prints the password only once and sends no mail',
  options: { ...USER_OPTIONS, password: PASSWORD_OPTION },
  changes: 'always',
  run: async (world, input) => {
    const wish = wishOf(input);
    const password = passwordOf(input.options);
    const added = accepted(await world.platform.addUser({ ...wish, password }, byOf(world)));
    const { accountId, email, name, role } = wish;
    const json = { userId: USER.idPrefix + added.userId, accountId: accountId && ACCOUNT.idPrefix + accountId };
    const text = `user      ${json.userId}\nemail     ${email}\nrole      ${role}\npassword  ${added.password}\nThe password is shown only now.`;
    return { json: { ...json, email, name, role, password: added.password }, text };
  },
};

const invite: CliCommand = {
  name: 'user invite',
  summary: 'Add a user and mail a link to set the password (one use, one hour); repeat it to send a new link',
  options: USER_OPTIONS,
  changes: 'always',
  run: async (world, input) => {
    const wish = wishOf(input);
    const userId = accepted(await world.platform.inviteUser(wish, byOf(world)));
    const { accountId, email, name, role } = wish;
    const json = {
      userId: USER.idPrefix + userId,
      accountId: accountId && ACCOUNT.idPrefix + accountId,
      email,
      name,
      role,
    };
    return { json, text: `${email} gets a link, unless 3 links were sent in the last 15 minutes` };
  },
};

const list: CliCommand = {
  name: 'user list',
  summary: 'List all users, or those of one account, oldest first',
  options: { account: { description: 'only users of this account' } },
  reads: ['users'],
  run: async (world, { options }) => {
    const typed = options['account'];
    const accountId = typeof typed === 'string' ? accountIdOf(typed) : null;
    const users = (await world.platform.listUsers(accountId)).map((user) => ({
      ...user,
      userId: USER.idPrefix + user.userId,
      accountId: user.accountId && ACCOUNT.idPrefix + user.accountId,
    }));
    const rows = users.map(({ addedAt, userId, accountId: of, role, status, email }) => [
      ...[addedAt, userId, of ?? 'platform', role, status, email],
    ]);
    const text = (screen: Screen) => table(screen, ['ADDED', 'USER', 'ACCOUNT', 'ROLE', 'STATUS', 'EMAIL'], rows);
    return { json: { users }, text: users.length > 0 ? text : 'no users' };
  },
};

/** Accepts an id or an email address. Throws UsageError if there is no such user. */
const userIdOf = async ({ findUserId }: Platform, text: string): Promise<UserId> => {
  const id = isEmailAddress(text) ? await findUserId(text) : parsePrefixedId<UserId>(text, USER.idPrefix);
  if (id === null) throw new UsageError(`no user "${text}": use a usr_ id or the user’s email address`);
  return id;
};

/** A command that changes one user and prints the user's new state. */
const onUser = (
  words: Pick<CliCommand, 'name' | 'summary' | 'options'>,
  change: (platform: Platform, id: UserId, by: Changer, options: CliInput['options']) => Promise<KnownUser | Rejection>,
  done: (user: KnownUser) => string,
): CliCommand => ({
  ...words,
  args: [{ name: 'user' }],
  changes: 'always',
  run: async (world, { args, options }) => {
    const platform = world.platform;
    const userId = await userIdOf(platform, args[0] as string);
    const user = accepted(await change(platform, userId, byOf(world), options));
    const { email, role, status } = user;
    return { json: { userId: USER.idPrefix + userId, email, role, status }, text: `${email} ${done(user)}` };
  },
});

export const userCommands: readonly CliCommand[] = [
  add,
  invite,
  list,
  onUser(
    { name: 'user disable', summary: 'Disable a user and end all their sessions at once', options: {} },
    (platform, id, by) => platform.disableUser(id, by),
    () => 'is disabled',
  ),
  onUser(
    { name: 'user enable', summary: 'Enable a disabled user', options: {} },
    (platform, id, by) => platform.enableUser(id, by),
    () => 'may log in again',
  ),
  onUser(
    {
      name: 'user role',
      summary: 'Change the role of an account’s user; it applies to all sessions at once',
      options: {
        role: { description: 'the new role', required: true, choices: ACCOUNT_ROLES },
      },
    },
    (platform, id, by, { role }) => platform.changeRole(id, role as Role, by),
    ({ role }) => `is ${role}`,
  ),
  onUser(
    {
      name: 'user reset-second-factor',
      summary: 'Remove a user’s second factor, for example after a lost device, and end all their sessions',
    },
    (platform, id, by) => platform.resetSecondFactor(id, by),
    () => 'logs in with the password alone, and can enrol a second factor again',
  ),
];
