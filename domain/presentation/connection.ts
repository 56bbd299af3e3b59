// A provider connection as operators see it. It contains no secret. The callback URL contains one, so it is shown only when it is made.
import { ACCOUNT } from '../account/account.ts';
import type { PaymentMethod } from '../charge/methods.ts';
import { DAY_MS, type Timestamp, toMillis } from '../kernel/time.ts';
import { type Connection, PROVIDER_CONNECTION } from '../providerConnection/aggregate.ts';
import type { ConnectionStatus } from '../providerConnection/connection.ts';

/** Facts for operators in addition to the connection's own. */
export interface ConnectionSurroundings {
  /** The worst state of its circuit breakers among all processes. */
  readonly circuit: 'closed' | 'open' | 'halfOpen';
  /** null without a client certificate. */
  readonly certificateExpiresAt: Timestamp | null;
  /** Number of payments that are not final. */
  readonly openPayments: number;
  readonly openPayouts: number;
}

export interface ConnectionView extends Omit<ConnectionSurroundings, 'certificateExpiresAt'> {
  readonly id: string;
  readonly status: ConnectionStatus;
  readonly kind: string;
  readonly preset: string;
  readonly name: string;
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly pixKey: string;
  /** null: all accounts. */
  readonly accountId: string | null;
  readonly methods: readonly PaymentMethod[];
  readonly order: number;
  readonly requireClientCertificate: boolean;
  readonly allowPrivate: boolean;
  /** null without a client certificate. `daysLeft` is negative once it has expired. */
  readonly certificate: { readonly expiresAt: Timestamp; readonly daysLeft: number } | null;
  /** Whether it has its own certificate authorities. */
  readonly hasCa: boolean;
  /** Until when the previous callback URL works; null without a previous one. */
  readonly previousCallbackUntil: Timestamp | null;
  readonly addedAt: Timestamp;
  readonly changedAt: Timestamp;
}

export const connectionView = (
  { status, terms, previousCallback, addedAt, changedAt }: Connection,
  { certificateExpiresAt: expiresAt, ...around }: ConnectionSurroundings,
  now: Timestamp,
): ConnectionView => {
  const { connectionId, accountId, certificate: _, ca, ...settings } = terms;
  return {
    id: PROVIDER_CONNECTION.idPrefix + connectionId,
    status,
    ...settings,
    accountId: accountId && ACCOUNT.idPrefix + accountId,
    certificate: expiresAt && {
      expiresAt,
      daysLeft: Math.floor((toMillis(expiresAt) - toMillis(now)) / DAY_MS),
    },
    hasCa: ca !== null,
    ...around,
    previousCallbackUntil: previousCallback !== null && now < previousCallback.until ? previousCallback.until : null,
    addedAt,
    changedAt,
  };
};

/** Days before its end from which operators are warned about a certificate. */
const CERTIFICATE_WARNING_DAYS = 30;

/** Returns what operators should do about the connections, one sentence each. Empty if there is nothing to do. */
export const connectionWarnings = (views: readonly ConnectionView[]): readonly string[] =>
  views.flatMap(({ id, name, status, circuit, certificate, openPayments, openPayouts }) => {
    const waiting = openPayments + openPayouts;
    const which = `${id} (${name})`;
    const warnings: string[] = [];
    if (status === 'disabled' && waiting > 0)
      warnings.push(`${which} is disabled, and payments or payouts wait for it (${waiting}): provider enable or drain`);
    if (status !== 'disabled' && circuit !== 'closed')
      warnings.push(`${which} does not answer, its circuit breaker is open: provider check`);
    if (certificate !== null && certificate.daysLeft < CERTIFICATE_WARNING_DAYS)
      warnings.push(`the client certificate of ${which} has ${certificate.daysLeft} days left: provider set`);
    return warnings;
  });
