// Connections of the adapter to the simulated institution or to a scripted one.
import type { InstrumentRequest } from '../../../../application/ports/paymentProvider.ts';
import type { OpenConnection } from '../../../../application/ports/providerConnections.ts';
import type { AccountId, ConnectionId, PaymentId, Tenant } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { addSeconds, fromMillis } from '../../../../domain/kernel/time.ts';
import type { ConnectionTerms } from '../../../../domain/providerConnection/connection.ts';
import type { PixApiNeeds } from '../../../../infrastructure/providers/pixApi/needs.ts';
import { openPixApi } from '../../../../infrastructure/providers/pixApi/pixApi.ts';
import { systemStopwatch } from '../../../../infrastructure/system/system.ts';
import type { Simulator } from '../../../simulators/pixApi/startSimulator.ts';

export const TENANT: Tenant = { accountId: '0'.repeat(25).concat('1') as AccountId, mode: 'live' };
export const TXID = 'quita0000000000000000000000001';
export const PIX_KEY = '5f84a4c5-c5cb-4599-9f13-000000000001';

export const requestOf = (change: Partial<InstrumentRequest> = {}): InstrumentRequest => {
  const now = fromMillis(Date.now());
  return {
    ...TENANT,
    txid: TXID,
    method: 'PIX',
    paymentId: '0'.repeat(25).concat('2') as PaymentId,
    amount: toMinor(3_700),
    currency: 'BRL',
    createdAt: now,
    expiresAt: addSeconds(now, 3_600),
    lifetimeSeconds: 3_600,
    debtor: null,
    note: null,
    sandbox: null,
    ...change,
  };
};

export interface Warning {
  readonly fields: object;
  readonly message: string;
}

export interface Opened extends OpenConnection {
  readonly warnings: readonly Warning[];
}

export const SECRET = 'segredo-do-cliente';

export const open = (
  terms: Partial<ConnectionTerms>,
  secrets: { readonly clientSecret?: string; readonly privateKey?: string | null } = {},
  needs: Partial<PixApiNeeds> = {},
): Opened => {
  const warnings: Warning[] = [];
  const connection = openPixApi(
    {
      connectionId: '0'.repeat(25).concat('3') as ConnectionId,
      kind: 'pix',
      preset: 'generic',
      name: 'Banco de teste',
      baseUrl: 'http://127.0.0.1:1',
      tokenUrl: 'http://127.0.0.1:1/oauth/token',
      clientId: 'cliente',
      pixKey: PIX_KEY,
      certificate: null,
      ca: null,
      accountId: null,
      methods: ['PIX'],
      order: 0,
      requireClientCertificate: false,
      allowPrivate: true,
      ...terms,
    },
    { clientSecret: SECRET, privateKey: null, callbackSecret: 'retorno', ...secrets },
    {
      clock: { now: () => Date.now() },
      stopwatch: systemStopwatch,
      log: { warn: (fields, message) => void warnings.push({ fields, message }) },
      claims: async () => true,
      ...needs,
    },
  );
  return { ...connection, warnings };
};

/** Opens a connection for the simulator's first client. */
export const openAt = (
  simulator: Simulator,
  terms: Partial<ConnectionTerms> = {},
  needs: Partial<PixApiNeeds> = {},
): Opened => {
  const { clientId, clientSecret, pixKey } = simulator.clients[0] as Simulator['clients'][number];
  const { baseUrl, tokenUrl, ca, clientCertificate: certificate, clientKey: privateKey } = simulator;
  return open({ baseUrl, tokenUrl, clientId, pixKey, ca, certificate, ...terms }, { clientSecret, privateKey }, needs);
};
