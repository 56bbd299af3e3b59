// The users of an account, managed by its own OWNERs and ADMINs (rule D5). The lock keeps two of them from disabling or demoting each
// other at once: the account always keeps an OWNER.
import type { AccountId, UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { managementRefusal } from '../../domain/user/management.ts';
import { type AccountRole, changeRole as decideRole, type KnownUser, NO_USER, USER } from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { limitsOf } from '../core/useCase.ts';
import type { Sessions } from '../ports/logins.ts';
import type { PasswordLinks } from '../ports/passwordLinks.ts';
import type { ListedUser, UserViews } from '../ports/readModels/views.ts';
import type { WithTenantLock } from '../ports/tenantLock.ts';
import { inviteUser } from './passwordLink.ts';
import { type AddUserNeeds, disableUser, enableUser } from './users.ts';

/** The managing user, a member of the account. */
export interface Manager {
  readonly accountId: AccountId;
  readonly userId: UserId;
}

interface MembersNeeds extends AddUserNeeds {
  readonly sessions: Sessions;
  readonly links: Pick<PasswordLinks, 'request'>;
  readonly withTenantLock: WithTenantLock;
  readonly views: { readonly users: UserViews };
}

/** Users of an account, disabled ones included, so that an account can’t mail any number of strangers. */
export const MEMBERS_MAX = 100;
const FULL = reject(
  'change_limit_reached',
  `An account can have at most ${MEMBERS_MAX} users, disabled ones included.`,
);

/** Acts on a user of the manager's account, if the manager is still allowed to. */
const managing =
  ({ commands, withTenantLock }: MembersNeeds) =>
  (
    manager: Manager,
    userId: UserId | null,
    role: AccountRole | null,
    act: () => Promise<KnownUser | Rejection>,
  ): Promise<KnownUser | Rejection> =>
    withTenantLock({ accountId: manager.accountId, mode: 'live' }, 'owners', async () => {
      const { state: own } = await commands.load(USER, USER.stream(manager.userId));
      const member = userId === null ? null : (await commands.load(USER, USER.stream(userId))).state;
      if (member !== null && (member.status === 'absent' || member.accountId !== manager.accountId)) return NO_USER;
      return managementRefusal(own, member, role) ?? act();
    });

/**
 * The use cases by which members of an account manage each other. All reject with `not_found` and `role_required`. A user with too many
 * changes can only be disabled; the others then reject with `change_limit_reached`.
 */
export const members = (needs: MembersNeeds) => {
  const { commands, accounts, views } = needs;
  const manage = managing(needs);
  const [disable, enable, invite] = [disableUser(needs), enableUser(needs), inviteUser(needs)];
  const changed = async (userId: UserId, role: AccountRole, by: Changer, accountId: AccountId) => {
    // If this user is an OWNER, the manager is another OWNER.
    const decide = decideRole(role, false, accounts.realNow());
    const metadata = metadataForChange(by, accountId, userId);
    const done = await commands.execute(USER, USER.stream(userId), decide, metadata, limitsOf(by));
    return isRejection(done) ? done : (done.state as KnownUser);
  };
  return {
    /** Returns users in the order in which they were added. */
    listMembers: (
      accountId: AccountId,
      page: { readonly after: UserId | null; readonly limit: number },
    ): Promise<readonly ListedUser[]> => views.users.list(accountId, page),
    /** Returns the user from its stream, or null if the account has no such user. */
    findMember: async (accountId: AccountId, userId: UserId): Promise<KnownUser | null> => {
      const { state } = await commands.load(USER, USER.stream(userId));
      return state.status === 'absent' || state.accountId !== accountId ? null : state;
    },
    /**
     * Invites a user by e-mail. An invited user without a password gets another link. Also rejects with `invalid_request` (param `email`)
     * if the address is in use, and with `change_limit_reached`.
     */
    inviteMember: (
      manager: Manager,
      { email, name, role }: { readonly email: string; readonly name: string; readonly role: AccountRole },
      by: Changer,
    ) =>
      manage(manager, null, role, async () => {
        const { accountId } = manager;
        const users = await views.users.list(accountId, { after: null, limit: MEMBERS_MAX });
        const isKnown = users.some((user) => user.email.toLowerCase() === email.toLowerCase());
        if (users.length >= MEMBERS_MAX && !isKnown) return FULL;
        const invited = await invite({ accountId, email, name, role }, by);
        if (isRejection(invited)) return invited;
        return (await commands.load(USER, USER.stream(invited))).state as KnownUser;
      }),
    changeMemberRole: (manager: Manager, userId: UserId, role: AccountRole, by: Changer) =>
      manage(manager, userId, role, () => changed(userId, role, by, manager.accountId)),
    /** Also ends the user's sessions. */
    disableMember: (manager: Manager, userId: UserId, by: Changer) =>
      manage(manager, userId, null, () => disable(userId, by)),
    enableMember: (manager: Manager, userId: UserId, by: Changer) =>
      manage(manager, userId, null, () => enable(userId, by)),
  };
};
