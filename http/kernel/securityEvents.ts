// What an operator's watch wants to know, without personal data and keys: addresses are told as networks (/24, /48).

export type SecurityEvent =
  | {
      readonly security: 'authentication_failed';
      readonly reason: 'missing' | 'malformed' | 'unknown';
      readonly network: string;
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

export type TellSecurityEvent = (event: SecurityEvent) => void;
