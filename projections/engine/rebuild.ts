// Builds fresh copies of read models beside the live ones and swaps them in when they have caught up. A killed rebuild is resumed by the
// next run. Reactions never run here (architecture §6).
import { eachInTurn } from '../../application/ports/eachInTurn.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import { AlreadyRunning } from '../../application/ports/readModelWork.ts';
import { isLockUnavailable, type LeaderSession, type OpenLeaderSession } from '../../application/ports/sql.ts';
import { type Checkpoint, moveCheckpoints, type Reached } from './checkpoints.ts';
import { park } from './parkedStreams.ts';
import { parkedStream, readLeftOut } from './parking.ts';
import { pause } from './pause.ts';
import { nextSchema, type Projection } from './projection.ts';
import { endLongReads } from './publishedViews.ts';
import { type Copy, CopyFailed, type Replay, replay, type Taken } from './replay.ts';
import { holdRetention } from './retentionLock.ts';
import { ensureLive, ensureNext, type IsWanted, type OtherVersion, type SwapOutcome, swap } from './schemaVersions.ts';

export interface RebuildReport {
  readonly projection: string;
  /** Number of events that may have changed its rows. */
  readonly events: number;
  readonly seconds: number;
}

/** Another rebuild of this projection is running. Only one may run at a time. */
export class RebuildRunning extends AlreadyRunning {
  override name = 'RebuildRunning';
}

/** Pause that lets readers queued behind the swap proceed. */
const LET_PASS_MS = 300;

/** A copy beside the live one while it is built. */
interface Building extends Copy {
  readonly checkpoint: Checkpoint;
  reached: Reached | null;
  events: number;
  isUnwanted: boolean;
}

type RebuildOptions = Pick<Replay, 'signal' | 'onTaken' | 'batchSize'> & {
  /** Asked before a copy goes live; otherwise the copy is dropped. Default: each is wanted. */
  readonly isWanted?: IsWanted;
};

/**
 * Rebuilds the projections in one pass over the log, so that each event is read and decoded once. Returns a report for each that went
 * live. Throws RebuildRunning before it changes anything. If one fails, the others are rebuilt, and its error is thrown at the end.
 */
export const rebuild = async (
  projections: readonly Projection[],
  log: EventLog,
  openSession: OpenLeaderSession,
  { signal, ...options }: RebuildOptions = {},
): Promise<readonly RebuildReport[]> => {
  const started = performance.now();
  const session = await openSession('rebuild');
  try {
    for (const { name } of projections)
      if (!(await session.tryLead(`rebuild ${name}`)))
        throw new RebuildRunning(`${name} is being rebuilt by another process`);
    await holdRetention(session);
    const building: Building[] = [];
    const prepare = async (projection: Projection): Promise<void> => {
      const checkpoint = await session.transaction((tx) => ensureNext(tx, projection, log.store));
      const leftOut = await readLeftOut(session, log, projection.name, checkpoint.name);
      const writer = projection.writer(nextSchema(projection.name));
      const { position, eventId } = checkpoint;
      const reached = position === null ? null : { position, eventId };
      building.push({ projection, writer, leftOut, checkpoint, reached, events: 0, isUnwanted: false });
    };
    // Copies of a killed rebuild are at the position where it ended, the others at the start.
    const buildAll = (): Promise<void> =>
      eachInTurn(Map.groupBy(building, ({ checkpoint }) => checkpoint.position).values(), (copies) =>
        build(copies, { ...log, session, ...(signal && { signal }), ...options }),
      );
    await eachInTurn([() => eachInTurn(projections, prepare), buildAll], (step) => step());
    const seconds = (performance.now() - started) / 1000;
    const live = building.filter(({ isUnwanted }) => !isUnwanted);
    return live.map(({ projection: { name }, events }) => ({ projection: name, events, seconds }));
  } finally {
    await session.close();
  }
};

/** Catches up copies at the same position, and makes them the live ones. */
const build = async (
  copies: readonly Building[],
  {
    store,
    codec,
    session,
    signal,
    onTaken,
    batchSize,
    isWanted = () => true,
  }: EventLog & Pick<Replay, 'session'> & RebuildOptions,
): Promise<void> => {
  let total = 0;
  const catchUp = async (some: readonly Building[]): Promise<void> => {
    signal?.throwIfAborted();
    const before = total;
    const onBatch: Replay['onBatch'] = async (tx, to, from, taken) => {
      for (const [n, copy] of some.entries()) {
        const { events, poisoned } = taken[n] as Taken;
        const parked = poisoned.map((poison) => parkedStream(copy.checkpoint.name, poison, store));
        await park(tx, await Promise.all(parked));
        copy.events += events;
      }
      const reached = { position: to, eventId: await store.eventIdAt(to) };
      const standings = some.map(({ checkpoint }) => ({ ...checkpoint, position: from }));
      await moveCheckpoints(tx, 'rebuild', { moved: standings, idle: [] }, reached);
      for (const copy of some) copy.reached = reached;
    };
    await replay({
      ...{ store, codec, session, copies: some, after: some[0]?.reached?.position ?? null, until: null, onBatch },
      ...(signal && { signal }),
      ...(batchSize !== undefined && { batchSize }),
      onTaken: (to, count) => {
        total = before + count;
        return onTaken?.(to, total);
      },
    });
  };
  // The live copies advance meanwhile. Each copy overtakes its live one separately, because that is fastest.
  const overtake = async (copy: Building): Promise<void> => {
    for (;;) {
      const result = await goLive(session, copy, store, isWanted);
      copy.isUnwanted = result === 'unwanted';
      if (result === 'live' || copy.isUnwanted) return;
      if (result === 'locked') await pause(LET_PASS_MS, signal);
      await catchUp([copy]);
    }
  };
  const buildTogether = async (some: readonly Building[]): Promise<void> => {
    try {
      await catchUp(some);
    } catch (error) {
      const others = error instanceof CopyFailed ? some.filter((copy) => copy !== error.copy) : [];
      for (const { writer } of others) writer.reset(); // their rows of the batch were rolled back
      if (others.length > 0) await buildTogether(others);
      throw error;
    }
    await eachInTurn(some, overtake);
  };
  await buildTogether(copies);
};

/** Returns `locked` if a long transaction reads the live copy. */
const goLive = async (
  session: LeaderSession,
  { projection, reached }: Building,
  store: EventStore,
  isWanted: IsWanted,
): Promise<SwapOutcome | 'locked'> => {
  try {
    return await session.transaction((tx) => swap(tx, projection, store, reached, isWanted));
  } catch (error) {
    if (!isLockUnavailable(error)) throw error;
    await endLongReads(session, projection);
    return 'locked';
  }
};

/**
 * Creates the tables of missing read models, which are then caught up live. `names`: those that the session leads; default: all. Returns
 * the read models whose tables have another version: they are left out until they are rebuilt beside the live ones (versionWork.ts).
 */
export const prepareLiveCopies =
  (projections: readonly Projection[], { store }: Pick<EventLog, 'store'>) =>
  async (session: LeaderSession, names?: readonly string[]): Promise<readonly OtherVersion[]> => {
    const others: OtherVersion[] = [];
    for (const projection of projections) {
      if (names?.includes(projection.name) === false) continue;
      const condition = await session.transaction((tx) => ensureLive(tx, projection, store.storeId));
      if (condition === 'outdated' || condition === 'newer') others.push({ name: projection.name, condition });
    }
    return others;
  };
