// Builds a fresh copy of a read model beside the live one and swaps it in when it has caught up. A killed rebuild is resumed by the next
// run. Reactions never run here (architecture §6).
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import { AlreadyRunning } from '../../application/ports/readModelWork.ts';
import { moveCheckpoints, type Reached } from './checkpoints.ts';
import { park } from './parkedStreams.ts';
import { parkedStream, readLeftOut } from './parking.ts';
import { pause } from './pause.ts';
import { nextSchema, type Projection } from './projection.ts';
import { endLongReads } from './publishedViews.ts';
import { type Replay, replay } from './replay.ts';
import { holdRetention } from './retentionLock.ts';
import { ensureLive, ensureNext, swap } from './schemaVersions.ts';

export interface RebuildReport {
  readonly projection: string;
  readonly events: number;
  readonly seconds: number;
}

/** Another rebuild of this projection is running. Only one may run at a time. */
export class RebuildRunning extends AlreadyRunning {
  override name = 'RebuildRunning';
}

/** PostgreSQL error code: a long transaction reads the live copy. */
const LOCK_NOT_AVAILABLE = '55P03';
/** Pause that lets readers queued behind the swap proceed. */
const LET_PASS_MS = 300;

export const rebuild = async (
  projection: Projection,
  log: EventLog,
  openSession: OpenLeaderSession,
  signal?: AbortSignal,
  onTaken?: Replay['onTaken'],
): Promise<RebuildReport> => {
  const { store, codec } = log;
  const started = performance.now();
  const session = await openSession('rebuild');
  try {
    if (!(await session.tryLead(`rebuild ${projection.name}`)))
      throw new RebuildRunning(`${projection.name} is being rebuilt by another process`);
    await holdRetention(session);
    const copy = await session.transaction((tx) => ensureNext(tx, projection, store));
    const leftOut = await readLeftOut(session, log, projection.name, copy.name);
    let { position } = copy;
    let reached: Reached | null = position === null ? null : { position, eventId: copy.eventId };
    const writer = projection.writer(nextSchema(projection.name));
    let events = 0;
    const catchUp = async () => {
      signal?.throwIfAborted();
      const done = await replay({
        store,
        codec,
        session,
        projection,
        writer,
        leftOut,
        after: position,
        until: null,
        onBatch: async (tx, to, from, poisoned) => {
          await park(tx, await Promise.all(poisoned.map((poison) => parkedStream(copy.name, poison, store))));
          reached = { position: to, eventId: await store.eventIdAt(to) };
          await moveCheckpoints(tx, 'rebuild', [{ ...copy, position: from }], reached);
        },
        ...(signal && { signal }),
        ...(onTaken && { onTaken: (to, count) => onTaken(to, events + count) }),
      });
      position = done.position;
      events += done.events;
    };
    for (let isLive = false; !isLive; ) {
      await catchUp();
      isLive = await session
        .transaction((tx) => swap(tx, projection, store, reached))
        .catch(async (error: { code?: string }) => {
          if (error.code !== LOCK_NOT_AVAILABLE) throw error;
          await endLongReads(session, projection);
          await pause(LET_PASS_MS, signal);
          return false;
        });
    }
    return { projection: projection.name, events, seconds: (performance.now() - started) / 1000 };
  } finally {
    await session.close();
  }
};

/**
 * Ensures that every read model has tables of this version before the projector leads. Missing ones are created empty and caught up live.
 * Outdated ones are rebuilt beside the old copy, which serves reads meanwhile.
 */
export const prepareLiveCopies =
  (projections: readonly Projection[], log: EventLog, openSession: OpenLeaderSession) =>
  async (session: LeaderSession): Promise<void> => {
    for (const projection of projections) {
      const condition = await session.transaction((tx) => ensureLive(tx, projection, log.store.storeId));
      if (condition === 'outdated') await rebuild(projection, log, openSession);
    }
  };
