// The registry of connections in this process: opens them with their secrets, and routes live payments and payouts (rules V5, V7).
import type { Circuit } from '../../application/ports/connectionWork.ts';
import type { PaymentProvider, PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { PayoutRails, RoutedRail } from '../../application/ports/payoutRail.ts';
import type { OpenConnection, ProviderConnections } from '../../application/ports/providerConnections.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { ConnectionId, Tenant } from '../../domain/kernel/ids.ts';
import type { Connection } from '../../domain/providerConnection/aggregate.ts';
import type { ConnectionStatus } from '../../domain/providerConnection/connection.ts';

/** How long the connections are used before they are read again. */
const FRESH_MS = 1_000;
/** A connection that was changed is closed after this time, when its last calls have ended. */
const CLOSED_AFTER_MS = 60_000;

/** A connection as the registry knows it, from all connections. */
export interface KnownConnection extends Connection {
  /** Former Pix keys that another connection has now. Absent if no key moved. */
  readonly movedKeys?: readonly string[];
}

interface RegistryWorld {
  /** Returns all connections, removed ones included, oldest first. */
  readonly read: () => Promise<readonly Connection[]>;
  readonly open: (connection: KnownConnection) => Promise<OpenConnection>;
  readonly report: (id: ConnectionId, circuit: Circuit) => Promise<void>;
  /** Called if a connection could not be opened, or a circuit not reported. */
  readonly onError: (error: Error, id: ConnectionId) => void;
  readonly nowMs: () => number;
  /** Runs work later. Returns a function that cancels it. */
  readonly later: (ms: number, work: () => void) => () => void;
}

interface Opened {
  readonly version: string;
  readonly connection: Promise<OpenConnection>;
}

export class ConnectionRegistry implements ProviderConnections {
  readonly #world: RegistryWorld;
  #known: ReadonlyMap<ConnectionId, KnownConnection> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;
  readonly #opened = new Map<ConnectionId, Opened>();
  readonly #closing = new Map<Opened, () => void>();
  /** The reported reasons of connections that can't be opened. */
  readonly #unopened = new Map<ConnectionId, string>();

  constructor(world: RegistryWorld) {
    this.#world = world;
  }

  async open(id: ConnectionId): Promise<OpenConnection | null> {
    const connection = await this.#find(id);
    return connection !== null && isCallable(connection) ? this.#tryToOpen(connection) : null;
  }

  async callable(): Promise<readonly OpenConnection[]> {
    const all = await this.#all();
    return this.#openAll(all.filter(isCallable));
  }

  async statusOf(id: ConnectionId): Promise<ConnectionStatus | null> {
    return (await this.#find(id))?.status ?? null;
  }

  /** Returns the connection with its versions of secrets, or null if it is unknown or removed. */
  async find(id: ConnectionId): Promise<Connection | null> {
    const connection = await this.#find(id);
    return connection === null || connection.status === 'removed' ? null : connection;
  }

  /** Returns the connections that take new payments of the tenant by all these methods, in the order of V7. */
  async route(
    { accountId }: Pick<Tenant, 'accountId'>,
    methods: readonly PaymentMethod[],
  ): Promise<readonly OpenConnection[]> {
    const fits = ({ status, terms }: Connection): boolean =>
      status === 'enabled' &&
      (terms.accountId === null || terms.accountId === accountId) &&
      methods.every((method) => terms.methods.includes(method));
    let fitting = (await this.#all()).filter(fits);
    if (fitting.length === 0) {
      // The first connection may just have been added.
      await this.#refresh();
      fitting = [...this.#known.values()].filter(fits);
    }
    const own = ({ terms }: Connection): number => (terms.accountId === null ? 1 : 0);
    // The sort is stable and the connections are listed by age.
    const sorted = fitting.toSorted((a, b) => own(a) - own(b) || a.terms.order - b.terms.order);
    return this.#openAll(sorted);
  }

  /** Closes all connections. */
  close(): void {
    for (const [opened, cancel] of this.#closing) {
      cancel();
      this.#end(opened);
    }
    for (const opened of this.#opened.values()) this.#end(opened);
    this.#opened.clear();
  }

  async #all(): Promise<readonly KnownConnection[]> {
    if (this.#world.nowMs() - this.#readAt >= FRESH_MS) await this.#refresh();
    return [...this.#known.values()];
  }

  async #find(id: ConnectionId): Promise<KnownConnection | null> {
    await this.#all();
    if (!this.#known.has(id)) await this.#refresh();
    return this.#known.get(id) ?? null;
  }

  /** Reads the connections again. Concurrent callers share one read. */
  #refresh(): Promise<void> {
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readAgain(): Promise<void> {
    const at = this.#world.nowMs();
    const all = await this.#world.read();
    this.#known = new Map(all.map((one) => [one.terms.connectionId, withMovedKeys(one, all)]));
    this.#readAt = at;
    for (const [id, opened] of this.#opened) {
      const connection = this.#known.get(id);
      if (connection === undefined || !isCallable(connection) || versionOf(connection) !== opened.version)
        this.#retire(id, opened);
      else void this.#report(id, opened);
    }
  }

  async #report(id: ConnectionId, { connection }: Opened): Promise<void> {
    try {
      await this.#world.report(id, (await connection).circuit());
    } catch (error) {
      this.#world.onError(error as Error, id);
    }
  }

  #retire(id: ConnectionId, opened: Opened): void {
    this.#opened.delete(id);
    void this.#world.report(id, 'closed').catch((error: Error) => this.#world.onError(error, id));
    const cancel = this.#world.later(CLOSED_AFTER_MS, () => {
      this.#closing.delete(opened);
      this.#end(opened);
    });
    this.#closing.set(opened, cancel);
  }

  #end({ connection }: Opened): void {
    connection.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  #openOf(connection: KnownConnection): Promise<OpenConnection> {
    const { connectionId } = connection.terms;
    const version = versionOf(connection);
    const known = this.#opened.get(connectionId);
    if (known?.version === version) return known.connection;
    if (known !== undefined) this.#retire(connectionId, known);
    const opened = { version, connection: this.#world.open(connection) };
    this.#opened.set(connectionId, opened);
    // A failure is not remembered: the secrets key may be added.
    opened.connection.catch(() => {
      if (this.#opened.get(connectionId) === opened) this.#opened.delete(connectionId);
    });
    return opened.connection;
  }

  /** Returns the connection, or null if it can't be opened. The same failure is reported once, until an attempt succeeds. */
  async #tryToOpen(connection: KnownConnection): Promise<OpenConnection | null> {
    const { connectionId } = connection.terms;
    try {
      const open = await this.#openOf(connection);
      this.#unopened.delete(connectionId);
      return open;
    } catch (error) {
      const { message } = error as Error;
      if (this.#unopened.get(connectionId) !== message) this.#world.onError(error as Error, connectionId);
      this.#unopened.set(connectionId, message);
      return null;
    }
  }

  /** Returns the connections that could be opened, in their order. */
  async #openAll(connections: readonly KnownConnection[]): Promise<readonly OpenConnection[]> {
    const opened = await Promise.all(connections.map((one) => this.#tryToOpen(one)));
    return opened.filter((one) => one !== null);
  }
}

/** Returns the connection with those of its former Pix keys that another connection has now. */
const withMovedKeys = (connection: Connection, all: readonly Connection[]): KnownConnection => {
  const { formerKeys } = connection;
  if (formerKeys === undefined) return connection;
  const taken = all.filter(({ status }) => status !== 'removed').map(({ terms }) => terms.pixKey);
  const movedKeys = formerKeys.filter((key) => taken.includes(key));
  return movedKeys.length === 0 ? connection : { ...connection, movedKeys };
};

const isCallable = ({ status }: Connection): boolean => status === 'enabled' || status === 'draining';

const versions = new WeakMap<KnownConnection, string>();

/** Returns a text that changes with all data of an open connection. Cached, because it contains the certificates and each call needs it. */
const versionOf = (connection: KnownConnection): string => {
  const known = versions.get(connection);
  if (known !== undefined) return known;
  const { terms, clientSecretVersion, privateKeyVersion, callbackSecretVersion, formerKeys, movedKeys } = connection;
  const secrets = [clientSecretVersion, privateKeyVersion, callbackSecretVersion];
  const version = JSON.stringify([terms, secrets, formerKeys, movedKeys]);
  versions.set(connection, version);
  return version;
};

/** Returns the connections without those whose circuit is open, except the last one: with a single choice, its answer decides. */
const answering = (connections: readonly OpenConnection[]): readonly OpenConnection[] =>
  connections.filter(({ circuit }, i) => i === connections.length - 1 || circuit() !== 'open');

type Registry = Pick<ConnectionRegistry, 'route' | 'open'>;

/** Returns the live side of the providers. */
export const liveProviders = (registry: Registry): PaymentProviders => ({
  route: async (tenant, methods): Promise<readonly PaymentProvider[]> =>
    answering(await registry.route(tenant, methods)).map(({ provider }) => provider),
  of: async ({ connectionId }) =>
    connectionId === null ? null : ((await registry.open(connectionId))?.provider ?? null),
});

/** Returns the live side of the payout rails. */
export const liveRails = (registry: Registry): PayoutRails => ({
  route: async (tenant): Promise<RoutedRail | null> => {
    const paying = (await registry.route(tenant, ['PIX'])).filter(({ rail }) => rail !== null);
    const first = answering(paying)[0];
    return first === undefined || first.rail === null
      ? null
      : { connectionId: first.terms.connectionId, rail: first.rail };
  },
  of: async ({ connectionId }) => (connectionId === null ? null : ((await registry.open(connectionId))?.rail ?? null)),
});
