// Events for an operator's monitoring, without secrets and personal data: a key is named by its fingerprint, a client's address as its
// network (/24, /48).
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';

export type SecurityEvent =
  | {
      readonly security: 'authentication_failed';
      readonly reason: 'missing' | 'malformed' | 'unknown';
      readonly network: string;
      readonly requestId: string;
    }
  /** Nobody has this address and password. Neither is told of. */
  | { readonly security: 'login_failed'; readonly network: string; readonly requestId: string }
  /** `user:usr_…`; the operator's request that reset it names the user, too. */
  | { readonly security: 'second_factor_enrolled'; readonly by: string; readonly requestId: string }
  | {
      readonly security: 'second_factor_reset';
      readonly by: string;
      /** `usr_…` */
      readonly user: string;
      readonly requestId: string;
    }
  /** Told once a minute for each key or address that goes on beyond its limit. */
  | {
      readonly security: 'rate_limited';
      readonly perMinute: number;
      /** `key:…`, or of an address what it asked for and its network. */
      readonly actor?: string;
      readonly of?: string;
      readonly network?: string;
      readonly requestId: string;
    }
  /** Told once. */
  | { readonly security: 'forwarding_header_untrusted'; readonly header: string };

/** A setting that somebody changed. */
export interface SettingChanged {
  /** As an operator reads it: `override secret`. */
  readonly setting: string;
  readonly account: AccountId;
  readonly mode: Mode;
  /** `key:…`, `user:usr_…` */
  readonly by: string;
  readonly requestId: string | null;
  /** Which ones of several. */
  readonly changed?: readonly string[];
  /** `we_…` */
  readonly endpointId?: string;
  /** `key_…` */
  readonly keyId?: string;
}

/** Whose request, for what (the ids of its path, under their names), and how it was answered. No values of its body. */
export interface OperatorRequest {
  readonly by: string;
  readonly operation: string;
  readonly [id: string]: unknown;
  readonly status: number;
  readonly requestId: string;
}

export type ReportSecurityEvent = (event: SecurityEvent) => void;
