// Commands that suspend and reopen accounts (rule O1).
import { ACCOUNT } from '../../domain/account/account.ts';
import { accepted, accountIdOf, byOf, type CliCommand } from './command.ts';

const suspendCommand: CliCommand = {
  name: 'account suspend',
  summary:
    'Suspend an account: its keys and logins are rejected and its sessions end. Payments continue; cash-outs wait',
  args: [{ name: 'account' }],
  changes: 'always',
  run: async (world, { args }) => {
    const id = accountIdOf(args[0] as string);
    const { since } = accepted(await world.platform.suspendAccount(id, byOf(world)));
    const accountId = ACCOUNT.idPrefix + id;
    return { json: { accountId, suspendedAt: since }, text: `${accountId} has been suspended since ${since}` };
  },
};

const reopenCommand: CliCommand = {
  name: 'account reopen',
  summary: 'Reopen a suspended account: its keys and logins work again, and waiting cash-outs continue',
  args: [{ name: 'account' }],
  changes: 'always',
  run: async (world, { args }) => {
    const id = accountIdOf(args[0] as string);
    const done = accepted(await world.platform.reopenAccount(id, byOf(world)));
    const [accountId, isNew] = [ACCOUNT.idPrefix + id, done === 'reopened'];
    return { json: { accountId, isNew }, text: `${accountId} ${isNew ? 'is open again' : 'was not suspended'}` };
  },
};

export const suspensionCommands: readonly CliCommand[] = [suspendCommand, reopenCommand];
