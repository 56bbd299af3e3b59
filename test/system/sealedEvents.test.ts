// A dump of the event store contains no personal data of payers, on both stores, and everything can be read with the keys (ADR 0017).
import { expect } from 'chai';
import { UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { RecordedEvent } from '../../application/ports/eventStore.ts';
import { openStorage } from '../../infrastructure/boot/storage.ts';
import { eventsUpTo } from '../../infrastructure/eventStore/compareLogs.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { TestGateway, testKeyring } from '../world/gateway.ts';
import { rawIdOf } from '../world/http.ts';
import { PersonDesk, TRACES } from '../world/personDesk.ts';
import { migratedDatabase } from '../world/postgres.ts';

const foundIn = (text: string): readonly string[] =>
  TRACES.filter((trace) => text.toLowerCase().includes(trace.toLowerCase()));

const dumpOf = async ({ storage: { store } }: TestGateway): Promise<readonly RecordedEvent[]> => {
  const all: RecordedEvent[] = [];
  const { signal } = new AbortController();
  for await (const batch of eventsUpTo(store, null, await store.head(), signal)) all.push(...batch);
  return all;
};

const holds = async (gateway: TestGateway, connectionString: string, url: string | null): Promise<void> => {
  const desk = await PersonDesk.open(gateway);
  await desk.payInFull();
  await desk.payOtherwise();
  await desk.payOut();
  await desk.failEverywhere();
  const dump = await dumpOf(gateway);
  expect(
    dump.flatMap(({ type, data, metadata }) => foundIn(data + metadata).map((trace) => [type, trace])),
  ).to.deep.equal([]);

  // A separate storage has nothing cached in memory.
  const elsewhere = await openStorage(connectionString, url, testKeyring(), () => undefined);
  const read = async () => {
    const decoded = await elsewhere.codec.decode(dump);
    expect(decoded.filter((one) => one instanceof UnreadableEvent)).to.deep.equal([]);
    return JSON.stringify(decoded);
  };
  const before = await read();
  expect(foundIn(before)).to.include.members(['Zuleica', '39053344705', 'violão azul']);
  const owners = [...desk.payments, rawIdOf(desk.payoutId), rawIdOf(desk.failedPayoutId)];
  const told = new Promise<void>((resolve) => elsewhere.dataKeys.onDestroyed(resolve));
  expect(await gateway.storage.dataKeys.destroy(owners)).to.equal(owners.length);
  await told;
  const after = await read();
  expect(foundIn(after)).to.deep.equal([]);
  // Deliveries may add events meanwhile.
  expect((await dumpOf(gateway)).slice(0, dump.length)).to.deep.equal(dump);
  await elsewhere.close();
  await desk.close();
};

describe('the events of payers', function suite() {
  this.timeout(180_000);

  it('contain no personal data in clear text in PostgreSQL, and none at all once their keys are destroyed', async () => {
    const database = await migratedDatabase();
    const gateway = await TestGateway.open({ database });
    await holds(gateway, database.connectionString, null);
    await gateway.close();
    await database.drop();
  });

  it('contain no personal data in clear text in EventStoreDB, and none at all once their keys are destroyed', async () => {
    const server = await EventStoreDbServer.start();
    const database = await migratedDatabase();
    const gateway = await TestGateway.open({ database, eventStoreUrl: server.connectionString });
    await holds(gateway, database.connectionString, server.connectionString);
    await gateway.close();
    await server.stop();
    await database.drop();
  });
});
