// Second factors of users: TOTP (RFC 6238) and recovery codes (rule D4). Operational data, kept like secrets. The user's events say which
// factor is in force. One that was not confirmed yet is pending.
import type { SecondFactorId, UserId } from '../../domain/kernel/ids.ts';

export interface NewSecondFactor {
  /** In base32, as authenticator apps take it. */
  readonly secret: string;
  readonly otpauthUrl: string;
}

export interface SecondFactors {
  /**
   * Makes a secret and stores it as the user's pending factor, in place of any other pending one. `label`: how an authenticator app names
   * the user.
   */
  begin(factor: {
    readonly secondFactorId: SecondFactorId;
    readonly userId: UserId;
    readonly label: string;
  }): Promise<NewSecondFactor>;
  /** Returns the user's pending factor, or null. */
  pendingOf(userId: UserId): Promise<SecondFactorId | null>;
  /**
   * Ends the pending state of a factor, and stores hashes of its recovery codes. To be called before the event that puts it in force.
   * Returns false if it is no longer pending: another enrolment took its place.
   */
  confirm(secondFactorId: SecondFactorId, recoveryCodes: readonly string[]): Promise<boolean>;
  /** Returns whether the TOTP code is one of this moment and was never used, in any process. From now on it was. */
  useCode(secondFactorId: SecondFactorId, code: string): Promise<boolean>;
  /** Returns whether this is a recovery code that was never used, in any process. From now on it was. */
  useRecoveryCode(secondFactorId: SecondFactorId, code: string): Promise<boolean>;
  /** Removes a factor, with its recovery codes. */
  forget(secondFactorId: SecondFactorId): Promise<void>;
}
