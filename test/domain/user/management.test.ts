// Which role may manage which, for all combinations of roles.
import { expect } from 'chai';
import type { UserId } from '../../../domain/kernel/ids.ts';
import { managementRefusal } from '../../../domain/user/management.ts';
import { ACCOUNT_ROLES, type AccountRole } from '../../../domain/user/user.ts';

const user = (id: string, role: AccountRole | 'OPERATOR', status: 'active' | 'disabled' = 'active') => ({
  userId: id as UserId,
  role,
  status,
});
const may = (manager: AccountRole, member: AccountRole | null, role: AccountRole | null): boolean =>
  managementRefusal(user('a', manager), member === null ? null : user('b', member), role) === null;

describe('managementRefusal', () => {
  it('allows OWNERs everything and ADMINs everything that does not concern an OWNER', () => {
    for (const manager of ACCOUNT_ROLES)
      for (const member of [null, ...ACCOUNT_ROLES])
        for (const role of [null, ...ACCOUNT_ROLES]) {
          const isOfOwners = member === 'OWNER' || role === 'OWNER';
          const expected = manager === 'OWNER' || (manager === 'ADMIN' && !isOfOwners);
          expect(may(manager, member, role), `${manager} ${member} ${role}`).to.equal(expected);
        }
  });
  it('rejects changes to oneself', () => {
    for (const role of ACCOUNT_ROLES) {
      const own = user('a', role);
      expect(managementRefusal(own, own, null)?.code).to.equal('role_required');
    }
  });
  it('rejects disabled users, operators and unknown users', () => {
    const managers = [user('a', 'OWNER', 'disabled'), user('a', 'OPERATOR'), { status: 'absent' } as const];
    expect(managers.map((one) => managementRefusal(one, null, 'VIEWER')?.code)).to.deep.equal(
      Array(3).fill('role_required'),
    );
  });
});
