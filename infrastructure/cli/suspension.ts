// Suspending an account and opening it again (rule O1).
import { reopen, suspend } from '../../application/accounts/suspension.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { type CliCommand, UsageError } from './command.ts';
import { accountIdOf } from './typed.ts';

const suspendCommand: CliCommand = {
  name: 'account suspend',
  summary: 'Refuse the keys and logins of an account. Its payments go on, its cash-outs wait',
  args: [{ name: 'account' }],
  options: {},
  changes: 'always',
  run: async (world, { args }) => {
    const id = accountIdOf(args[0] as string);
    const done = await suspend(world)(id, { actor: world.operator, requestId: null });
    if (isRejection(done)) throw new UsageError(done.message);
    const accountId = PREFIX.account + id;
    return { json: { accountId, suspendedAt: done.since }, text: `${accountId} is suspended since ${done.since}` };
  },
};

const reopenCommand: CliCommand = {
  name: 'account reopen',
  summary: 'Take the keys and logins of a suspended account again; the cash-outs that waited go on',
  args: [{ name: 'account' }],
  options: {},
  changes: 'always',
  run: async (world, { args }) => {
    const id = accountIdOf(args[0] as string);
    const done = await reopen(world)(id, { actor: world.operator, requestId: null });
    if (isRejection(done)) throw new UsageError(done.message);
    const [accountId, isNew] = [PREFIX.account + id, done === 'reopened'];
    return { json: { accountId, isNew }, text: `${accountId} ${isNew ? 'is open again' : 'was not suspended'}` };
  },
};

export const suspensionCommands: readonly CliCommand[] = [suspendCommand, reopenCommand];
