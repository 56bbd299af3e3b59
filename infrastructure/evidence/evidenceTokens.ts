// The credentials in the URLs of evidence: JWTs with HS256 under a key of their own, derived from the secrets key that `kid` names. One is
// good for one method at one path. They are of real time, whatever a test clock says.
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../application/ports/clock.ts';
import type { EvidenceLinks, EvidenceUpload, EvidenceView } from '../../application/ports/evidenceStorage.ts';
import type { Randomness } from '../../application/ports/randomness.ts';
import { type EvidenceId, PREFIX } from '../../domain/kernel/ids.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { isSpelledAsIssued } from '../secrets/tokenSpelling.ts';

const ALGORITHM = 'HS256';
const NONCE_BYTES = 16;

/** Host-relative. A PUT sends the file, a GET gives it back. */
export const evidencePath = (evidenceId: EvidenceId): string => `/evidence/${PREFIX.evidence}${evidenceId}`;

interface Claims {
  readonly PUT: EvidenceUpload;
  readonly GET: EvidenceView;
}

/** Signs and reads the URLs of evidence. */
export class EvidenceTokens implements EvidenceLinks {
  readonly #keyring: SecretsKeyring;
  readonly #publicUrl: string;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  /** `publicUrl`: the deployment's, without a slash at its end. */
  constructor(keyring: SecretsKeyring, publicUrl: string, clock: Clock, randomness: Randomness) {
    this.#keyring = keyring;
    this.#publicUrl = publicUrl;
    this.#clock = clock;
    this.#randomness = randomness;
  }

  /** Returns the URL, good for so many seconds. */
  async urlFor<Method extends keyof Claims>(method: Method, of: Claims[Method], seconds: number): Promise<string> {
    const kid = this.#keyring.sealingId;
    const path = evidencePath(of.evidenceId);
    const token = await new SignJWT({ of } satisfies JWTPayload)
      .setProtectedHeader({ alg: ALGORITHM, kid })
      .setAudience(`${method} ${path}`)
      .setExpirationTime(this.#clock.now() / 1000 + seconds)
      .setJti(this.#randomness.bytes(NONCE_BYTES).toString('base64url'))
      .sign(this.#keyOf(kid));
    return `${this.#publicUrl}${path}?token=${token}`;
  }

  /** Returns what the token was signed for; null when it is none for this method at this path now. */
  async read<Method extends keyof Claims>(
    method: Method,
    evidenceId: EvidenceId,
    token: string,
  ): Promise<Claims[Method] | null> {
    if (!isSpelledAsIssued(token)) return null;
    const now = this.#clock.now();
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#keyOf(kid), {
        algorithms: [ALGORITHM],
        audience: `${method} ${evidencePath(evidenceId)}`,
        currentDate: new Date(now),
        requiredClaims: ['aud', 'exp', 'jti', 'of'],
      });
      // The library counts whole seconds.
      return (payload.exp as number) * 1000 > now ? (payload['of'] as Claims[Method]) : null;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  #keyOf(kid: string | undefined): Uint8Array {
    const key = kid === undefined ? null : this.#keyring.keyFor('evidence urls', kid);
    if (key === null) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}
