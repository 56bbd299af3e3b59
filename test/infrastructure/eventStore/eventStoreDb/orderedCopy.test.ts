// A copy of a log keeps the order of events across all streams, although many appends are in flight.
import { expect } from 'chai';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { openMigratableEventStoreDbLog } from '../../../../infrastructure/eventStore/eventStoreDb/migratableLog.ts';
import type { MigratableLog } from '../../../../infrastructure/eventStore/logState.ts';
import { idsOf } from '../../../conformance/eventStore/harness.ts';
import { movedEvents } from '../movedEvents.ts';
import { Reports, rejection, startWorld, type World } from './support.ts';

const COUNT = 600;

describe('a copy of a log in EventStoreDB', () => {
  let world: World;
  let log: MigratableLog;
  let reports: Reports;
  const events: readonly RecordedEvent[] = movedEvents(COUNT);

  beforeEach(async () => {
    world = await startWorld({ writeTimeoutMs: 200 });
    reports = new Reports();
    log = await openMigratableEventStoreDbLog(world.server.connectionString, reports.add);
  });
  afterEach(async () => {
    await log.close();
    await world.end();
  });

  const write = async (some: readonly RecordedEvent[] = events): Promise<number[]> => {
    const counts: number[] = [];
    await log.write(some, (count) => counts.push(count));
    return counts;
  };
  const written = (): string[] => idsOf(world.written());
  const runs = COUNT / 2; // consecutive events of one stream share an append

  it('keeps the order and reports each append once, with many appends in flight', async () => {
    const { server } = world;
    await write(events.slice(0, 2));
    server.holdAppends();
    const rest = write(events.slice(2));
    await server.until(({ appendsHeld }) => appendsHeld === 256);
    server.releaseAppends();
    expect(await rest).to.deep.equal(Array.from({ length: runs - 1 }, () => 2));
    expect(written()).to.deep.equal(idsOf(events));
  });

  it('writes nothing twice if it is repeated', async () => {
    await write();
    await write();
    expect(written()).to.deep.equal(idsOf(events));
  });

  for (const [what, fault] of [
    ['cut', () => world.server.cut()],
    ['killed and started', () => world.server.restart()],
  ] as const)
    it(`continues in order if the server is ${what}`, async () => {
      const counts: number[] = [];
      let broken: Promise<void> | null = null;
      await log.write(events, (count) => {
        counts.push(count);
        if (counts.length === 20) broken = Promise.resolve(fault());
      });
      await broken;
      expect(counts).to.have.length(runs);
      expect(written()).to.deep.equal(idsOf(events));
    });

  it('continues in order if answers are lost', async () => {
    const { server } = world;
    await write(events.slice(0, 2));
    server.loseAnswers(3);
    const rest = write(events.slice(2));
    await server.until(({ events: stored }) => stored.length > 100);
    server.cut(); // fails the lost answers at once
    await rest;
    expect(written()).to.deep.equal(idsOf(events));
  });

  it('stops if the server wrote a later append without an earlier one', async () => {
    const { server } = world;
    await write(events.slice(0, 60));
    server.failAppends();
    const { name, message } = await rejection(write(events.slice(60, 120)));
    expect({ name, message }).to.deep.equal({
      name: 'LogsDiffer',
      message: 'the copy holds payment-moved1@20 before earlier events',
    });
    expect(reports.messages.length).to.be.above(0);
  });

  it('stops at a stream to which another program has written', async () => {
    const { store } = world;
    const [first] = events as readonly [RecordedEvent, ...RecordedEvent[]];
    await store.append(first.stream, -1, [{ ...first, id: '00000000-0000-4000-8000-000000000000' }]);
    expect((await rejection(write())).message).to.equal(
      `${first.stream} ends at revision 0 in the copy instead of -1: is another program writing to it?`,
    );
  });
});
