// Suspending an account and opening it again (rule O1). Its keys and logins are refused meanwhile; its payments go on, cash-outs wait.
import { ACCOUNT, reopenAccount, suspendAccount } from '../../domain/account/account.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { Sessions } from '../ports/sessions.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly leases: AccessLeases;
  readonly sessions: Pick<Sessions, 'endOfAccount'>;
}

/**
 * Answers, since when it is suspended, once no process takes its keys any more and every session of its users is over for good. No such
 * account: `not_found`.
 */
export const suspend =
  ({ commands, accounts, leases, sessions }: Needs) =>
  async (accountId: AccountId, by: Changer): Promise<{ readonly since: Timestamp } | Rejection> => {
    const decide = suspendAccount(accounts.realNow());
    const why = metadataForChange(by, accountId, accountId);
    const done = await commands.execute(ACCOUNT, ACCOUNT.stream(accountId), decide, why);
    if (isRejection(done)) return done;
    await Promise.all([leases.announce(accountId), sessions.endOfAccount(accountId)]);
    return done.reply;
  };

/**
 * Answers once no process remembers that it was suspended. Sessions of before are removed first: none of them goes on, whatever became of
 * the suspension's own work. No such account: `not_found`.
 */
export const reopen =
  ({ commands, accounts, leases, sessions }: Needs) =>
  async (accountId: AccountId, by: Changer): Promise<'reopened' | 'already_open' | Rejection> => {
    const { state } = await commands.load(ACCOUNT, ACCOUNT.stream(accountId));
    if (state.status === 'open' && state.suspendedAt !== null) await sessions.endOfAccount(accountId);
    const decide = reopenAccount(accounts.realNow());
    const why = metadataForChange(by, accountId, accountId);
    const done = await commands.execute(ACCOUNT, ACCOUNT.stream(accountId), decide, why);
    if (isRejection(done)) return done;
    await leases.announce(accountId);
    return done.reply;
  };
