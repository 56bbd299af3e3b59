// External needs of operators' work on provider connections: stored secrets, checks of URLs and certificates, and calls.

import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ConnectionView } from '../../domain/presentation/connection.ts';
import type { Connection } from '../../domain/providerConnection/aggregate.ts';
import type { ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import type { SecretKind, StoredSecret } from '../../domain/providerConnection/secrets.ts';
import type { SettingProblem } from '../../domain/providerConnection/settingProblems.ts';
import type { OpenConnection } from './providerConnections.ts';

/** The sealed secrets of connections, apart from the events. */
export interface ConnectionVault {
  /**
   * Stores a secret and returns its version, which is higher than all before. Call it before the event that names the version is written.
   */
  keep(connectionId: ConnectionId, kind: SecretKind, secret: string): Promise<number>;
  /** Returns the secret, or null if that version has none. */
  find(connectionId: ConnectionId, kind: SecretKind, version: number): Promise<string | null>;
  /** Returns the kinds and versions of all secrets of a connection. Needs no key. */
  stored(connectionId: ConnectionId): Promise<readonly StoredSecret[]>;
  /** Deletes the versions of a secret below this one. */
  forgetBefore(connectionId: ConnectionId, kind: SecretKind, version: number): Promise<void>;
  /** Deletes all secrets of a connection. */
  forget(connectionId: ConnectionId): Promise<void>;
}

export interface ConnectionRules {
  /** The names of presets. */
  readonly presets: readonly string[];
  /** Returns the first problem of the settings, or null. `privateKey`: PEM; null without mTLS. */
  judge(terms: ConnectionTerms, privateKey: string | null): SettingProblem | null;
  /** Returns when a client certificate expires. */
  expiryOf(certificate: string): Timestamp;
}

export interface ConnectionTool {
  /**
   * Opens a connection of any status, apart from the registry's. The caller closes it. Throws ConnectionUnopened or ProviderRefused.
   */
  open(connection: Connection): Promise<OpenConnection>;
  /** Returns the URL to which the institution sends callbacks (V2). */
  callbackUrl(connectionId: ConnectionId, secret: string): string;
}

export type Circuit = ConnectionView['circuit'];

/** The circuit breakers of all processes. */
export interface Circuits {
  /** Returns the worst state of each connection whose circuit is not closed somewhere. */
  states(): Promise<ReadonlyMap<ConnectionId, Circuit>>;
}
