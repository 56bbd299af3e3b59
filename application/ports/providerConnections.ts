// The port to connections: the adapters of institutions, opened with their settings and secrets.
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ConnectionStatus, ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import type { Known, PaymentProvider, ReceivedPayment } from './paymentProvider.ts';
import type { PayoutRail } from './payoutRail.ts';

export interface ConnectionSecrets {
  readonly clientSecret: string;
  /** PEM; null without mTLS. */
  readonly privateKey: string | null;
  /** The last part of the callback URL (V2). */
  readonly callbackSecret: string;
}

/** An item that can't be read as a whole. `at`: null if its time can't be read either. */
export interface UnreadableItem {
  readonly id: string;
  readonly at: Timestamp | null;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly unreadable: readonly UnreadableItem[];
  /** Passed to the next call; null on the last page. */
  readonly next: string | null;
}

/** A Pix that the institution sent: a payout, a refund by `cashout`, or one that Quita did not request. */
export interface SentPayment {
  /** The id that Quita chose; otherwise the sender's own, or the end-to-end id. */
  readonly id: string;
  readonly endToEndId: string | null;
  readonly status: 'processing' | 'done' | 'refused';
  readonly amount: Minor;
  readonly at: Timestamp;
}

/** The institution's own records, for reconciliation. Periods have at most 24 hours, bounds included. */
export interface ProviderStatement {
  listReceived(from: Timestamp, to: Timestamp, cursor: string | null): Promise<Known<Page<ReceivedPayment>>>;
  /** Absent if the institution lists no sent payments; Quita then asks about each one. */
  listSent?(from: Timestamp, to: Timestamp, cursor: string | null): Promise<Known<Page<SentPayment>>>;
}

/** A reason to ask the institution, taken from a callback. Nothing in it is trusted. */
export type CallbackHint =
  | { readonly kind: 'received'; readonly endToEndId: string; readonly txid: string | null }
  /** `id`: the id that Quita chose for the payout or refund. */
  | { readonly kind: 'sent'; readonly id: string };

/** `testCall`: the institution only tests the URL. `notUnderstood`: kept and shown to operators. */
export type ReadCallback = readonly CallbackHint[] | 'testCall' | 'notUnderstood';

export interface CheckStep {
  /** Such as `token`, `scopes`, `clock`, `certificate`, `charge`, `webhook`. */
  readonly name: string;
  readonly isOk: boolean;
  /** One sentence for the operator. */
  readonly detail: string;
}

export interface OpenConnection {
  readonly terms: ConnectionTerms;
  readonly provider: PaymentProvider;
  /** null: the institution sends no Pix payments. */
  readonly rail: PayoutRail | null;
  readonly statement: ProviderStatement;
  readCallback(raw: string): ReadCallback;
  /** Registers the callback URL at the institution. Throws ProviderRefused with its reason. */
  registerWebhook(callbackUrl: string): Promise<void>;
  /** Returns the URL registered at the institution, or null. Throws ProviderRefused. */
  registeredWebhook(): Promise<string | null>;
  /** Yields the steps of `provider check` as they finish, except the callback of the webhook. Never throws. */
  check(): AsyncIterable<CheckStep>;
  /** The state of the circuit breaker: while open, calls fail at once without reaching the institution. */
  readonly circuit: () => 'closed' | 'open' | 'halfOpen';
  /** When the client certificate expires; null without one. */
  readonly certificateExpiresAt: Timestamp | null;
  close(): void;
}

/** The institution refused a request of an operator. The message says why. */
export class ProviderRefused extends Error {
  override name = 'ProviderRefused';
}

/** The connection can't be opened, because a secret is missing or its key is. The message says what is missing. */
export class ConnectionUnopened extends Error {
  override name = 'ConnectionUnopened';
}

/** The registry of connections in this process, at most a second behind the read model. */
export interface ProviderConnections {
  /** Returns the connection, or null if it is unknown, disabled or removed, or can't be opened, which is logged. */
  open(id: ConnectionId): Promise<OpenConnection | null>;
  /** Returns all connections that may be called: enabled and draining ones. */
  callable(): Promise<readonly OpenConnection[]>;
  /** Returns the status, or null if the connection is unknown. */
  statusOf(id: ConnectionId): Promise<ConnectionStatus | null>;
}
