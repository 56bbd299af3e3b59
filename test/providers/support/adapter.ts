// Opens the live adapter as the program does, for one client of the simulated institution.
import type { ConnectionSecrets, OpenConnection } from '../../../application/ports/providerConnections.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { openPixApi } from '../../../infrastructure/providers/pixApi/pixApi.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';

const SECRETS: ConnectionSecrets = { clientSecret: 'a secret', privateKey: null, callbackSecret: 'a callback secret' };
const TERMS: ConnectionTerms = {
  connectionId: 'pc_00000000000000000000000001' as ConnectionId,
  kind: 'pix',
  preset: 'generic',
  name: 'Judged',
  baseUrl: '',
  tokenUrl: '',
  clientId: 'a client',
  pixKey: '',
  certificate: null,
  ca: null,
  accountId: null,
  methods: ['PIX'],
  order: 1,
  requireClientCertificate: false,
  allowPrivate: true,
};

export const openAdapter = (terms: Partial<ConnectionTerms>, clientSecret = SECRETS.clientSecret): OpenConnection => {
  const claimed = new Map<string, string>();
  return openPixApi(
    { ...TERMS, ...terms },
    { ...SECRETS, clientSecret },
    {
      clock: Date,
      stopwatch: systemStopwatch,
      log: { warn: () => undefined },
      claims: (endToEndId, paymentId) => {
        const first = claimed.get(endToEndId) ?? paymentId;
        claimed.set(endToEndId, first);
        return Promise.resolve(first === paymentId);
      },
      // Otherwise the circuit breaker would block calls after a few bad answers in a row.
      timeouts: { breakerPauseMs: 0 },
    },
  );
};
