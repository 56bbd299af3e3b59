// Builds fresh copies of read models beside the live ones and swaps them in when they have caught up. A killed rebuild is resumed by the
// next run. Reactions never run here (architecture §6).
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import { AlreadyRunning } from '../../application/ports/readModelWork.ts';
import { isLockUnavailable, type LeaderSession, type OpenLeaderSession } from '../../application/ports/sql.ts';
import { type Checkpoint, moveCheckpoints, type Reached } from './checkpoints.ts';
import { park } from './parkedStreams.ts';
import { parkedStream, readLeftOut } from './parking.ts';
import { pause } from './pause.ts';
import { nextSchema, type Projection } from './projection.ts';
import { endLongReads } from './publishedViews.ts';
import { type Copy, type Replay, replay, type Taken } from './replay.ts';
import { holdRetention } from './retentionLock.ts';
import { ensureLive, ensureNext, type OtherVersion, swap } from './schemaVersions.ts';

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
  events: number;
}

/**
 * Rebuilds the projections in one pass over the log, so that each event is read and decoded once. Returns a report for each. Throws
 * RebuildRunning before it changes anything.
 */
export const rebuild = async (
  projections: readonly Projection[],
  log: EventLog,
  openSession: OpenLeaderSession,
  { signal, ...options }: Pick<Replay, 'signal' | 'onTaken' | 'batchSize'> = {},
): Promise<readonly RebuildReport[]> => {
  const started = performance.now();
  const session = await openSession('rebuild');
  try {
    for (const { name } of projections)
      if (!(await session.tryLead(`rebuild ${name}`)))
        throw new RebuildRunning(`${name} is being rebuilt by another process`);
    await holdRetention(session);
    const building: Building[] = [];
    for (const projection of projections) {
      const checkpoint = await session.transaction((tx) => ensureNext(tx, projection, log.store));
      const leftOut = await readLeftOut(session, log, projection.name, checkpoint.name);
      const writer = projection.writer(nextSchema(projection.name));
      building.push({ projection, writer, leftOut, checkpoint, events: 0 });
    }
    // Copies of a killed rebuild are at the position where it ended, the others at the start.
    for (const copies of Map.groupBy(building, ({ checkpoint }) => checkpoint.position).values())
      await build(copies, { ...log, session, ...(signal && { signal }), ...options });
    const seconds = (performance.now() - started) / 1000;
    return building.map(({ projection: { name }, events }) => ({ projection: name, events, seconds }));
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
  }: EventLog & Pick<Replay, 'session' | 'signal' | 'onTaken' | 'batchSize'>,
): Promise<void> => {
  let total = 0;
  const catchUp = async (some: readonly Building[], begin: Reached | null): Promise<Reached | null> => {
    signal?.throwIfAborted();
    let reached = begin;
    const onBatch: Replay['onBatch'] = async (tx, to, from, taken) => {
      for (const [n, copy] of some.entries()) {
        const { events, poisoned } = taken[n] as Taken;
        const parked = poisoned.map((poison) => parkedStream(copy.checkpoint.name, poison, store));
        await park(tx, await Promise.all(parked));
        copy.events += events;
      }
      reached = { position: to, eventId: await store.eventIdAt(to) };
      const standings = some.map(({ checkpoint }) => ({ ...checkpoint, position: from }));
      await moveCheckpoints(tx, 'rebuild', { moved: standings, idle: [] }, reached);
    };
    const done = await replay({
      ...{ store, codec, session, copies: some, after: begin?.position ?? null, until: null, onBatch },
      ...(signal && { signal }),
      ...(batchSize !== undefined && { batchSize }),
      ...(onTaken && { onTaken: (to: Position, count: number) => onTaken(to, total + count) }),
    });
    total += done.events;
    return reached;
  };
  const { position, eventId } = (copies[0] as Building).checkpoint;
  const together = await catchUp(copies, position === null ? null : { position, eventId });
  // The live copies advance meanwhile. Each copy overtakes its live one separately, because that is fastest.
  for (const copy of copies) {
    let reached = together;
    for (;;) {
      const result = await goLive(session, copy, store, reached);
      if (result === 'live') break;
      if (result === 'locked') await pause(LET_PASS_MS, signal);
      reached = await catchUp([copy], reached);
    }
  }
};

/** `behind`: the copy must catch up first. `locked`: a long transaction reads the live one. */
type SwapResult = 'live' | 'behind' | 'locked';

const goLive = (
  session: LeaderSession,
  { projection }: Building,
  store: EventStore,
  reached: Reached | null,
): Promise<SwapResult> =>
  session
    .transaction(async (tx): Promise<SwapResult> => ((await swap(tx, projection, store, reached)) ? 'live' : 'behind'))
    .catch(async (error: unknown): Promise<SwapResult> => {
      if (!isLockUnavailable(error)) throw error; // otherwise a long transaction reads the live copy
      await endLongReads(session, projection);
      return 'locked';
    });

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
