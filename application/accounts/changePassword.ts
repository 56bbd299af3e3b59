// A user changes its password: the new hash is stored, then one event names it, and with that every other session of the user is over in
// every process. Cut off between the two, nothing has changed.
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { passwordProblem } from '../../domain/user/password.ts';
import { changePassword as decideChange, USER } from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { LoginFailures, Sessions } from '../ports/sessions.ts';
import { type AddUserNeeds, keepPassword } from './addUser.ts';
import { type SessionUser, slowedDown, type Waits } from './login.ts';

interface Needs extends AddUserNeeds {
  readonly sessions: Sessions;
  readonly failures: LoginFailures;
}

/**
 * The session goes on, all others of the user end. `invalid_request`: the present password is wrong (param `current_password`), or the new
 * one is none (param `new_password`); `unauthorized`: the password was changed meanwhile. Throws PasswordHashingBusy.
 */
export const changePassword =
  (needs: Needs) =>
  async (
    {
      sessionId,
      userId,
    }: { readonly sessionId: SessionUser['sessionId']; readonly userId: SessionUser['user']['userId'] },
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
    const done = await commands.execute(USER, stream, decide, metadataForChange(by, state.accountId, userId));
    if (isRejection(done)) return done;
    await sessions.carryOver({ sessionId, passwordId, secondFactorId });
    await passwords.keepOnly(userId, passwordId);
    return null;
  };
