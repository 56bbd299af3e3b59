// A process reads events of other processes once for all its followers.
import { expect } from 'chai';
import type { EventStore, RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { LogMemory } from '../../../../infrastructure/eventStore/postgres/logMemory.ts';
import { type LogPage, positionOf } from '../../../../infrastructure/eventStore/postgres/reader.ts';
import { SharedReads } from '../../../../infrastructure/eventStore/postgres/sharedReads.ts';
import { idsOf, newEvent, newEvents, newStream, TestSubscription } from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';

const recorded = (place: number): RecordedEvent => ({
  ...newEvent(),
  stream: newStream(),
  revision: 0,
  position: positionOf(place),
  recordedAt: new Date().toISOString(),
});

describe('shared reads of the log', () => {
  let memory: LogMemory;
  let asked: number[];
  let page: readonly RecordedEvent[];
  let during: () => void;
  let shared: SharedReads;

  beforeEach(() => {
    memory = new LogMemory(() => undefined);
    memory.recent.keepFor({ at: 0 });
    memory.head.learn(3);
    asked = [];
    page = [1, 2, 3].map(recorded);
    during = () => undefined;
    const logPage = async (after: number): Promise<LogPage> => {
      asked.push(after);
      during();
      return { events: page, upTo: 3, atHead: true };
    };
    shared = new SharedReads({ logPage }, memory);
  });

  const remembered = () => memory.recent.after(0, 10);

  it('read once for all that wait for the same position', async () => {
    await Promise.all([shared.fill(0), shared.fill(0)]);
    expect(asked).to.deep.equal([0]);
    expect(remembered()).to.deep.equal(page);
  });

  it('keep no page with a gap, where a delivery was deleted', async () => {
    page = [1, 3].map(recorded);
    await shared.fill(0);
    expect(remembered()).to.equal(null);
  });

  it('keep no page if a connection was opened meanwhile, because it may belong to another log', async () => {
    during = () => {
      memory.connections++;
    };
    await shared.fill(0);
    expect(remembered()).to.equal(null);
  });

  it('reject if the read fails, and read again afterwards', async () => {
    during = () => {
      throw new Error('cut');
    };
    expect(await shared.fill(0).catch(({ message }: Error) => message)).to.equal('cut');
    during = () => undefined;
    await shared.fill(0);
    expect(remembered()).to.deep.equal(page);
  });

  it('apply near the head, after the remembered events, while a follower wants all events', () => {
    expect(shared.isNear(0), 'no follower').to.equal(false);
    const leave = shared.enter();
    expect([0, 2, 3].map((after) => shared.isNear(after))).to.deep.equal([true, true, false]);
    memory.recent.add(1, page.slice(0, 2));
    expect([1, 2].map((after) => shared.isNear(after))).to.deep.equal([false, true]);
    memory.head.learn(1_000);
    expect(shared.isNear(2), 'far behind').to.equal(false);
    leave();
    expect(shared.isNear(900)).to.equal(false);
  });
});

describe('followers of events that another process writes', () => {
  let log: PostgresEventLog;
  let [writer, reader]: EventStore[] = [];

  before(async () => {
    log = await createPostgresEventLog();
    writer = await log.connect();
    reader = await log.connect();
  });
  after(() => log.dispose());

  it('share the event objects, whatever batch sizes and categories they use', async () => {
    const wants = [{}, { batchSize: 2 }, { categories: ['payment'] }];
    const followers = wants.map((want) => new TestSubscription(reader!, want));
    for (const each of followers) await each.until(({ caughtUp }) => caughtUp.length === 1);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const events = newEvents(10);
      await writer!.append(newStream(), -1, events);
      await writer!.append(newStream('account'), -1, newEvents(1));
      ids.push(...idsOf(events));
      for (const each of followers) await each.untilIds(ids);
    }
    const [all, small, payments] = followers.map(({ events }) =>
      events.filter(({ stream }) => stream.startsWith('payment-')),
    );
    expect(idsOf(all!)).to.deep.equal(ids);
    expect([small, payments].map((events) => events!.every((event, n) => event === all![n]))).to.deep.equal([
      true,
      true,
    ]);
    await Promise.all(followers.map((each) => each.stop()));
  });
});
