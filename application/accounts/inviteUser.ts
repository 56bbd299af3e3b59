// Adds a user without a password, and mails a link to set one.

import type { UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { USER } from '../../domain/user/user.ts';
import type { Changer } from '../core/eventMetadata.ts';
import type { PasswordLinks } from '../ports/passwordLinks.ts';
import { type AddUserNeeds, addUser, type UserAddition } from './addUser.ts';
import { requestPasswordLink } from './passwordLink.ts';

/**
 * Returns the user's id. If the user was already invited to the same account and role and has no password yet, sends another link.
 * Rejects like `addUser`.
 */
export const inviteUser =
  (needs: AddUserNeeds & { readonly links: Pick<PasswordLinks, 'request'> }) =>
  async (invited: Omit<UserAddition, 'password'>, by: Changer): Promise<UserId | Rejection> => {
    const added = await addUser(needs)({ ...invited, password: null }, by);
    const userId = isRejection(added) ? await waitingUser(needs, invited) : added;
    if (userId === null) return added;
    await requestPasswordLink(needs)('invitation', invited.email);
    return userId;
  };

/** Returns the user with the same invitation who has no password yet, or null. */
const waitingUser = async (
  { commands, emails }: AddUserNeeds,
  { email, accountId, role }: Omit<UserAddition, 'password'>,
): Promise<UserId | null> => {
  const userId = await emails.find(email);
  if (userId === null) return null;
  const { state } = await commands.load(USER, USER.stream(userId));
  const isWaiting =
    state.status === 'active' && state.passwordId === null && state.accountId === accountId && state.role === role;
  return isWaiting ? userId : null;
};
