// What operators of the platform do (rule O1), made once for both who ask by a request and who sit at a terminal.

import { addUserWithPassword } from '../../application/accounts/addUser.ts';
import { changeRole } from '../../application/accounts/changeRole.ts';
import { createAccount } from '../../application/accounts/createAccount.ts';
import { inviteUser } from '../../application/accounts/inviteUser.ts';
import { resetSecondFactor } from '../../application/accounts/secondFactor.ts';
import { reopen, suspend } from '../../application/accounts/suspension.ts';
import { disableUser, enableUser } from '../../application/accounts/userStatus.ts';
import type { OperatorAlerts } from '../../application/ports/operatorAlerts.ts';
import type { PasswordLinks } from '../../application/ports/passwordLinks.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { WithTenantLock } from '../../application/ports/tenantLock.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { USER } from '../../domain/user/user.ts';
import type { PlatformServices } from '../../http/kernel/services.ts';
import { accountViews } from '../../projections/accounts/queries.ts';
import { userViews } from '../../projections/users/queries.ts';
import { keyUseReads } from '../operations/keyUses.ts';
import { platformWork } from './platformWork.ts';
import type { Storage } from './storage.ts';

type Needs = Parameters<typeof createAccount>[0] &
  Parameters<typeof suspend>[0] &
  Parameters<typeof disableUser>[0] &
  Parameters<typeof resetSecondFactor>[0] & {
    readonly providers: PaymentProviders;
    readonly alerts: Pick<OperatorAlerts, 'disputeReport'>;
    readonly links: Pick<PasswordLinks, 'request'>;
    readonly withTenantLock: WithTenantLock;
  };

export const platformServices = (given: Needs, storage: Storage): PlatformServices => {
  const { reads, operations } = storage;
  const { commands } = given;
  const [accounts, users] = [accountViews(reads), userViews(reads)];
  const needs = { ...given, users };
  return {
    ...platformWork(given, storage),
    createAccount: createAccount(needs),
    listAccounts: accounts.list,
    findAccount: async (id) => {
      const { state } = await commands.load(ACCOUNT, ACCOUNT.stream(id));
      return state.status === 'open' ? state : null;
    },
    suspendAccount: suspend(needs),
    reopenAccount: reopen(needs),
    addUser: addUserWithPassword(needs),
    inviteUser: inviteUser(needs),
    listUsers: users.list,
    findUser: async (id) => {
      const { state } = await commands.load(USER, USER.stream(id));
      return state.status === 'absent' ? null : state;
    },
    findUserId: needs.emails.find,
    disableUser: disableUser(needs),
    enableUser: enableUser(needs),
    changeRole: changeRole(needs),
    resetSecondFactor: resetSecondFactor(needs),
    lastKeyUses: keyUseReads(operations).lastUsed,
  };
};
