// Operators' use cases for analysts: grant a role read access to the views, list the grants, revoke one (rules N1, N2).
import { ACCOUNT, NO_ACCOUNT } from '../../domain/account/account.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { Analysts } from '../ports/analysts.ts';

export interface GrantNeeds extends UseCaseNeeds {
  readonly analysts: Analysts;
}

/** Names that need no quotes, unless SQL reserves them. */
const ROLE_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;
const PASSWORD_LENGTH_MIN = 12;
const PASSWORD = /^[\x21-\x7e]+$/;

export interface GrantRequest {
  readonly role: string;
  /** null: all accounts. */
  readonly accountId: AccountId | null;
  readonly password: string;
}

const problemOf = ({ role, password }: GrantRequest): Rejection | null => {
  if (!ROLE_NAME.test(role))
    return reject(
      'invalid_request',
      'The role must have 1 to 63 lower-case letters, digits and _, and not start with pg_.',
    );
  if (password.length < PASSWORD_LENGTH_MIN || !PASSWORD.test(password))
    return reject(
      'invalid_request',
      `The password must have at least ${PASSWORD_LENGTH_MIN} printable ASCII characters without spaces.`,
    );
  return null;
};

const hasOpened = async ({ commands }: GrantNeeds, id: AccountId): Promise<boolean> =>
  (await commands.load(ACCOUNT, ACCOUNT.stream(id))).state.status === 'open';

/** Rejects with `not_found` for an unknown account, and with `invalid_request`. */
const grantAnalyst =
  (needs: GrantNeeds) =>
  async (
    request: GrantRequest,
    { actor }: Changer,
  ): Promise<{ readonly isNew: boolean; readonly gaps: readonly string[] } | Rejection> => {
    const { role, accountId, password } = request;
    const problem = problemOf(request);
    if (problem !== null) return problem;
    if (accountId !== null && !(await hasOpened(needs, accountId))) return NO_ACCOUNT;
    const outcome = await needs.analysts.grant(role, accountId, password, { actor, at: needs.accounts.realNow() });
    switch (outcome.kind) {
      case 'granted':
        return { isNew: outcome.isNew, gaps: outcome.gaps };
      case 'otherAccount':
        return reject('invalid_request', `${role} is granted for another account. Revoke that grant first.`);
      case 'reservedName':
        return reject('invalid_request', `SQL reserves the name ${role}. Choose another one.`);
      case 'roleExists':
        return reject('invalid_request', `The database has a role ${role} that is no analyst. Choose another name.`);
      case 'mayNotCreateRoles':
        return reject(
          'invalid_request',
          `The database role ${outcome.owner} may not create roles. Have a superuser run: ALTER ROLE ${outcome.owner} CREATEROLE`,
        );
      default:
        return outcome satisfies never;
    }
  };

/** Rejects with `not_found`. */
const revokeAnalyst =
  ({ analysts }: Pick<GrantNeeds, 'analysts'>) =>
  async (role: string): Promise<'revoked' | Rejection> =>
    ROLE_NAME.test(role) && (await analysts.revoke(role))
      ? 'revoked'
      : reject('not_found', 'There is no analyst with this name. Run analytics list.');

export const analystGrants = (needs: GrantNeeds) => ({
  grantAnalyst: grantAnalyst(needs),
  revokeAnalyst: revokeAnalyst(needs),
  listAnalysts: () => needs.analysts.list(),
});
