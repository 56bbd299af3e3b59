// The credentials in the URLs of evidence: sealed under a key derived from the secrets key, so that a link tells its reader nothing of
// accounts and hashes. One is good for one method at one path, until a moment of real time, whatever a test clock says.
import type { Clock } from '../../application/ports/clock.ts';
import type { EvidenceLinks, EvidenceUpload, EvidenceView } from '../../application/ports/evidenceStorage.ts';
import { type EvidenceId, PREFIX } from '../../domain/kernel/ids.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';

const KEY_ID_BYTES = 8;

/** Host-relative. A PUT sends the file, a GET gives it back. */
const evidencePath = (evidenceId: EvidenceId): string => `/evidence/${PREFIX.evidence}${evidenceId}`;

interface Claims {
  readonly PUT: EvidenceUpload;
  readonly GET: EvidenceView;
}
/** `until`: milliseconds since 1970. */
interface Content<Claim> {
  readonly of: Claim;
  readonly until: number;
}

/** Makes and reads the URLs of evidence. */
export class EvidenceTokens implements EvidenceLinks {
  readonly #keyring: SecretsKeyring;
  readonly #publicUrl: string;
  readonly #clock: Clock;

  /** `publicUrl`: the deployment's, without a slash at its end. */
  constructor(keyring: SecretsKeyring, publicUrl: string, clock: Clock) {
    this.#keyring = keyring;
    this.#publicUrl = publicUrl;
    this.#clock = clock;
  }

  /** Returns the URL, good for so many seconds. */
  async urlFor<Method extends keyof Claims>(method: Method, of: Claims[Method], seconds: number): Promise<string> {
    const path = evidencePath(of.evidenceId);
    const content: Content<Claims[Method]> = { of, until: this.#clock.now() + seconds * 1_000 };
    const { keyId, sealed } = this.#keyring.seal('evidence urls', `${method} ${path}`, JSON.stringify(content));
    const token = Buffer.concat([Buffer.from(keyId, 'hex'), sealed]).toString('base64url');
    return `${this.#publicUrl}${path}?token=${token}`;
  }

  /** Returns what the token was made for, or null if it is not valid for this method at this path now. */
  async read<Method extends keyof Claims>(
    method: Method,
    evidenceId: EvidenceId,
    token: string,
  ): Promise<Claims[Method] | null> {
    const bytes = Buffer.from(token, 'base64url');
    // Decoders ignore some bits of the last character: other spellings of a token are not the token.
    if (bytes.toString('base64url') !== token) return null;
    const of = { keyId: bytes.toString('hex', 0, KEY_ID_BYTES), sealed: bytes.subarray(KEY_ID_BYTES) };
    const content = this.#open<Claims[Method]>(`${method} ${evidencePath(evidenceId)}`, of);
    return content !== null && this.#clock.now() < content.until ? content.of : null;
  }

  #open<Claim>(context: string, sealed: Parameters<SecretsKeyring['unseal']>[2]): Content<Claim> | null {
    try {
      return JSON.parse(this.#keyring.unseal('evidence urls', context, sealed));
    } catch {
      return null;
    }
  }
}
