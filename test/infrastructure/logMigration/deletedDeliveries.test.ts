// A log can move although deliveries were deleted from it, and move back although more were deleted elsewhere (ADR 0008).
import { expect } from 'chai';
import type { DeletesDeliveries } from '../../../application/ports/deliveryRetention.ts';
import type { EventStore, Position } from '../../../application/ports/eventStore.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import type { DeliveryId, StreamName } from '../../../domain/kernel/ids.ts';
import { openEventStoreDb } from '../../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../../../infrastructure/eventStore/postgres/store.ts';
import { createCheckpoint } from '../../../projections/engine/checkpoints.ts';
import { newEvents, newStream } from '../../conformance/eventStore/harness.ts';
import { type Direction, eventsOf, MovingWorld } from './support.ts';

describe('moving a log from which deliveries were deleted', () => {
  let world: MovingWorld;
  before(async () => {
    world = await MovingWorld.open();
  });
  beforeEach(() => world.reset());
  after(() => world.close());

  type Opened = EventStore & DeletesDeliveries;
  const OPEN: { readonly [D in Direction]: () => Promise<Opened> } = {
    to: () => openPostgresEventStore({ connectionString: world.database.connectionString }),
    from: () => openEventStoreDb({ connectionString: world.server.connectionString }),
  };
  /** Opens the log that is moved in this direction, as the program does, and runs `work` with it. */
  const used = async <T>(direction: Direction, work: (store: Opened) => Promise<T>): Promise<T> => {
    const store = await OPEN[direction]();
    return work(store).finally(() => store.close());
  };
  const append = async (store: EventStore, category: string) => {
    const stream = newStream(category);
    const result = await store.append(stream, -1, newEvents(1));
    if (!result.ok || result.position === null) throw new Error('not appended');
    return { stream, position: result.position };
  };
  const remove = async (store: Opened, ...streams: readonly StreamName[]) => {
    const ended = streams.map((stream) => ({ id: readStreamName(stream).id as DeliveryId, revision: 0 }));
    const gone = await world.session.transaction((tx) => store.deleteDeliveries(ended, '9999-12-31', tx));
    expect(gone.size).to.equal(streams.length);
  };
  const contents = (direction: Direction) =>
    used(direction, async (store) => ({
      events: (await eventsOf(store)).map(({ stream, id }) => `${stream} ${id}`),
      head: await store.head(),
    }));
  const back = (direction: Direction): Direction => (direction === 'to' ? 'from' : 'to');
  const checkpointOf = async (name: string) =>
    (await world.checkpoints())
      .find((line) => line.startsWith(`${name}: `))
      ?.split(' @ ')[1]
      ?.split(', ')[0];

  for (const direction of ['to', 'from'] as const)
    it(`${direction === 'to' ? 'to' : 'from'} EventStoreDB: checkpoints at deleted events, and back after more deletions`, async () => {
      const made = await used(direction, async (store) => {
        const kept = await append(store, 'payment');
        const old = await append(store, 'webhookDelivery');
        const between = await append(store, 'payment');
        const younger = await append(store, 'webhookDelivery');
        const last = await append(store, 'payment');
        const newest = await append(store, 'webhookDelivery');
        await remove(store, old.stream);
        for (const [name, position] of [
          ['atGone', old.position],
          ['atLast', last.position],
        ] as const)
          await createCheckpoint(world.session, { name, version: 1, storeId: store.storeId, position, eventId: null });
        return { kept, between, younger, last, newest };
      });
      const before = await contents(direction);
      expect(before.events.length).to.equal(5);
      await world.run(direction);
      const there = back(direction);
      expect((await contents(there)).events).to.deep.equal(before.events);
      const positionIn = (of: Direction, wanted: StreamName) =>
        used(of, async (store) => {
          let found: Position | null = null;
          for await (const { position } of store.readStream(wanted)) found = position;
          return found as string | null;
        });
      expect(await checkpointOf('atGone')).to.equal(await positionIn(there, made.kept.stream));
      expect(await checkpointOf('atLast')).to.equal(await positionIn(there, made.last.stream));
      // The copy is now in use. All its deliveries are deleted, including the one that was the newest event at the move.
      await used(there, async (store) => {
        await append(store, 'payment');
        await remove(store, made.younger.stream, made.newest.stream);
      });
      const later = await contents(there);
      expect(later.events.length).to.equal(4);
      await world.run(there);
      const home = await contents(direction);
      expect(home.events).to.deep.equal(later.events);
      expect(await checkpointOf('atLast')).to.equal(await positionIn(direction, made.last.stream));
      for (const { stream } of [made.younger, made.newest]) expect(await positionIn(direction, stream)).to.equal(null);
      // The log accepts new events, at positions after all earlier ones.
      const position = await used(direction, async (store) => (await append(store, 'payment')).position);
      expect(position > (home.head as string)).to.equal(true);
      expect((await world.run(direction)).wasDone).to.equal(false);
      expect((await contents(there)).events.length).to.equal(5);
    });

  it('from an EventStoreDB log that ends with tombstones', async () => {
    await used('from', async (store) => {
      await append(store, 'payment');
      const last = await append(store, 'webhookDelivery');
      await remove(store, last.stream);
      await createCheckpoint(world.session, {
        name: 'x',
        version: 1,
        storeId: store.storeId,
        position: await store.head(),
        eventId: null,
      });
    });
    await world.run('from');
    const { events, head } = await contents('to');
    expect([events.length, await checkpointOf('x')]).to.deep.equal([1, head]);
  });
});
