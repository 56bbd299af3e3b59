// Opens a connection to an institution that offers the central bank's API Pix 2.9.0 (docs/pix.md).
import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import {
  type ConnectionSecrets,
  type OpenConnection,
  ProviderRefused,
  type ProviderStatement,
} from '../../../application/ports/providerConnections.ts';
import { fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { Breaker } from './breaker.ts';
import { readCallback } from './callbacks.ts';
import { Charges, type Connection } from './charges.ts';
import { checkConnection } from './check.ts';
import { PixClient } from './client.ts';
import { type PixApiNeeds, TIMEOUTS } from './needs.ts';
import { Payouts } from './payouts.ts';
import { presetNamed } from './presets/presets.ts';
import { PixApiProvider } from './provider.ts';
import { ReceivedPix } from './received.ts';
import { Returns } from './returns.ts';
import { Tokens } from './token.ts';
import { openTransport } from './transport.ts';
import { registeredWebhook, registerWebhook } from './webhook.ts';

export { PRESETS } from './presets/presets.ts';

/**
 * Opens a connection without calling the institution. Throws ProviderRefused for an unknown preset, or if the certificate, the private key
 * and the authorities don't fit together.
 */
export const openPixApi = (terms: ConnectionTerms, secrets: ConnectionSecrets, needs: PixApiNeeds): OpenConnection => {
  const preset = presetNamed(terms.preset);
  if (preset === null) throw new ProviderRefused(`There is no preset "${terms.preset}".`);
  const { clock, stopwatch, log, claims } = needs;
  const timeouts = { ...TIMEOUTS, ...needs.timeouts };
  const { secureContext, certificateExpiresAt } = identityOf(terms, secrets);
  const transport = openTransport({ secureContext, allowPrivate: terms.allowPrivate, timeouts });
  const tokens = new Tokens({ terms, clientSecret: secrets.clientSecret, preset, transport, stopwatch });
  const breaker = new Breaker(stopwatch, timeouts.breakerPauseMs);
  const hidden = [secrets.clientSecret, secrets.callbackSecret];
  const client = new PixClient({ terms, preset, tokens, transport, breaker, log, clock, secrets: hidden });
  const { formerKeys = [], movedKeys = [] } = needs;
  const connection: Connection = { terms, preset, client, keys: [terms.pixKey, ...formerKeys], movedKeys };
  const charges = new Charges(connection);
  const received = new ReceivedPix(connection, charges, needs);
  const payouts = preset.payout === null ? null : new Payouts(connection, preset.payout);
  const statement: ProviderStatement = {
    listReceived: (from, to, cursor) => received.list(from, to, cursor),
    ...(payouts && { listSent: (from, to, cursor) => payouts.list(from, to, cursor) }),
  };
  return {
    terms,
    provider: new PixApiProvider({ connection, charges, received, returns: new Returns(connection), payouts, claims }),
    rail: payouts,
    statement,
    readCallback,
    registerWebhook: (url) => registerWebhook(connection, url),
    registeredWebhook: () => registeredWebhook(connection),
    check: () => checkConnection({ connection, tokens, charges, certificateExpiresAt, clock }),
    circuit: () => breaker.circuit,
    certificateExpiresAt,
    close: () => transport.close(),
  };
};

const identityOf = (
  { certificate, ca }: ConnectionTerms,
  { privateKey }: ConnectionSecrets,
): { readonly secureContext: SecureContext; readonly certificateExpiresAt: Timestamp | null } => {
  try {
    return {
      secureContext: createSecureContext({
        ...(certificate !== null && { cert: certificate }),
        ...(privateKey !== null && { key: privateKey }),
        ...(ca !== null && { ca }),
      }),
      certificateExpiresAt:
        certificate === null ? null : fromMillis(Date.parse(new X509Certificate(certificate).validTo)),
    };
  } catch {
    // OpenSSL's message may quote the files.
    throw new ProviderRefused(
      'The certificate, the private key or the authorities are not valid PEM, or do not match.',
    );
  }
};
