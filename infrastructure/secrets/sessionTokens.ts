// Session tokens are JWTs signed with HS256. Their key is derived from the secrets key that `kid` names, so SECRETS_KEY can be rotated
// while tokens are valid (rules D2, S6). The key is symmetric, because the issuer of a token is also its only reader.

import { errors, jwtVerify, SignJWT } from 'jose';
import type { SessionTokens } from '../../application/ports/logins.ts';
import type { Clock } from '../../application/ports/system.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { isRawId, type SessionId } from '../../domain/kernel/ids.ts';
import { USER } from '../../domain/user/user.ts';
import type { SecretsKeyring } from './keyring.ts';
import { isSpelledAsIssued } from './tokenSpelling.ts';

const ALGORITHM = 'HS256';
const AUDIENCE = 'quita dashboard';
/** Accepted difference between the clocks of two hosts. */
const SKEW_SECONDS = 30;
const CLAIMS = ['iss', 'aud', 'sub', 'exp', 'nbf', 'iat', 'jti', 'account', 'role'];

/** `issuer` is the deployment's public URL. Tokens use real time, independent of test clocks. */
export const sessionTokens = (keyring: SecretsKeyring, issuer: string, clock: Clock): SessionTokens => {
  const keyOf = (kid: string | undefined): Uint8Array => {
    const key = kid === undefined ? null : keyring.keyFor('session tokens', kid);
    if (key === null) throw new errors.JWKSNoMatchingKey();
    return key;
  };
  return {
    issue: ({ sessionId, userId, accountId, role }, lifetimeSeconds) => {
      const kid = keyring.sealingId;
      const now = Math.floor(clock.now() / 1000);
      return new SignJWT({ account: accountId === null ? null : ACCOUNT.idPrefix + accountId, role })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setSubject(USER.idPrefix + userId)
        .setIssuedAt(now)
        .setNotBefore(now)
        .setExpirationTime(now + lifetimeSeconds)
        .setJti(sessionId)
        .sign(keyOf(kid));
    },
    read: async (token) => {
      if (!isSpelledAsIssued(token)) return null;
      try {
        const { payload } = await jwtVerify(token, ({ kid }) => keyOf(kid), {
          algorithms: [ALGORITHM],
          typ: 'JWT',
          issuer,
          audience: AUDIENCE,
          clockTolerance: SKEW_SECONDS,
          currentDate: new Date(clock.now()),
          requiredClaims: CLAIMS,
        });
        return isRawId(payload.jti) ? (payload.jti as SessionId) : null;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
};
