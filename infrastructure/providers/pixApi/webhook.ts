// The callback URL at the institution: PUT and GET of /webhook/{chave}.
import { ProviderRefused } from '../../../application/ports/providerConnections.ts';
import type { Connection } from './charges.ts';
import type { Call, Reply } from './client.ts';
import { textAt } from './reading.ts';

const call = (
  { client, preset, terms }: Connection,
  given: Pick<Call, 'method' | 'body' | 'headers'>,
): Promise<Reply> =>
  client.call({ ...given, path: `/webhook/${encodeURIComponent(terms.pixKey)}`, scopes: preset.scopes.webhook });

const reasonOf = (reply: Exclude<Reply, { kind: 'ok' }>): string =>
  'reason' in reply ? reply.reason : `The institution gave no answer (${reply.why}).`;

/** Throws ProviderRefused with the institution's reason. */
export const registerWebhook = async (connection: Connection, webhookUrl: string): Promise<void> => {
  const headers = connection.preset.webhookHeaders(connection.terms);
  const reply = await call(connection, { method: 'PUT', body: { webhookUrl }, headers });
  if (reply.kind !== 'ok') throw new ProviderRefused(reasonOf(reply));
};

/** Returns the registered URL, or null. Throws ProviderRefused with the institution's reason. */
export const registeredWebhook = async (connection: Connection): Promise<string | null> => {
  const reply = await call(connection, { method: 'GET' });
  if (reply.kind === 'absent') return null;
  if (reply.kind !== 'ok') throw new ProviderRefused(reasonOf(reply));
  return textAt(reply.body, 'webhookUrl');
};
