// An operator’s requests about provider connections, with simulated institutions behind them.
import { expect } from 'chai';
import type { ConnectionReads } from '../../application/ports/readModels/providers.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { ConnectionView } from '../../domain/presentation/connection.ts';
import type { ConnectionRegistry } from '../../infrastructure/providers/connections.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import type { Reply, TestGateway } from './gateway.ts';

import { openReady, rawIdOf } from './http.ts';
import type { Body } from './merchant.ts';
import { pollUntil } from './pollUntil.ts';

export interface Added {
  readonly id: string;
  readonly callbackUrl: string;
}

export class ConnectionDesk {
  readonly gateway: TestGateway;
  readonly #headers: { readonly authorization: string };
  readonly #simulators: Simulator[] = [];

  private constructor(gateway: TestGateway, headers: { readonly authorization: string }) {
    this.gateway = gateway;
    this.#headers = headers;
  }

  static async open(options: Parameters<typeof openReady>[0] = {}): Promise<ConnectionDesk> {
    const gateway = await openReady(options);
    return new ConnectionDesk(gateway, await gateway.logIn('OPERATOR'));
  }

  async simulator(options?: SimulatorOptions): Promise<Simulator> {
    const simulator = await startSimulator(options);
    this.#simulators.push(simulator);
    return simulator;
  }

  ask<T = ConnectionView>(method: string, path = '', body?: Body): Promise<Reply<T>> {
    const { gateway } = this;
    return gateway.call<T>(method, `/ops/v1/providers${path}`, {
      key: null,
      headers: this.#headers,
      ...(body && { body }),
    });
  }

  /** Adds a connection to the simulator, and expects success. */
  async add(simulator: Simulator, over: Body = {}): Promise<Added> {
    const reply = await this.ask<Added>('POST', '', { ...settingsFor(simulator), ...over });
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  }

  async show(id: string): Promise<ConnectionView> {
    const reply = await this.ask('GET', `/${id}`);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  }

  /** Creates a charge with a live key. */
  charge<T = { readonly id: string; readonly status: string }>(body: Body = {}, key?: string): Promise<Reply<T>> {
    return this.gateway.charge<T>({ amount: 1_000, ...body }, { key: key ?? this.gateway.tenant.liveKey });
  }

  /** Waits until this process routes charges of the tenant to `count` connections. Rejects after 10 s. */
  untilRouted(count: number): Promise<unknown> {
    const { tenant, gateway } = this.gateway;
    const { providers } = gateway.needs;
    return this.#until(async () => {
      const routed = await providers.route({ accountId: tenant.accountId, mode: 'live' }, ['PIX']);
      return routed.length === count;
    });
  }

  /** Waits until this process uses version `version` of a secret of the connection. Rejects after 10 s. */
  untilVersion(id: string, version: number): Promise<unknown> {
    const { providerConnections } = this.gateway.gateway.needs as unknown as {
      readonly providerConnections: ConnectionRegistry;
    };
    return this.#until(async () => {
      const found = await providerConnections.find(rawIdOf(id) as ConnectionId);
      return found !== null && Math.max(found.clientSecretVersion, found.callbackSecretVersion) === version;
    });
  }

  /** Waits until no payment of the connection is open, and its callbacks are handled. Rejects after 10 s. */
  untilFinal(id: string): Promise<unknown> {
    const { connections } = this.gateway.gateway.needs as unknown as { readonly connections: ConnectionReads };
    const isHandled = async () => (await connections.unhandled(rawIdOf(id) as ConnectionId)) === 0;
    return this.#until(async () => (await isHandled()) && (await this.show(id)).openPayments === 0);
  }

  async #until(look: () => Promise<boolean>): Promise<void> {
    const found = await pollUntil(this.gateway.gateway.projected, 10_000, async () => ((await look()) ? true : null));
    expect(found).to.equal(true);
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await Promise.all(this.#simulators.map((one) => one.close()));
  }
}

/** Returns the settings of a connection to the simulator's first client. */
export const settingsFor = ({ baseUrl, tokenUrl, clients }: Simulator) => {
  const [client] = clients;
  if (client === undefined) throw new Error('the simulator has no client');
  const { clientId, clientSecret, pixKey } = client;
  return { preset: 'generic', name: 'Banco', baseUrl, tokenUrl, clientId, clientSecret, pixKey, allowPrivate: true };
};
