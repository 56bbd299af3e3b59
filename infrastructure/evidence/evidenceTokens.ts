// The tokens in evidence URLs. They are sealed with a key derived from the secrets key, so that a link reveals nothing about accounts and
// hashes. A token is valid for one method and path, until a moment of real time, independent of test clocks.

import type { EvidenceLinks, EvidenceUpload, EvidenceView } from '../../application/ports/evidenceStorage.ts';
import type { Clock } from '../../application/ports/system.ts';
import { type EvidenceId, PREFIX } from '../../domain/kernel/ids.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';

const KEY_ID_BYTES = 8;

/** Returns the path on this host. PUT uploads the file, GET downloads it. */
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

/** Creates and reads evidence URLs. */
export class EvidenceTokens implements EvidenceLinks {
  readonly #keyring: SecretsKeyring;
  readonly #publicUrl: string;
  readonly #clock: Clock;

  /** `publicUrl`: the deployment's public URL, without a trailing slash. */
  constructor(keyring: SecretsKeyring, publicUrl: string, clock: Clock) {
    this.#keyring = keyring;
    this.#publicUrl = publicUrl;
    this.#clock = clock;
  }

  /** Returns a URL that is valid for `seconds`. */
  async urlFor<Method extends keyof Claims>(method: Method, of: Claims[Method], seconds: number): Promise<string> {
    const path = evidencePath(of.evidenceId);
    const content: Content<Claims[Method]> = { of, until: this.#clock.now() + seconds * 1_000 };
    const { keyId, sealed } = this.#keyring.seal('evidence urls', `${method} ${path}`, JSON.stringify(content));
    const token = Buffer.concat([Buffer.from(keyId, 'hex'), sealed]).toString('base64url');
    return `${this.#publicUrl}${path}?token=${token}`;
  }

  /** Returns the token's content, or null if the token is not valid now for this method and path. */
  async read<Method extends keyof Claims>(
    method: Method,
    evidenceId: EvidenceId,
    token: string,
  ): Promise<Claims[Method] | null> {
    const bytes = Buffer.from(token, 'base64url');
    // Decoders ignore some bits of the last character, so other spellings of a token are rejected.
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
