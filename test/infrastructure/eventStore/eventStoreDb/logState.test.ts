// A log in EventStoreDB that is sealed, moved, or an unfinished copy.
import { expect } from 'chai';
import {
  AppendOutcomeUnknown,
  type EventStore,
  LogNotInUse,
  type RecordedEvent,
} from '../../../../application/ports/eventStore.ts';
import { openMigratableEventStoreDbLog } from '../../../../infrastructure/eventStore/eventStoreDb/migratableLog.ts';
import { STATE_STREAM } from '../../../../infrastructure/eventStore/eventStoreDb/ownStreams.ts';
import { openEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/store.ts';
import type { MigratableLog } from '../../../../infrastructure/eventStore/logState.ts';
import { IN_USE, type LogState } from '../../../../infrastructure/eventStore/logState.ts';
import { movedEvent, movedEvents } from '../movedEvents.ts';
import { PATIENT, rejection, startWorld, type World } from './support.ts';

const other = { storeId: 'other', address: 'postgres://127.0.0.1:5432/quita' };
const SEALED: LogState = { kind: 'sealed', other };
const nobody = (): void => undefined;

describe('the state of a log in EventStoreDB', () => {
  let world: World;
  let log: MigratableLog;
  beforeEach(async () => {
    world = await startWorld({}, PATIENT);
    log = await openMigratableEventStoreDbLog(world.server.connectionString, nobody);
  });
  afterEach(async () => {
    await log.close();
    await world.end();
  });

  const append = (store: EventStore, n: number) => {
    const { stream, revision, id, type, data, metadata } = movedEvent(n);
    return store.append(stream, revision - 1, [{ id, type, data, metadata }]);
  };
  const openError = () => rejection(openEventStoreDb({ connectionString: world.server.connectionString }));
  const heads = (store: EventStore, count: number): Promise<void> =>
    new Promise((resolve) => {
      let heard = 0;
      store.onHead(() => {
        heard += 1;
        if (heard === count) resolve();
      });
    });

  it('is not stored while the log is in use', async () => {
    expect(await log.state()).to.deep.equal(IN_USE);
    expect(world.server.events.map(({ stream }) => stream)).to.not.include(STATE_STREAM);
  });

  it('is the latest state that was set', async () => {
    const said: LogState[] = [SEALED, IN_USE, { kind: 'copy', other }, { kind: 'moved', other }, SEALED, SEALED];
    for (const use of said) {
      await log.setState(use);
      expect(await log.state()).to.deep.equal(use);
    }
  });

  const refusals: readonly [Exclude<LogState['kind'], 'inUse'>, string][] = [
    [
      'sealed',
      'this event log is sealed while it is copied to postgres://127.0.0.1:5432/quita: finish with npm run migrate-events, or cancel with npm run migrate-events -- --unseal',
    ],
    ['moved', 'this event log has moved to postgres://127.0.0.1:5432/quita: start the program without EVENTSTORE_URL'],
    [
      'copy',
      'this event log is an unfinished copy of postgres://127.0.0.1:5432/quita: finish it with npm run migrate-events, or start the program without EVENTSTORE_URL',
    ],
  ];
  for (const [kind, message] of refusals)
    it(`${kind}: the log can’t be opened`, async () => {
      await log.setState({ kind, other });
      const error = await openError();
      expect(error).to.be.instanceOf(LogNotInUse);
      expect(error.message).to.equal(message);
      await log.setState(IN_USE);
      await (await world.open()).close();
    });

  it('reaches a program that has the log open: it rejects appends until the log is unsealed', async () => {
    await append(world.store, 0);
    const next = async (n: number) => {
      const heard = heads(world.store, 1); // the log is read in order, so earlier events have been processed
      await log.write([movedEvent(n)], nobody);
      await heard;
    };
    expect(await world.store.refusal()).to.equal(null);
    await log.setState(SEALED);
    await next(1);
    expect(await world.store.refusal()).to.be.instanceOf(LogNotInUse);
    const written = world.server.events;
    expect(await rejection(append(world.store, 2))).to.be.instanceOf(LogNotInUse);
    expect(await rejection(append(world.store, 2))).to.be.instanceOf(LogNotInUse);
    expect(world.server.events).to.deep.equal(written);
    await log.setState(IN_USE);
    await next(2);
    expect(await world.store.refusal()).to.equal(null);
    expect(await append(world.store, 3)).to.include({ ok: true, revision: 1 });
  });

  it('is invisible: it is neither the head nor an event of a subscription', async () => {
    await append(world.store, 0);
    const head = await world.store.head();
    await log.setState(SEALED);
    await log.setState(IN_USE);
    expect(await world.store.head()).to.equal(head);
    const store = await world.open();
    const given: string[] = [];
    for await (const batch of store.subscribe({
      after: null,
      categories: null,
      signal: new AbortController().signal,
    })) {
      if (batch.kind === 'events') given.push(...batch.events.map(({ stream }) => stream));
      if (batch.kind === 'caughtUp') {
        expect(batch.position).to.equal(head);
        break;
      }
    }
    expect(given).to.deep.equal(['payment-moved0']);
  });

  const withoutPositions = (events: readonly RecordedEvent[]) => events.map(({ position: _, ...event }) => event);
  const all = async (store: EventStore): Promise<RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const batch of store.subscribe({
      after: null,
      categories: null,
      signal: new AbortController().signal,
    })) {
      if (batch.kind === 'events') events.push(...batch.events);
      if (batch.kind === 'caughtUp') break;
    }
    return events;
  };

  it('copied events keep streams, revisions, order, IDs, times, data and metadata, byte for byte', async () => {
    const counts: number[] = [];
    const events = movedEvents(20);
    await log.write(events, (count) => counts.push(count));
    expect(counts).to.deep.equal(Array.from({ length: 10 }, () => 2)); // consecutive events of one stream share an append
    expect(withoutPositions(await all(world.store))).to.deep.equal(withoutPositions(events));
    const ofOne = withoutPositions(events.filter(({ stream }) => stream === 'payment-moved1'));
    const read: RecordedEvent[] = [];
    for await (const event of world.store.readStream(movedEvent(2).stream)) read.push(event);
    expect(withoutPositions(read)).to.deep.equal(ofOne);
  });

  it('events copied twice are stored once', async () => {
    await log.write(movedEvents(8), nobody);
    await log.write(movedEvents(8), nobody);
    expect(withoutPositions(await all(world.store))).to.deep.equal(withoutPositions(movedEvents(8)));
  });

  it('events copied again with other content are rejected', async () => {
    await log.write(movedEvents(2), nobody);
    const error = await rejection(log.write([{ ...movedEvent(1), id: movedEvent(9).id }], nobody));
    expect(error.message).to.equal(
      'payment-moved0 ends at revision 1 in the copy instead of 0: is another program writing to it?',
    );
  });

  it('many small events of one stream are split into appends that the server accepts', async () => {
    const stream = movedEvent(0).stream;
    const small = movedEvents(9_000).map((event, revision) => ({
      ...event,
      stream,
      revision,
      data: '{}',
      metadata: '{}',
    }));
    const written = async (): Promise<number[]> => {
      const counts: number[] = [];
      const error = await log.write(small, (count) => counts.push(count)).catch((reason: unknown) => reason);
      if (error instanceof AppendOutcomeUnknown) return written(); // on a slow machine, the repeat does not write existing events again
      if (error !== undefined) throw error;
      return counts;
    };
    expect(await written()).to.deep.equal([4_411, 4_411, 178]);
  });

  it('accepts the largest possible event, and rejects an unknown category', async () => {
    const data = `{"a":"${'x'.repeat(499_990)}"}`;
    await log.write([{ ...movedEvent(0), data, metadata: '{}' }], nobody);
    expect((await all(world.store)).map((event) => event.data.length)).to.deep.equal([data.length]);
    const strange = { ...movedEvent(1), stream: 'invoice-1' as RecordedEvent['stream'] };
    expect((await rejection(log.write([strange], nobody))).message).to.match(
      /does not know the category of invoice-1:/,
    );
  });
});
