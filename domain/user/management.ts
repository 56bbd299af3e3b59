// The rules by which users of an account manage each other (rule D5). Users never change their own role or access, and only an OWNER makes
// or unmakes an OWNER. So an account never loses its last OWNER.
import { type Rejection, reject } from '../kernel/rejection.ts';
import { type AccountRole, type KnownUser, mayManageKeys, type UserState } from './user.ts';

export const NOT_A_MANAGER = reject('role_required', 'Only an OWNER or ADMIN of the account can manage its users.');
const OWN = reject('role_required', 'You can’t change your own role or access. Ask another OWNER or ADMIN.');
const OWNERS_ONLY = reject('role_required', 'Only an OWNER can add, change or disable an OWNER.');

/** Returns why `manager` may not change `member` (null: a new user) or assign `role` (null: keep the role), or null if this is allowed. */
export const managementRefusal = (
  manager: Pick<KnownUser, 'userId' | 'role' | 'status'> | Extract<UserState, { status: 'absent' }>,
  member: Pick<KnownUser, 'userId' | 'role'> | null,
  role: AccountRole | null,
): Rejection | null => {
  if (manager.status !== 'active' || manager.role === 'OPERATOR' || !mayManageKeys(manager.role)) return NOT_A_MANAGER;
  if (member !== null && member.userId === manager.userId) return OWN;
  const isOfOwners = role === 'OWNER' || member?.role === 'OWNER';
  return isOfOwners && manager.role !== 'OWNER' ? OWNERS_ONLY : null;
};
