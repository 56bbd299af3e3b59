// A connection to a bank or payment institution: an operator sets it up for live payments (rules V1–V7). Its secrets are kept apart from
// the events, sealed.
import type { PaymentMethod } from '../charge/methods.ts';
import type { AccountId, ConnectionId } from '../kernel/ids.ts';

/** Settings that an operator may change. */
export interface ConnectionSettings {
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The receiver's Pix key. */
  readonly pixKey: string;
  /** PEM of the client certificate for mTLS; its private key is a secret. */
  readonly certificate: string | null;
  /** PEM of the authorities that sign the institution's certificate; null: those of Node. */
  readonly ca: string | null;
  /** The only account that may use it; null: all accounts. */
  readonly accountId: AccountId | null;
  readonly methods: readonly PaymentMethod[];
  /** Connections with a lower order are tried first (V7). */
  readonly order: number;
  /** Whether callbacks must come with a client certificate, which a proxy in front of Quita checks. */
  readonly requireClientCertificate: boolean;
  /** Whether private addresses and plain http are allowed. Never in production. */
  readonly allowPrivate: boolean;
}

export interface ConnectionTerms extends ConnectionSettings {
  readonly connectionId: ConnectionId;
  readonly kind: 'pix';
  /** The institution's preset, such as `generic` or `efi`. */
  readonly preset: string;
}

/** V5. `enabled`: takes new payments; `draining`: takes no new ones; `disabled`: makes no calls at all. */
export type ConnectionStatus = 'enabled' | 'draining' | 'disabled' | 'removed';
