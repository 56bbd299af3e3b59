// Changes a user's password. The new hash is stored first; then an event names it, which ends all other sessions of the user in every
// process. After a crash between the two steps, the old password still works.

import type { UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { passwordProblem } from '../../domain/user/password.ts';
import { changePassword as decideChange, USER } from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { limitsOf } from '../core/useCase.ts';
import type { LoginFailures, Sessions } from '../ports/logins.ts';
import { type SessionUser, slowedDown, type Waits } from './login.ts';
import { type AddUserNeeds, keepPassword } from './users.ts';

interface Needs extends AddUserNeeds {
  readonly sessions: Sessions;
  readonly failures: LoginFailures;
}

/**
 * Changes the password. This session continues; all others of the user end. Rejects with `invalid_request` if the current password is wrong
 * (param `current_password`) or the new one is invalid (param `new_password`). Rejects with `unauthorized` if the password changed in the
 * meantime, and with `change_limit_reached`: then only a mailed link sets a password. Throws PasswordHashingBusy.
 */
export const changePassword =
  (needs: Needs) =>
  async (
    { sessionId, userId }: { readonly sessionId: SessionUser['sessionId']; readonly userId: UserId },
    { current, wanted }: { readonly current: string; readonly wanted: string },
    by: Changer,
    waits: Waits,
  ): Promise<null | Rejection> => {
    const { commands, accounts, passwords, hasher, sessions, failures } = needs;
    const problem = passwordProblem(wanted);
    if (problem !== null) return reject('invalid_request', `new_password ${problem}.`, { param: 'new_password' });
    const stream = USER.stream(userId);
    const { state } = await commands.load(USER, stream);
    if (state.status === 'absent') throw new Error(`a session of ${userId}, who does not exist`);
    const { email, passwordId: replaces, secondFactorId } = state;
    const asker = { email, address: waits.address };
    const isRight = await slowedDown(failures, email, waits, async () => {
      const hash = replaces === null ? null : await passwords.find(replaces);
      return waits.apart(hasher.isRight(current, hash, asker));
    });
    if (!isRight) {
      await failures.record(email);
      return reject('invalid_request', 'current_password is wrong.', { param: 'current_password' });
    }
    const passwordId = await waits.apart(keepPassword(needs, state, wanted, asker));
    const decide = decideChange({ passwordId, replaces }, accounts.realNow());
    const metadata = metadataForChange(by, state.accountId, userId);
    const done = await commands.execute(USER, stream, decide, metadata, limitsOf(by));
    if (isRejection(done)) {
      await passwords.forget(passwordId);
      return done;
    }
    await sessions.carryOver({ sessionId, passwordId, secondFactorId });
    await passwords.forgetOlder(userId, passwordId);
    return null;
  };
