// Webhook signing secrets: sealed at rest, outside the events (architecture §4).
import type { EndpointId } from '../../domain/kernel/ids.ts';
import type { Sql } from './sql.ts';

export interface WebhookSecrets {
  /**
   * Stores a secret, 64 hex characters, unless that version has one. Returns the stored secret of that version. Call it before the event
   * that names the version is written.
   */
  keep(endpointId: EndpointId, version: number, secret: string, tx?: Sql): Promise<string>;
  /** Returns the secret, or null if that version has none. */
  find(endpointId: EndpointId, version: number): Promise<string | null>;
  /** Deletes the secrets of versions before this one. */
  forgetBefore(endpointId: EndpointId, version: number): Promise<void>;
  /** Deletes all secrets of these endpoints. */
  forget(endpointIds: readonly EndpointId[], tx?: Sql): Promise<void>;
}
