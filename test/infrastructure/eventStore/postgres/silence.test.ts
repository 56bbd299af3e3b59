// The Postgres log with silent connections: appends, reads and subscriptions continue, and nothing is written twice.
import { expect } from 'chai';
import type { EventStore, RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { openPostgresEventStore } from '../../../../infrastructure/eventStore/postgres/store.ts';
import { SessionWatch, WATCH_TIMINGS } from '../../../../infrastructure/postgres/sessionWatch.ts';
import { brief, collect, idsOf, newEvents, newStream } from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../world/tcpProxy.ts';

describe('the Postgres log with silent connections', () => {
  let log: PostgresEventLog;
  let proxy: PostgresProxy;
  let store: EventStore;
  let faults: string[];
  const ended = new AbortController();

  beforeEach(async () => {
    log = await createPostgresEventLog();
    proxy = await startPostgresProxy(log.connectionString);
    faults = [];
    const watch = new SessionWatch({ connectionString: proxy.connectionString }, { ...WATCH_TIMINGS, lookMs: 50 });
    const onError = ({ name }: Error) => faults.push(name);
    store = await openPostgresEventStore({ connectionString: proxy.connectionString, watch, onError });
    await store.append(newStream(), -1, newEvents(1));
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
    await log.dispose();
  });

  for (const times of [1, 2])
    it(`appends and reads long before its deadlines, and writes once: ${times} times`, async () => {
      for (let n = 0; n < times; n++) {
        expect(proxy.silence()).to.be.above(1);
        const beganAtMs = performance.now();
        const [stream, events] = [newStream(), newEvents(2)];
        expect(brief(await store.append(stream, -1, events))).to.deep.equal({ ok: true, revision: 1 });
        expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal(idsOf(events));
        expect(performance.now() - beganAtMs).to.be.below(5_000); // and not the 9 s after which an append is given up
      }
      expect(faults).to.include('ConnectionSilent');
    });

  it('delivers every event to a subscription once, including those of other processes', async () => {
    const other = await log.connect();
    const [before, after] = [newEvents(1), newEvents(3)];
    const seen: RecordedEvent[] = [];
    const stream = newStream();
    await other.append(stream, -1, before);
    const following = (async () => {
      for await (const batch of store.subscribe({ after: null, categories: null, signal: ended.signal })) {
        if (batch.kind === 'events') seen.push(...batch.events);
        else if (batch.kind === 'caughtUp' && proxy.silence() > 0) await other.append(stream, 0, after);
        if (idsOf(seen).includes(after.at(-1)!.id)) return;
      }
    })();
    await following;
    expect(idsOf(seen.filter((event) => event.stream === stream))).to.deep.equal(idsOf([...before, ...after]));
  });
});
