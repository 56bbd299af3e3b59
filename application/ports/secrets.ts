// Webhook signing secrets: sealed at rest, outside the events (architecture §4).
import type { EndpointId } from '../../domain/kernel/ids.ts';
import type { Sql } from './sql.ts';

export interface WebhookSecrets {
  /**
   * Stores a secret, 64 hex characters, and returns the secret of that version: the first one that was stored for it. To be called before
   * the event that names the version is written.
   */
  keep(endpointId: EndpointId, version: number, secret: string, tx?: Sql): Promise<string>;
  /** Returns null when that version has no secret. */
  find(endpointId: EndpointId, version: number): Promise<string | null>;
}
