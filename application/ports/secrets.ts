// Webhook signing secrets: sealed at rest, outside the events (architecture §4).
import type { EndpointId } from '../../domain/kernel/ids.ts';
import type { Sql } from './sql.ts';

export interface WebhookSecrets {
  /** Written before the event that names the version. The same version twice keeps the first. Returns what stands: 64 hex characters. */
  keep(endpointId: EndpointId, version: number, secret: string, tx?: Sql): Promise<string>;
  /** null: there is none of that version. */
  find(endpointId: EndpointId, version: number): Promise<string | null>;
}
