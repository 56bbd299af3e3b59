// Moving a log in both directions, interrupted at every possible point.
import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import { UsageError } from '../../../infrastructure/cli/command.ts';
import { LogsDiffer } from '../../../infrastructure/eventStore/compareLogs.ts';
import type { LogState, MigratableLog } from '../../../infrastructure/eventStore/logState.ts';
import { type MoveProgress, moveLog, type Step, unseal } from '../../../infrastructure/logMigration/moveLog.ts';
import { CheckpointMismatch, createCheckpoint } from '../../../projections/engine/checkpoints.ts';
import { divideOnce } from '../../../projections/engine/dividing.ts';
import { rejection } from '../eventStore/eventStoreDb/support.ts';
import { movedEvent } from '../eventStore/movedEvents.ts';
import { type Direction, eventsOf, type Logs, MovingWorld, sourceAndTarget } from './support.ts';

const EVENTS = 14;
const killed = new Error('killed');

const idAt = (n: number): string => movedEvent(n).id;

describe('moving an event log', function suite() {
  let world: MovingWorld;
  let names: { source: string; target: string };
  let positions: readonly Position[];
  before(async () => {
    world = await MovingWorld.open();
  });
  beforeEach(() => world.reset());
  after(() => world.close());

  /** Creates a log with consumers at its start, in its middle and at its end. */
  const prepare = (direction: Direction) =>
    world.with(async (logs) => {
      const [source, target] = sourceAndTarget(direction, logs);
      positions = await world.fill(source, 0, EVENTS);
      names = { source: source.name.storeId, target: target.name.storeId };
      const consumers: readonly [string, number | null, string | null][] = [
        ['disputes', 5, idAt(5)],
        ['payments', EVENTS - 1, idAt(EVENTS - 1)],
        ['process/settlement', 4, null], // from an earlier version
        ['wallet', null, null],
        ['wallet/next', 0, idAt(0)],
      ];
      for (const [name, at, eventId] of consumers) {
        const position = at === null ? null : (positions[at] as Position);
        await createCheckpoint(world.session, { name, version: 3, storeId: names.source, position, eventId });
      }
      // One partition was behind when two were merged.
      await divideOnce(world.session, 'disputes', 2);
      const slow = "UPDATE subscriptions.checkpoints SET position = $1, event_id = $2 WHERE name = 'disputes#1/2'";
      await world.session.query(slow, [positions[2], idAt(2)]);
      await divideOnce(world.session, 'disputes', 1);
    });
  const uses = (direction: Direction) =>
    world.with(async (logs) => {
      const [source, target] = sourceAndTarget(direction, logs);
      return [(await source.state()).kind, (await target.state()).kind];
    });
  const dieAt = (step: Step) => (progress: MoveProgress) => {
    if (progress.kind === 'step' && progress.step === step) throw killed;
  };
  const dieAfterCopying = (events: number) => (progress: MoveProgress) => {
    if (progress.kind === 'copied' && progress.events >= events) throw killed;
  };
  /** Checks that source and target hold the same events, and that the consumers are at the same events. */
  const expectMoved = (direction: Direction) =>
    world.with(async (logs) => {
      const [source, target] = sourceAndTarget(direction, logs);
      expect(await eventsOf(target.store)).to.deep.equal(await eventsOf(source.store));
      for (const { stream, metadata } of world.server.events)
        expect(JSON.parse(metadata), stream).to.include.all.keys('$correlationId', '$causationId');
      const at: Position[] = [];
      for await (const batch of target.store.subscribe({
        after: null,
        categories: null,
        signal: AbortSignal.any([]),
      })) {
        if (batch.kind === 'events') at.push(...batch.events.map(({ position }) => position));
        if (batch.kind === 'caughtUp') break;
      }
      expect(at).to.have.length(EVENTS);
      expect(await world.checkpoints()).to.deep.equal([
        `disputes: ${names.target} @ null, null`,
        `disputes#0/1: ${names.target} @ ${at[2]}, ${idAt(2)}`,
        `disputes#0/2 passed: ${names.target} @ ${at[5]}, ${idAt(5)}`,
        `payments: ${names.target} @ ${at.at(-1)}, ${idAt(EVENTS - 1)}`,
        `process/settlement: ${names.target} @ ${at[4]}, ${idAt(4)}`,
        `wallet: ${names.target} @ null, null`,
        `wallet/next: ${names.target} @ ${at[0]}, ${idAt(0)}`,
      ]);
      expect([(await source.state()).kind, (await target.state()).kind]).to.deep.equal(['moved', 'inUse']);
    });

  for (const direction of ['to', 'from'] as const)
    describe(`${direction} EventStoreDB`, () => {
      beforeEach(() => prepare(direction));

      it('copies and compares the events, and translates the checkpoints', async () => {
        const report = await world.run(direction);
        expect(report).to.deep.equal({ wasDone: false, compared: EVENTS, copied: EVENTS, checkpoints: 7 });
        await expectMoved(direction);
      });

      it('changes nothing in a second run', async () => {
        await world.run(direction);
        const before = world.server.events;
        expect(await world.run(direction)).to.deep.equal({ wasDone: true, compared: 0, copied: 0, checkpoints: 0 });
        expect(world.server.events).to.deep.equal(before);
        await expectMoved(direction);
      });

      it('finishes in the next run after a kill at any step, and never are both logs writable', async () => {
        const untouched = await world.checkpoints();
        const steps: readonly [Step, string[]][] = [
          ['marked', ['inUse', 'copy']],
          ['sealed', ['sealed', 'copy']],
          ['verified', ['sealed', 'copy']],
          ['translated', ['sealed', 'copy']],
          ['moved', ['moved', 'copy']],
          ['inUse', ['moved', 'inUse']],
        ];
        for (const [step, after] of steps) {
          expect(await rejection(world.run(direction, dieAt(step))), step).to.equal(killed);
          expect(await uses(direction), step).to.deep.equal(after);
          if (['marked', 'sealed', 'verified'].includes(step))
            expect(await world.checkpoints()).to.deep.equal(untouched);
        }
        expect((await world.run(direction)).wasDone).to.equal(true);
        await expectMoved(direction);
      });

      it('continues after a kill during the copying', async () => {
        const untouched = await world.checkpoints();
        expect(await rejection(world.run(direction, dieAfterCopying(2)))).to.equal(killed);
        expect(await uses(direction)).to.deep.equal(['sealed', 'copy']);
        expect(await world.checkpoints()).to.deep.equal(untouched);
        const { copied, compared } = await world.run(direction);
        expect(compared).to.equal(EVENTS);
        // Into Postgres, all these events go at once. Into EventStoreDB, the first two were reported, and others were in flight.
        expect(copied).to.be.at.most(direction === 'to' ? EVENTS - 2 : 0);
        await expectMoved(direction);
      });

      it('translates no checkpoints if the copy differs', async () => {
        const untouched = await world.checkpoints();
        await rejection(world.run(direction, dieAt('sealed')));
        await world.with((logs) => {
          const [, target] = sourceAndTarget(direction, logs);
          return target.write([{ ...movedEvent(0), data: '{"forged":true}' }], () => undefined);
        });
        const error = await rejection(world.run(direction));
        expect(error).to.be.instanceOf(LogsDiffer);
        expect(error.message).to.equal('event 1 (payment-moved0@0) has a different data in the copy');
        expect(await world.checkpoints()).to.deep.equal(untouched);
        expect(await uses(direction)).to.deep.equal(['sealed', 'copy']);
      });

      it('can be canceled until checkpoints are translated; the copy stays unusable, and the move can be resumed', async () => {
        await rejection(world.run(direction, dieAfterCopying(2)));
        const giveUp = () =>
          world.with(async (logs) => {
            const [source] = sourceAndTarget(direction, logs);
            return await unseal(source, world.session);
          });
        expect(await giveUp()).to.equal(true);
        expect(await uses(direction)).to.deep.equal(['inUse', 'copy']);
        expect(await giveUp()).to.equal(false);
        await rejection(world.run(direction, dieAt('translated')));
        const tooLate = await rejection(giveUp());
        expect(tooLate).to.be.instanceOf(UsageError);
        expect(tooLate.message).to.match(
          /^the move can no longer be cancelled: the checkpoints already refer to the log at /,
        );
        expect(await uses(direction)).to.deep.equal(['sealed', 'copy']);
        await world.run(direction);
        expect(await rejection(giveUp())).to.be.instanceOf(UsageError);
        await expectMoved(direction);
      });
    });

  it('includes events that a program appended to EventStoreDB before it noticed the seal', async () => {
    await prepare('from');
    const report = await world.with(async ({ postgres, eventStoreDb: source }) => {
      let writes = 0;
      const target: MigratableLog = {
        ...postgres,
        write: async (events, onWritten) => {
          if (writes++ === 0) await source.write([movedEvent(EVENTS)], () => undefined); // ignores the state of the log
          await postgres.write(events, onWritten);
        },
      };
      const move = { source, target, session: world.session, signal: new AbortController().signal };
      return await moveLog({ ...move, assertAlone: async () => undefined, onProgress: () => undefined });
    });
    expect(report).to.include({ copied: EVENTS + 1, compared: EVENTS + 1 });
    await world.with(async ({ postgres, eventStoreDb }) => {
      expect(await eventsOf(postgres.store)).to.deep.equal(await eventsOf(eventStoreDb.store));
    });
  });

  it('ends at the signal, and continues in the next run', async () => {
    await prepare('to');
    const stop = new AbortController();
    const error = await rejection(
      world.run(
        'to',
        (progress) => progress.kind === 'step' && progress.step === 'sealed' && stop.abort(new Error('asked to stop')),
        stop,
      ),
    );
    expect(error.message).to.equal('asked to stop');
    expect(await uses('to')).to.deep.equal(['sealed', 'copy']);
    await world.run('to');
    await expectMoved('to');
  });

  const setUse = (of: keyof Logs, use: LogState) => world.with((logs) => logs[of].setState(use));

  it('requires an empty target', async () => {
    await prepare('to');
    await world.with(({ eventStoreDb }) => world.fill(eventStoreDb, 0, 1));
    const error = await rejection(world.run('to'));
    expect(error).to.be.instanceOf(UsageError);
    expect(error.message).to.match(/already holds events: only an empty log can become a copy$/);
    expect(await uses('to')).to.deep.equal(['inUse', 'inUse']);
  });

  it('rejects a source that is sealed for another copy, has moved, or is a copy itself', async () => {
    await prepare('to');
    const elsewhere = { storeId: 'elsewhere', address: 'esdb://elsewhere:2113' };
    for (const kind of ['sealed', 'moved', 'copy'] as const) {
      await setUse('postgres', { kind, other: elsewhere });
      const error = await rejection(world.run('to'));
      expect(error).to.be.instanceOf(UsageError);
      expect(error.message).to.match(/^this event log .*esdb:\/\/elsewhere:2113.* Nothing was copied to esdb:/);
      expect(await uses('to')).to.deep.equal([kind, 'inUse']);
    }
  });

  it('rejects a target that is a copy of another log, is sealed, or has moved', async () => {
    await prepare('to');
    for (const kind of ['sealed', 'moved', 'copy'] as const) {
      await setUse('eventStoreDb', { kind, other: { storeId: 'elsewhere', address: 'esdb://elsewhere:2113' } });
      expect(await rejection(world.run('to'))).to.be.instanceOf(UsageError);
      expect(await uses('to')).to.deep.equal(['inUse', kind]);
    }
  });

  it('rejects a move if the consumers of this database follow another log or are ahead of this one', async () => {
    await prepare('to');
    await createCheckpoint(world.session, {
      name: 'stats',
      version: 1,
      storeId: 'third',
      position: null,
      eventId: null,
    });
    expect(await rejection(world.run('to'))).to.be.instanceOf(CheckpointMismatch);
    const beyond = '9'.repeat(19) as Position;
    await createCheckpoint(world.session, {
      name: 'stats',
      version: 1,
      storeId: names.source,
      position: beyond,
      eventId: null,
    });
    expect(await rejection(world.run('to'))).to.be.instanceOf(CheckpointMismatch);
    expect(await uses('to')).to.deep.equal(['inUse', 'inUse']);
  });
});
