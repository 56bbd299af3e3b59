// Second factors of users: TOTP (RFC 6238) and recovery codes (rule D4). Operational data, stored like secrets. The user's events say which
// factor is valid. An unconfirmed factor is pending.
import type { SecondFactorId, UserId } from '../../domain/kernel/ids.ts';

export interface NewSecondFactor {
  /** In base32, as authenticator apps expect it. */
  readonly secret: string;
  readonly otpauthUrl: string;
}

export interface SecondFactors {
  /**
   * Makes a secret and stores it as the user's pending factor, replacing any other pending one. `label`: the user's name in authenticator
   * apps.
   */
  begin(factor: {
    readonly secondFactorId: SecondFactorId;
    readonly userId: UserId;
    readonly label: string;
  }): Promise<NewSecondFactor>;
  /** Returns the user's pending factor, or null. */
  pendingOf(userId: UserId): Promise<SecondFactorId | null>;
  /**
   * Ends the pending state of a factor and stores hashes of its recovery codes. Call it before the event that makes the factor valid.
   * Returns false if the factor is no longer pending because another enrollment replaced it.
   */
  confirm(secondFactorId: SecondFactorId, recoveryCodes: readonly string[]): Promise<boolean>;
  /** Returns whether the TOTP code is currently valid and unused, in all processes, and marks it as used. */
  useCode(secondFactorId: SecondFactorId, code: string): Promise<boolean>;
  /** Returns whether the recovery code is valid and unused, in all processes, and marks it as used. */
  useRecoveryCode(secondFactorId: SecondFactorId, code: string): Promise<boolean>;
  /** Removes a factor and its recovery codes. */
  forget(secondFactorId: SecondFactorId): Promise<void>;
}
