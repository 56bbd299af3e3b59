// A user's second factor (rule D4). Enrollment has two steps, so that a user whose app failed to store the secret is not locked out. The
// event that names the factor activates it and ends all other sessions of the user.
import {
  encodeRawId,
  idIn,
  PLATFORM_ACCOUNT,
  type SecondFactorId,
  type SessionId,
  type UserId,
} from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { resetSecondFactor as decideReset, enrolSecondFactor, type KnownUser, USER } from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { limitsOf, type UseCaseNeeds } from '../core/useCase.ts';
import { AppendOutcomeUnknown } from '../ports/eventStore.ts';
import type { LoginFailures, Sessions } from '../ports/logins.ts';
import type { NewSecondFactor, SecondFactors } from '../ports/secondFactors.ts';
import type { Randomness } from '../ports/system.ts';

interface Needs extends UseCaseNeeds {
  readonly randomness: Randomness;
  readonly secondFactors: SecondFactors;
  readonly sessions: Sessions;
  readonly failures: LoginFailures;
}

/**
 * Wrong codes per factor within 15 minutes. A code has only six digits, so an attacker with the password must not try many. Recovery codes
 * are not limited, so that the owner is never locked out.
 */
const WRONG_CODES_MAX = 20;

/** Returns whether the code is right. A right code is used up. */
export const useSecondFactor = async (
  { secondFactors, failures }: Pick<Needs, 'secondFactors' | 'failures'>,
  secondFactorId: SecondFactorId,
  code: string,
): Promise<boolean> => {
  if (await secondFactors.useRecoveryCode(secondFactorId, code)) return true;
  const subject = `second factor ${secondFactorId}`;
  // Recorded before it is judged, so that each of several concurrent guesses counts those before it.
  await failures.record(subject);
  if ((await failures.count(subject)) > WRONG_CODES_MAX) return false;
  if (!(await secondFactors.useCode(secondFactorId, code))) return false;
  await failures.removeOne(subject);
  return true;
};

const userOf = async ({ commands }: Pick<Needs, 'commands'>, userId: UserId): Promise<KnownUser> => {
  const { state } = await commands.load(USER, USER.stream(userId));
  if (state.status === 'absent') throw new Error(`a session of ${userId}, who does not exist`);
  return state;
};

const NO_CODE = reject('second_factor_required', 'The user has a second factor: send its `code` to replace it.');
const WRONG_CODE = reject('invalid_request', 'code is wrong, expired or already used.', { param: 'code' });
const NOTHING_PENDING = reject('invalid_request', 'No second factor is pending: call POST /v1/auth/totp/enroll first.');

/**
 * Begins an enrollment, and replaces an unconfirmed one. If the user already has a second factor, `code` must be a valid code of it.
 * Rejects with `second_factor_required` if it is missing, and with `invalid_request` (param `code`) if it is wrong.
 */
export const enrolTotp =
  (needs: Needs) =>
  async (userId: UserId, code: string | undefined): Promise<NewSecondFactor | Rejection> => {
    const { accountId, email, secondFactorId: inForce } = await userOf(needs, userId);
    if (inForce !== null) {
      if (code === undefined) return NO_CODE;
      if (!(await useSecondFactor(needs, inForce, code))) return WRONG_CODE;
    }
    const secondFactorId = idIn<SecondFactorId>(accountId ?? PLATFORM_ACCOUNT, needs.randomness.bytes(16));
    return needs.secondFactors.begin({ secondFactorId, userId, label: email });
  };

const RECOVERY_CODES = 10;
const CODE_GROUP = /.{4}(?=.)/g;
/** Returns 16 characters of 5 bits each, in groups of four. */
const newRecoveryCode = (randomness: Randomness): string =>
  encodeRawId(randomness.bytes(16)).slice(-16).replace(CODE_GROUP, '$&-');

/**
 * Activates the pending factor and returns its recovery codes, which are shown once. This session continues; all others of the user end.
 * Rejects with `invalid_request` if no enrollment is pending or the code is wrong (param `code`), with `unauthorized` if the factor changed
 * in the meantime, and with `change_limit_reached`.
 */
export const confirmTotp =
  (needs: Needs) =>
  async (
    { sessionId, userId }: { readonly sessionId: SessionId; readonly userId: UserId },
    code: string,
    by: Changer,
  ): Promise<{ readonly recoveryCodes: readonly string[] } | Rejection> => {
    const { commands, accounts, randomness, secondFactors, sessions } = needs;
    const { accountId, secondFactorId: replaces, passwordId } = await userOf(needs, userId);
    const secondFactorId = await secondFactors.pendingOf(userId);
    if (secondFactorId === null || passwordId === null) return NOTHING_PENDING;
    if (!(await secondFactors.useCode(secondFactorId, code))) return WRONG_CODE;
    const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode(randomness));
    if (!(await secondFactors.confirm(secondFactorId, recoveryCodes))) return NOTHING_PENDING;
    const decide = enrolSecondFactor({ secondFactorId, replaces }, accounts.realNow());
    const metadata = metadataForChange(by, accountId, userId);
    const record = () => commands.execute(USER, USER.stream(userId), decide, metadata, limitsOf(by));
    // If only the answer was lost, the factor is in force. No later response has its recovery codes.
    const done = await record().catch((error: unknown) => {
      if (error instanceof AppendOutcomeUnknown) return record();
      throw error;
    });
    if (isRejection(done)) {
      await secondFactors.forget(secondFactorId); // no event names it
      return done;
    }
    await sessions.carryOver({ sessionId, passwordId, secondFactorId });
    if (replaces !== null) await secondFactors.forget(replaces);
    return { recoveryCodes };
  };

/** Removes the second factor and ends the user's sessions. Rejects with `not_found`. Without a second factor, only ends the sessions. */
export const resetSecondFactor =
  (
    needs: Pick<Needs, 'commands' | 'accounts' | 'sessions'> & {
      readonly secondFactors: Pick<SecondFactors, 'forget'>;
    },
  ) =>
  async (userId: UserId, by: Changer): Promise<KnownUser | Rejection> => {
    const { commands, accounts, secondFactors, sessions } = needs;
    const stream = USER.stream(userId);
    const { state } = await commands.load(USER, stream);
    const [accountId, replaced] = state.status === 'absent' ? [null, null] : [state.accountId, state.secondFactorId];
    // Sessions that the enrollment ended were opened without a factor. They are removed first, because the event would make them valid.
    if (replaced !== null) await sessions.endOfUser(userId);
    const metadata = metadataForChange(by, accountId, userId);
    const done = await commands.execute(USER, stream, decideReset(accounts.realNow()), metadata);
    if (isRejection(done)) return done;
    await sessions.endOfUser(userId);
    if (replaced !== null) await secondFactors.forget(replaced);
    return done.state as KnownUser;
  };
