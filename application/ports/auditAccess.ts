// Access to the audit log, and the external places that receive its checkpoints.
import { isEmailAddress } from '../../domain/kernel/email.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

/** An auditor's token, without its secret. */
export interface AuditToken {
  /** 16 hex characters. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: Timestamp;
  readonly revokedAt: Timestamp | null;
}

export interface AuditTokens {
  /** Returns null if a token has the id. `hash`: the SHA-256 of the token, 64 hex characters. */
  add(id: string, name: string, hash: string): Promise<AuditToken | null>;
  list(): Promise<readonly AuditToken[]>;
  /** Returns the token with this hash, or null if it doesn't exist or was revoked. */
  find(hash: string): Promise<AuditToken | null>;
  /** Returns the token, also if it was revoked before; null if it doesn't exist. */
  revoke(id: string): Promise<AuditToken | null>;
}

/** The destination of an anchor's checkpoints. */
export type AnchorPlace =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'email'; readonly address: string };

/** Returns the place that an anchor names, or null if it is invalid. A misspelt URL must not become the name of a file. */
export const anchorPlace = (anchor: string): AnchorPlace | null => {
  const [, scheme] = /^([a-z][a-z\d+.-]+):/i.exec(anchor) ?? [];
  if (scheme === 'https') return URL.canParse(anchor) ? { kind: 'url', url: anchor } : null;
  const address = scheme === 'mailto' ? anchor.slice('mailto:'.length) : anchor;
  if (isEmailAddress(address)) return { kind: 'email', address };
  return scheme === undefined ? { kind: 'file', path: anchor } : null;
};

/** The progress of an anchor. */
export interface AnchorState {
  readonly anchor: string;
  /** Size of the last checkpoint that it received; 0 if none. */
  readonly size: number;
  readonly sentAt: Timestamp | null;
  readonly failures: number;
  readonly retryAt: Timestamp | null;
  readonly error: string | null;
}

export interface AuditAnchors {
  /** Returns the states of these anchors, in their order. */
  states(anchors: readonly string[]): Promise<readonly AnchorState[]>;
  received(anchor: string, size: number): Promise<void>;
  failed(anchor: string, error: string, retryAt: Timestamp): Promise<void>;
  /** Appends a note to a file, durably. Throws after 10 s. */
  append(path: string, note: string): Promise<void>;
  /** Returns the last 64 KiB of a file, or null if it can't be read within 10 s. */
  endOf(path: string): Promise<string | null>;
}

/** Settings of the deployment. */
export interface AuditSettings {
  /** Whether everybody may read checkpoints and hash tiles. Entries always need a token. */
  readonly isPublic: boolean;
  /** The vkeys of known witnesses. */
  readonly witnesses: readonly string[];
  /** File paths, https URLs and email addresses (`anchorPlace`). */
  readonly anchors: readonly string[];
  /** Whether webhooks of `charge.paid` carry the latest checkpoint. */
  readonly inWebhooks: boolean;
}
