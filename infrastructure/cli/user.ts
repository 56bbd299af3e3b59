// Users: who may log in to the dashboard, of an account or, as OPERATOR, of the platform (rules D2, O1).
import { addUser } from '../../application/accounts/addUser.ts';
import { inviteUser } from '../../application/accounts/inviteUser.ts';
import { disableUser, enableUser } from '../../application/accounts/userStatus.ts';
import { ACCOUNT } from '../../application/core/aggregates.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { type AccountId, PREFIX, parsePrefixedId, type UserId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { ROLES, type Role } from '../../domain/user/user.ts';
import { userViews } from '../../projections/users/queries.ts';
import { type CliCommand, type CliOption, type CliWorld, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';
import { accountIdOf } from './typed.ts';
import { emailOf, nameOf, PASSWORD_OPTION, passwordOf, userNeeds } from './userOptions.ts';

/** Throws UsageError: no account, or one where none may be. */
const accountOf = async ({ commands }: CliWorld, role: Role, typed: string | null): Promise<AccountId | null> => {
  if (role === 'OPERATOR') {
    if (typed !== null) throw new UsageError('an OPERATOR belongs to the platform: leave --account out');
    return null;
  }
  if (typed === null) throw new UsageError('--account is required for every role but OPERATOR');
  const id = accountIdOf(typed);
  const { state } = await commands.load(ACCOUNT, streamName.account(id));
  if (state.status === 'absent') throw new UsageError('There is no such account.');
  return id;
};

const add: CliCommand = {
  name: 'user add',
  summary: 'Add a user; prints the password, once, and sends nothing',
  args: [],
  options: {
    account: { description: 'the account it belongs to; none for an OPERATOR' },
    email: { description: 'the address it logs in with', required: true },
    role: { description: 'what it may do', required: true, choice: { what: 'role', names: ROLES } },
    name: { description: 'its name; without it the address' },
    password: PASSWORD_OPTION,
  },
  changes: 'always',
  run: async (world, { options }) => {
    const email = emailOf(options);
    const role = options['role'] as Role;
    const name = options['name'] === undefined ? email : nameOf(options);
    const password = passwordOf(options);
    const accountId = await accountOf(world, role, (options['account'] as string | undefined) ?? null);
    const by = { actor: world.operator, requestId: null };
    const userId = await addUser(userNeeds(world))({ accountId, email, name, role, password }, by);
    if (isRejection(userId)) throw new UsageError(userId.message);
    const json = { userId: PREFIX.user + userId, accountId: accountId && PREFIX.account + accountId };
    const text = `user      ${json.userId}\ne-mail    ${email}\nrole      ${role}\npassword  ${password}\nThe password is shown only now.`;
    return { json: { ...json, email, name, role, password }, text };
  },
};

const invite: CliCommand = {
  name: 'user invite',
  summary: 'Send a link by which a new user sets the password (one use, one hour); again for one who has none yet',
  args: [],
  options: {
    account: add.options['account'] as CliOption,
    email: add.options['email'] as CliOption,
    role: add.options['role'] as CliOption,
    name: add.options['name'] as CliOption,
  },
  changes: 'always',
  run: async (world, { options }) => {
    const email = emailOf(options);
    const role = options['role'] as Role;
    const name = options['name'] === undefined ? email : nameOf(options);
    const accountId = await accountOf(world, role, (options['account'] as string | undefined) ?? null);
    const needs = userNeeds(world);
    const by = { actor: world.operator, requestId: null };
    const userId = await inviteUser(needs)({ accountId, email, name, role }, by);
    if (isRejection(userId)) throw new UsageError(userId.message);
    const json = {
      userId: PREFIX.user + userId,
      accountId: accountId && PREFIX.account + accountId,
      email,
      name,
      role,
    };
    return { json, text: `a link is on its way to ${email}` };
  },
};

const list: CliCommand = {
  name: 'user list',
  summary: 'Every user, or those of an account, in the order in which they were added',
  args: [],
  options: { account: { description: 'its users alone' } },
  run: async ({ storage }, { options }) => {
    const typed = options['account'];
    const accountId = typeof typed === 'string' ? accountIdOf(typed) : null;
    const users = (await userViews(storage.reads).list(accountId)).map((user) => ({
      ...user,
      userId: PREFIX.user + user.userId,
      accountId: user.accountId && PREFIX.account + user.accountId,
    }));
    const rows = users.map(({ addedAt, userId, accountId: of, role, status, email }) => [
      ...[addedAt, userId, of ?? 'platform', role, status, email],
    ]);
    const text = (screen: Screen) => table(screen, ['ADDED', 'USER', 'ACCOUNT', 'ROLE', 'STATUS', 'E-MAIL'], rows);
    return { json: { users }, text: users.length > 0 ? text : 'no users' };
  },
};

/** Throws UsageError. */
const userIdOf = (text: string): UserId => {
  const id = parsePrefixedId<UserId>(text, PREFIX.user);
  if (id === null) throw new UsageError(`"${text}" is no user: a usr_ id`);
  return id;
};

const changingStatus = (
  verb: 'disable' | 'enable',
  summary: string,
  change: typeof disableUser,
  done: string,
): CliCommand => ({
  name: `user ${verb}`,
  summary,
  args: [{ name: 'user' }],
  options: {},
  changes: 'always',
  run: async (world, { args }) => {
    const userId = userIdOf(args[0] as string);
    const user = await change(userNeeds(world))(userId, { actor: world.operator, requestId: null });
    if (isRejection(user)) throw new UsageError(user.message);
    const { email, role, status } = user;
    return { json: { userId: PREFIX.user + userId, email, role, status }, text: `${email} ${done}` };
  },
});

export const userCommands: readonly CliCommand[] = [
  add,
  invite,
  list,
  changingStatus('disable', 'Shut a user out: logged out everywhere, at once', disableUser, 'is disabled'),
  changingStatus('enable', 'Let a disabled user log in again', enableUser, 'may log in again'),
];
