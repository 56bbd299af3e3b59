// The registry of connections: the order of V7, the statuses of V5, and how it follows changes.
import { expect } from 'chai';
import type { Circuit } from '../../../application/ports/connectionWork.ts';
import type { OpenConnection } from '../../../application/ports/providerConnections.ts';
import type { AccountId, ConnectionId } from '../../../domain/kernel/ids.ts';
import type { Connection } from '../../../domain/providerConnection/aggregate.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { ConnectionRegistry, liveProviders, liveRails } from '../../../infrastructure/providers/connections.ts';
import { at } from '../../support/samples.ts';
import { connectionTerms, FakeConnection } from '../../world/fakeConnections.ts';
import { FakeRail } from '../../world/fakeRail.ts';

const idOf = (n: number) => String(n).padStart(26, '0') as ConnectionId;
const ME = '1'.repeat(26) as AccountId;
const OTHER = '2'.repeat(26) as AccountId;
const tenant = { accountId: ME, mode: 'live' as const };

const connection = (n: number, over: Partial<ConnectionTerms> = {}, more: Partial<Connection> = {}): Connection => ({
  status: 'enabled',
  terms: connectionTerms(idOf(n), { order: 0, ...over }),
  ...{ clientSecretVersion: 1, privateKeyVersion: 0, callbackSecretVersion: 1, previousCallback: null },
  ...{ addedAt: at('12:00:00'), changedAt: at('12:00:00') },
  ...more,
});

class Opened extends FakeConnection {
  state: Circuit = 'closed';
  isClosed = false;
  override readonly circuit = () => this.state as 'closed';
  override close(): void {
    this.isClosed = true;
  }
}

const registryOf = (...stored: Connection[]) => {
  const world = {
    stored,
    reads: 0,
    now: 0,
    opened: [] as Opened[],
    keys: [] as (readonly (readonly string[] | undefined)[])[],
    reported: [] as string[],
    errors: [] as string[],
    later: [] as (() => void)[],
    failing: new Set<ConnectionId>(),
  };
  const registry = new ConnectionRegistry({
    read: async () => {
      world.reads++;
      return world.stored;
    },
    open: async ({ terms, formerKeys, movedKeys }): Promise<OpenConnection> => {
      world.keys.push([formerKeys, movedKeys]);
      if (world.failing.has(terms.connectionId)) throw new Error('no secret');
      const opened = new Opened(terms);
      world.opened.push(opened);
      return opened;
    },
    report: async (id, circuit) => void world.reported.push(`${id} ${circuit}`),
    onError: (error) => void world.errors.push(error.message),
    nowMs: () => world.now,
    later: (_, work) => {
      world.later.push(work);
      return () => undefined;
    },
  });
  const routed = async (methods: readonly 'PIX'[] = ['PIX']) =>
    (await liveProviders(registry).route(tenant, methods)).map(({ connectionId }) => Number(connectionId));
  return { registry, world, routed };
};

describe('the registry of connections', () => {
  it('routes to an account’s own connections first, then by order, then by age', async () => {
    const { routed } = registryOf(
      connection(1, { order: 2 }),
      connection(2, { order: 1 }),
      connection(3, { order: 1 }),
      connection(4, { order: 9, accountId: ME }),
      connection(5, { order: 0, accountId: OTHER }),
    );
    expect(await routed()).to.deep.equal([4, 2, 3, 1]);
  });

  it('routes only to enabled connections that support all methods', async () => {
    const { registry, routed } = registryOf(
      connection(1, {}, { status: 'draining' }),
      connection(2, {}, { status: 'disabled' }),
      connection(3, {}, { status: 'removed' }),
      connection(4),
    );
    expect(await routed()).to.deep.equal([4]);
    expect(await liveProviders(registry).route(tenant, ['PIX', 'BOLETO'])).to.deep.equal([]);
  });

  it('finds the connection of a payment while it is enabled or draining', async () => {
    const { registry } = registryOf(
      connection(1),
      connection(2, {}, { status: 'draining' }),
      connection(3, {}, { status: 'disabled' }),
      connection(4, {}, { status: 'removed' }),
    );
    const found = [1, 2, 3, 4, 5].map(async (n) =>
      Number((await liveProviders(registry).of({ mode: 'live', connectionId: idOf(n) }))?.connectionId ?? 0),
    );
    expect(await Promise.all(found)).to.deep.equal([1, 2, 0, 0, 0]);
    expect(await liveProviders(registry).of({ mode: 'live', connectionId: null })).to.equal(null);
    const statuses = await Promise.all([1, 2, 3, 4, 5].map((n) => registry.statusOf(idOf(n))));
    expect(statuses).to.deep.equal(['enabled', 'draining', 'disabled', 'removed', null]);
    expect((await registry.callable()).map(({ terms }) => Number(terms.connectionId))).to.deep.equal([1, 2]);
  });

  it('skips an open circuit only if another connection follows', async () => {
    const { world, routed } = registryOf(connection(1), connection(2));
    await routed();
    const [first, second] = world.opened as [Opened, Opened];
    first.state = 'open';
    expect(await routed()).to.deep.equal([2]);
    second.state = 'open';
    expect(await routed()).to.deep.equal([2]);
    first.state = 'halfOpen';
    expect(await routed()).to.deep.equal([1, 2]);
  });

  it('pays out through the first connection with a rail and without an open circuit', async () => {
    const { registry, world, routed } = registryOf(connection(1), connection(2), connection(3));
    expect(await liveRails(registry).route(tenant)).to.equal(null);
    await routed();
    const [, second, third] = world.opened as [Opened, Opened, Opened];
    second.rail = new FakeRail();
    third.rail = new FakeRail();
    expect((await liveRails(registry).route(tenant))?.connectionId).to.equal(idOf(2));
    second.state = 'open';
    expect(await liveRails(registry).route(tenant)).to.deep.equal({ connectionId: idOf(3), rail: third.rail });
    expect(await liveRails(registry).of({ mode: 'live', connectionId: idOf(2) })).to.equal(second.rail);
    expect(await liveRails(registry).of({ mode: 'live', connectionId: idOf(1) })).to.equal(null);
  });

  it('reads at most once a second, and at once for an unknown ID', async () => {
    const { registry, world, routed } = registryOf(connection(1));
    await Promise.all([routed(), routed(), registry.statusOf(idOf(1))]);
    expect(world.reads).to.equal(1);
    world.now = 999;
    await routed();
    expect(world.reads).to.equal(1);
    world.stored = [connection(1), connection(2)];
    expect(await registry.statusOf(idOf(2))).to.equal('enabled');
    expect(world.reads).to.equal(2);
    world.now = 1_999;
    await routed();
    expect(world.reads).to.equal(3);
  });

  it('reopens a changed connection, and closes the old one after its calls have ended', async () => {
    const { world, routed } = registryOf(connection(1));
    await routed();
    await routed();
    expect(world.opened).to.have.length(1);
    world.stored = [connection(1, {}, { clientSecretVersion: 2 })];
    world.now += 1_000;
    await routed();
    expect(world.opened.map(({ isClosed }) => isClosed)).to.deep.equal([false, false]);
    for (const work of world.later) work();
    await Promise.resolve();
    expect(world.opened.map(({ isClosed }) => isClosed)).to.deep.equal([true, false]);
  });

  it('opens a connection with those of its former Pix keys that another connection has now', async () => {
    const { registry, world } = registryOf(
      connection(1, { pixKey: 'd@b.example' }, { formerKeys: ['a@b.example', 'b@b.example', 'c@b.example'] }),
      connection(2, { pixKey: 'b@b.example' }),
      connection(3, { pixKey: 'c@b.example' }, { status: 'removed' }),
    );
    await registry.callable();
    const former = ['a@b.example', 'b@b.example', 'c@b.example'];
    expect(world.keys).to.deep.equal([
      [former, ['b@b.example']],
      [undefined, undefined],
    ]);
    world.stored = [connection(1, { pixKey: 'd@b.example' }, { formerKeys: former })];
    world.now += 1_000;
    await registry.callable();
    expect(world.keys.at(-1)).to.deep.equal([former, undefined]);
  });

  it('closes a disabled connection and reports its circuit as closed', async () => {
    const { world, routed } = registryOf(connection(1));
    await routed();
    world.stored = [connection(1, {}, { status: 'disabled' })];
    world.now += 1_000;
    expect(await routed()).to.deep.equal([]);
    expect(world.reported.at(-1)).to.equal(`${idOf(1)} closed`);
    expect(world.later).to.have.length(1);
  });

  it('treats a connection that can’t be opened as disabled, reports it once, and retries', async () => {
    const { registry, world, routed } = registryOf(connection(1), connection(2));
    world.failing.add(idOf(1));
    expect(await routed()).to.deep.equal([2]);
    expect(await liveProviders(registry).of({ mode: 'live', connectionId: idOf(1) })).to.equal(null);
    expect(await liveRails(registry).of({ mode: 'live', connectionId: idOf(1) })).to.equal(null);
    expect(world.errors, 'reported once').to.deep.equal(['no secret']);
    world.failing.clear();
    expect(await routed()).to.deep.equal([1, 2]);
    world.failing.add(idOf(1));
    world.stored = [connection(1, {}, { clientSecretVersion: 2 }), connection(2)];
    world.now += 1_000;
    expect([await routed(), world.errors]).to.deep.equal([[2], ['no secret', 'no secret']]);
    registry.close();
    await Promise.resolve();
    expect(world.opened.map(({ isClosed }) => isClosed)).to.deep.equal([true, true]);
  });
});
