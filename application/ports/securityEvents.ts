// Security events for operators' monitoring, without secrets and personal data. A key appears as its fingerprint, a client's address as its
// network (/24 or /48).
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export type SecurityEvent =
  | {
      readonly security: 'authentication_failed';
      readonly reason: 'missing' | 'malformed' | 'unknown';
      readonly network: string;
      readonly requestId: string;
    }
  /** The email address and password don't match. The event contains neither. */
  | { readonly security: 'login_failed'; readonly network: string; readonly requestId: string }
  /** `by`: `user:usr_…`. */
  | { readonly security: 'second_factor_enrolled'; readonly by: string; readonly requestId: string }
  | {
      readonly security: 'second_factor_reset';
      readonly by: string;
      /** `usr_…` */
      readonly user: string;
      readonly requestId: string;
    }
  /** Reported once a minute for each key or address that keeps exceeding its limit. */
  | {
      readonly security: 'rate_limited';
      readonly perMinute: number;
      /** `key:…`. For an address, `of` (the requested operation) and `network` are set instead. */
      readonly actor?: string;
      readonly of?: string;
      readonly network?: string;
      readonly requestId: string;
    }
  /** Reported once per process. */
  | { readonly security: 'forwarding_header_untrusted'; readonly header: string };

/** A changed setting. */
export interface SettingChanged {
  /** The name shown to operators, such as `override secret`. */
  readonly setting: string;
  readonly account: AccountId;
  readonly mode: Mode;
  /** `key:…`, `user:usr_…` */
  readonly by: string;
  readonly requestId: string | null;
  /** The changed fields, if the setting has several. */
  readonly changed?: readonly string[];
  /** `we_…` */
  readonly endpointId?: string;
  /** `key_…` */
  readonly keyId?: string;
}

/** An operator's request: author, operation, ids of its path by name, and status. Without values of its body. */
export interface OperatorRequest {
  readonly by: string;
  readonly operation: string;
  readonly [id: string]: unknown;
  readonly status: number;
  readonly requestId: string;
}

/** A line of the security log. */
export interface SecurityLine {
  readonly at: Timestamp;
  /** The kind of event. */
  readonly security: string;
  /** A stable phrase. */
  readonly text: string;
  readonly details: { readonly [name: string]: unknown };
}

export type ReportSecurityEvent = (event: SecurityEvent) => void;
