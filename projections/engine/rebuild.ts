// Builds a fresh copy of a read model beside the live one and swaps when it has caught up. Killed half-way, the next run goes on
// where it was. Reactions never run here (design §6).
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import type { OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import { ensureNext, nextName, swap } from './copies.ts';
import { moveCheckpoints, readCheckpoints } from './checkpoints.ts';
import { nextSchema, type Projection } from './projection.ts';
import { replay } from './replay.ts';

export interface RebuildReport {
  readonly projection: string;
  readonly events: number;
  readonly seconds: number;
}

/** One rebuild of a projection at a time: a second one waits for its turn in vain and says so. */
export class RebuildRunning extends Error {
  override name = 'RebuildRunning';
}

export const rebuild = async (projection: Projection, store: EventStore, openSession: OpenLeaderSession, signal?: AbortSignal): Promise<RebuildReport> => {
  const started = performance.now();
  const session = await openSession('rebuild');
  try {
    if (!(await session.tryLead(`rebuild ${projection.name}`))) throw new RebuildRunning(`${projection.name} is being rebuilt by another process`);
    let position = await session.transaction((tx) => ensureNext(tx, projection, store.storeId));
    const writer = projection.writer(nextSchema(projection.name));
    let events = 0;
    const catchUp = async (until: Position | null) => {
      const done = await replay({
        store,
        session,
        projections: [{ projection, writer }],
        after: position,
        until,
        onBatch: (tx, to, from) => moveCheckpoints(tx, 'rebuild', [nextName(projection)], [from], to),
        ...(signal && { signal }),
      });
      position = done.position;
      events += done.events;
    };
    await catchUp(null);
    // The live copy must not be ahead when it is replaced: reads would go back in time.
    for (let isBehind = true; isBehind; ) {
      isBehind = !(await session.transaction(async (tx) => {
        const live = (await readCheckpoints(tx, [projection.name])).get(projection.name);
        if (live?.position != null && (position === null || live.position > position)) return false;
        await swap(tx, projection, store.storeId, position);
        return true;
      }));
      if (isBehind) await catchUp(null);
    }
    return { projection: projection.name, events, seconds: (performance.now() - started) / 1000 };
  } finally {
    await session.close();
  }
};
