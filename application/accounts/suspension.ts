// Suspends and reopens accounts (rule O1). A suspended account's keys and logins are rejected; its payments continue, its cash-outs wait.
import { ACCOUNT, reopenAccount, suspendAccount } from '../../domain/account/account.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCaseNeeds.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { Sessions } from '../ports/sessions.ts';

interface Needs extends UseCaseNeeds {
  readonly leases: AccessLeases;
  readonly sessions: Pick<Sessions, 'endOfAccount'>;
}

/**
 * Suspends an account and returns the time of its suspension, once every process rejects its keys and all its users' sessions have ended.
 * Rejects with `not_found`.
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
 * Reopens an account, and returns once every process accepts its keys again. Old sessions are removed first, in case the suspension was
 * interrupted before it removed them. Rejects with `not_found`.
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
