// Identifies the connection of a callback by the secret in its path (rule V2).
import type { Request } from 'express';
import type { CallbackUseCases } from '../../../application/providers/callbacks.ts';
import { type ConnectionId, parseId } from '../../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import type { ProviderCaller } from '../../kernel/callers.ts';

/** The header with which a proxy states that it verified the client's certificate. */
export interface CertificateHeader {
  readonly name: string;
  readonly value: string;
}

/** The same answer for an unknown connection and for a wrong secret. */
const NO_CALLBACK = reject('not_found', 'There is no such route.');
const NO_CERTIFICATE = reject('client_certificate_required', 'This callback must come with a client certificate.');

/** The header counts only from a trusted proxy, because any other client could send it. */
const isVerified = (req: Request, header: CertificateHeader | null): boolean => {
  const trusts = req.app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return (
    header !== null &&
    trusts(req.socket.remoteAddress ?? '', 0) &&
    req.headers[header.name.toLowerCase()] === header.value
  );
};

export const providerCaller =
  ({ callbackSecrets }: Pick<CallbackUseCases, 'callbackSecrets'>, header: CertificateHeader | null) =>
  async (req: Request): Promise<ProviderCaller | Rejection> => {
    const { id = '', secret = '' } = req.params as { id?: string; secret?: string };
    const connectionId = parseId<ConnectionId>(id, PROVIDER_CONNECTION.idPrefix);
    if (connectionId === null || !(await callbackSecrets.accepts(connectionId, secret))) return NO_CALLBACK;
    if ((await callbackSecrets.requiresCertificate(connectionId)) && !isVerified(req, header)) return NO_CERTIFICATE;
    return { connectionId };
  };
