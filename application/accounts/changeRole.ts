// An operator gives a user another role (rule D2). Every request of a session reads the role from the user's stream: the new one counts in
// every process at once.
import type { AccountId, UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { changeRole as decideRole, type KnownUser, type Role, USER } from '../../domain/user/user.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UserViews } from '../ports/readModels/views.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly users: Pick<UserViews, 'list'>;
  readonly withTenantLock: WithTenantLock;
}

/** The read model names who may be one, the streams say who is. One that it does not know yet does not count: a repeat finds it. */
const hasOtherOwner = async ({ commands, users }: Needs, accountId: AccountId, userId: UserId): Promise<boolean> => {
  for (const other of await users.list(accountId)) {
    if (other.userId === userId) continue;
    const { state } = await commands.load(USER, USER.stream(other.userId));
    if (state.status === 'active' && state.role === 'OWNER') return true;
  }
  return false;
};

/**
 * Rejects with `not_found`, or `invalid_request` (param `role`): OPERATOR to a member of an account or the reverse, or the last OWNER of an
 * account would be none any more. Already so: nothing.
 */
export const changeRole =
  (needs: Needs) =>
  async (userId: UserId, role: Role, by: Changer): Promise<KnownUser | Rejection> => {
    const { commands, accounts, withTenantLock } = needs;
    const stream = USER.stream(userId);
    const { state } = await commands.load(USER, stream);
    const accountId = state.status === 'absent' ? null : state.accountId;
    const change = async (isLastOwner: boolean): Promise<KnownUser | Rejection> => {
      const decide = decideRole(role, isLastOwner, accounts.realNow());
      const done = await commands.execute(USER, stream, decide, metadataForChange(by, accountId, userId));
      return isRejection(done) ? done : (done.state as KnownUser);
    };
    if (accountId === null || role === 'OWNER') return change(false);
    // Two owners that are demoted at once must not both find the other one.
    return withTenantLock({ accountId, mode: 'live' }, 'owners', async () =>
      change(!(await hasOtherOwner(needs, accountId, userId))),
    );
  };
