// Second factors in PostgreSQL: sealed TOTP secrets, and hashes of recovery codes.
import { hash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { SecondFactors } from '../../application/ports/secondFactors.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { SecondFactorId } from '../../domain/kernel/ids.ts';
import type { SecretsKeyring } from './keyring.ts';

/** Codes have six digits, a period of 30 seconds and HMAC-SHA-1, which every authenticator app supports. */
const ISSUER = 'Quita';
const SECRET_BYTES = 20;
const CODE = /^\d{6}$/;
/** Number of steps by which a code may be early or late. */
const WINDOW = 1;
/** Number of steps for which used steps are remembered: longer than any code is valid, on any process's clock. */
const STEPS_REMEMBERED = 20;

/** Binds a sealed secret to its factor. */
export const secondFactorContext = (secondFactorId: string): string => `second factor ${secondFactorId}`;

/** Removes the spaces and dashes that people type between groups. */
const bare = (code: string): string => code.replaceAll(/[\s-]/g, '').toLowerCase();
const recoveryHash = (secondFactorId: SecondFactorId, code: string): string =>
  hash('sha256', `${secondFactorId} ${bare(code)}`, 'hex');

/** The part that works without a secrets key. */
export const forgetsSecondFactors = (db: Sql): Pick<SecondFactors, 'forget'> => ({
  forget: async (secondFactorId) => {
    await db.query('DELETE FROM operations.second_factors WHERE id = $1', [secondFactorId]);
  },
});

/** Enrollment: a factor is pending until its first correct code confirms it. */
const enrolment = (db: SqlPool, keyring: SecretsKeyring): Pick<SecondFactors, 'begin' | 'pendingOf' | 'confirm'> => ({
  begin: async ({ secondFactorId, userId, label }) => {
    const secret = new Secret({ size: SECRET_BYTES });
    const { keyId, sealed } = keyring.seal('second factors', secondFactorContext(secondFactorId), secret.base32);
    await db.transaction(async (tx) => {
      await tx.query('DELETE FROM operations.second_factors WHERE user_id = $1 AND is_pending', [userId]);
      await tx.query('INSERT INTO operations.second_factors (id, user_id, key_id, sealed) VALUES ($1, $2, $3, $4)', [
        secondFactorId,
        userId,
        keyId,
        sealed,
      ]);
    });
    return { secret: secret.base32, otpauthUrl: new TOTP({ issuer: ISSUER, label, secret }).toString() };
  },
  pendingOf: async (userId) => {
    const { rows } = await db.query<{ id: SecondFactorId }>(
      'SELECT id FROM operations.second_factors WHERE user_id = $1 AND is_pending ORDER BY created_at DESC, id LIMIT 1',
      [userId],
    );
    return rows[0]?.id ?? null;
  },
  confirm: (secondFactorId, recoveryCodes) =>
    db.transaction(async (tx) => {
      const { rowCount } = await tx.query(
        'UPDATE operations.second_factors SET is_pending = false WHERE id = $1 AND is_pending',
        [secondFactorId],
      );
      if (rowCount === 0) return false;
      const hashes = recoveryCodes.map((code) => recoveryHash(secondFactorId, code));
      await tx.query('INSERT INTO operations.recovery_codes (hash, second_factor_id) SELECT unnest($1::text[]), $2', [
        hashes,
        secondFactorId,
      ]);
      return true;
    }),
});

export const secondFactors = (db: SqlPool, keyring: SecretsKeyring, clock: Clock): SecondFactors => {
  const secretOf = async (secondFactorId: SecondFactorId): Promise<Secret | null> => {
    const { rows } = await db.query<{ key_id: string; sealed: Buffer }>(
      'SELECT key_id, sealed FROM operations.second_factors WHERE id = $1',
      [secondFactorId],
    );
    if (!rows[0]) return null;
    const { key_id: keyId, sealed } = rows[0];
    return Secret.fromBase32(keyring.unseal('second factors', secondFactorContext(secondFactorId), { keyId, sealed }));
  };
  return {
    ...enrolment(db, keyring),
    useCode: async (secondFactorId, code) => {
      const token = bare(code);
      const secret = CODE.test(token) ? await secretOf(secondFactorId) : null;
      if (secret === null) return false;
      const totp = new TOTP({ secret });
      const timestamp = clock.now();
      const delta = totp.validate({ token, timestamp, window: WINDOW });
      if (delta === null) return false;
      const step = totp.counter({ timestamp }) + delta;
      // One statement, so that of two processes that get the same code at once, only one accepts it.
      const { rowCount } = await db.query(
        `UPDATE operations.second_factors
         SET used_steps = array_append(ARRAY(SELECT used FROM unnest(used_steps) used WHERE used > $3), $2)
         WHERE id = $1 AND NOT $2 = ANY (used_steps)`,
        [secondFactorId, step, step - STEPS_REMEMBERED],
      );
      return rowCount === 1;
    },
    useRecoveryCode: async (secondFactorId, code) => {
      const { rowCount } = await db.query(
        'DELETE FROM operations.recovery_codes WHERE hash = $1 AND second_factor_id = $2',
        [recoveryHash(secondFactorId, code), secondFactorId],
      );
      return rowCount === 1;
    },
    ...forgetsSecondFactors(db),
  };
};
