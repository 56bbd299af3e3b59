// Starts a simulated institution inside this process.
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Authority } from './authority.ts';
import { Bank } from './bank.ts';
import type { ClientSpec } from './books.ts';
import { Control } from './control.ts';
import { controlListener } from './controlServer.ts';
import { SCOPES } from './routes.ts';
import { apiListener, TOKEN_PATH } from './server.ts';
import type { Settings } from './settings.ts';

export interface SimulatorOptions {
  /** `none` (default): plain http. `server`: https. `mutual` (mTLS): https, and calls without the client certificate fail. */
  readonly tls?: 'none' | 'server' | 'mutual';
  /** Keys and certificates from `makeAuthority`. Default: fresh ones. */
  readonly authority?: Authority;
  /** Default: one client. */
  readonly clients?: readonly Partial<ClientSpec>[];
  readonly settings?: Partial<Settings>;
  /** Default: any free port. */
  readonly port?: number;
  readonly controlPort?: number;
  /** The authority of https webhooks, in PEM. Default: the system’s and the simulator’s own. */
  readonly callbackCa?: string;
}

interface SimulatedClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly pixKey: string;
}

const HOST = '127.0.0.1';
/** Returns `n` as digits, for fictitious CNPJs and Pix keys that differ between clients. */
const numbered = (n: number, length: number): string => String(n).padStart(length, '0');

const clientSpec = (given: Partial<ClientSpec>, i: number): ClientSpec => ({
  clientId: `simulated-client-${i + 1}`,
  clientSecret: `simulated-secret-${i + 1}`,
  pixKeys: [`5f84a4c5-c5cb-4599-9f13-${numbered(i + 1, 12)}`],
  scopes: SCOPES,
  name: `RECEBEDOR DE TESTE ${i + 1}`,
  city: 'SAO PAULO',
  document: `9999900${numbered(i + 1, 7)}`,
  openingBalance: 0,
  ...given,
});

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });
const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** A running simulator with its control actions. */
export class Simulator extends Control {
  /** The base of all paths, which have an optional `/v2`. Efí’s paths are `/v2/gn/…` and `/v3/gn/…`. */
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly controlUrl: string;
  /** In PEM. Null without TLS, as are the client’s certificate and key. */
  readonly ca: string | null;
  readonly clientCertificate: string | null;
  readonly clientKey: string | null;
  readonly clients: readonly SimulatedClient[];
  readonly #close: () => Promise<void>;

  constructor(bank: Bank, origin: string, controlUrl: string, authority: Authority | null, close: () => Promise<void>) {
    super(bank);
    this.baseUrl = origin;
    this.tokenUrl = origin + TOKEN_PATH;
    this.controlUrl = controlUrl;
    this.ca = authority?.ca ?? null;
    this.clientCertificate = authority?.clientCertificate ?? null;
    this.clientKey = authority?.clientKey ?? null;
    this.clients = [...bank.accounts.values()].map(({ client: { clientId, clientSecret, pixKeys } }) => ({
      clientId,
      clientSecret,
      pixKey: pixKeys[0] as string,
    }));
    this.#close = close;
  }

  /** Cuts every connection and discards pending callbacks. */
  close(): Promise<void> {
    return this.#close();
  }
}

const apiServer = (listener: RequestListener, authority: Authority | null, isMutual: boolean): Server =>
  authority === null
    ? createHttpServer(listener)
    : createHttpsServer(
        {
          key: authority.serverKey,
          cert: authority.serverCertificate,
          ca: authority.ca,
          requestCert: isMutual,
          rejectUnauthorized: isMutual,
        },
        listener,
      );

export const startSimulator = async (options: SimulatorOptions = {}): Promise<Simulator> => {
  const { tls = 'none', clients = [{}], settings = {}, port = 0, controlPort = 0, callbackCa } = options;
  const authority = tls === 'none' ? null : (options.authority ?? (await import('./authority.ts')).makeAuthority());
  const bank = new Bank(clients.map(clientSpec), settings, {
    ca: callbackCa ?? authority?.ca,
    certificate: authority?.clientCertificate,
    privateKey: authority?.clientKey,
  });
  const api = apiServer(apiListener(bank), authority, tls === 'mutual');
  let simulator: Simulator;
  const control = createHttpServer((req, res) => controlListener(simulator)(req, res));
  const origin = `${tls === 'none' ? 'http' : 'https'}://${HOST}:${await listen(api, port)}`;
  const controlUrl = `http://${HOST}:${await listen(control, controlPort)}`;
  simulator = new Simulator(bank, origin, controlUrl, authority, async () => {
    await Promise.all([bank.close(), stop(api), stop(control)]);
  });
  return simulator;
};
