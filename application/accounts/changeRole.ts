// Changes a user's role, on behalf of an operator (rule D2). Every request reads the role from the user's stream, so the change applies
// at once.
import type { AccountId, UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { changeRole as decideRole, type KnownUser, type Role, USER } from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCaseNeeds.ts';
import type { UserViews } from '../ports/readModels/views.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';

interface Needs extends UseCaseNeeds {
  readonly users: Pick<UserViews, 'list'>;
  readonly withTenantLock: WithTenantLock;
}

/** Finds candidates in the read model and checks their streams. A user who is not in the read model yet doesn't count. */
const hasOtherOwner = async ({ commands, users }: Needs, accountId: AccountId, userId: UserId): Promise<boolean> => {
  for (const other of await users.list(accountId)) {
    if (other.userId === userId) continue;
    const { state } = await commands.load(USER, USER.stream(other.userId));
    if (state.status === 'active' && state.role === 'OWNER') return true;
  }
  return false;
};

/**
 * Changes the role and returns the user. Rejects with `not_found`, or with `invalid_request` (param `role`) if OPERATOR and an account's
 * role are mixed, or if an account would lose its last OWNER. No-op if the user has the role already.
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
    // Without a lock, two owners could be demoted at once, each because the other exists.
    return withTenantLock({ accountId, mode: 'live' }, 'owners', async () =>
      change(!(await hasOtherOwner(needs, accountId, userId))),
    );
  };
