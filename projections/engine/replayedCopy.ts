// A copy of a read model that is replayed from the log beside the live one, and follows it from position to position.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LeaderSession } from '../../application/ports/sql.ts';
import type { LeftOut } from './parking.ts';
import { type Front, furthestOf, isAtMost, leastOf, reachedIn } from './partitions.ts';
import { type Projection, type ProjectionWriter, verifySchema } from './projection.ts';
import { replay } from './replay.ts';
import { createVerifyCopy, dropSchema } from './schemaVersions.ts';

export class ReplayedCopy {
  readonly #projection: Projection;
  readonly #session: LeaderSession;
  readonly #log: EventLog;
  readonly #signal: AbortSignal | undefined;
  #writer: ProjectionWriter | null = null;
  #front: Front = [null];
  /** Streams that the live copy left out, each from a revision on. */
  #parkedLive: ReadonlyMap<string, number> = new Map();
  /** Streams that only this copy could not process. */
  readonly #parkedHere = new Map<string, number>();

  constructor(projection: Projection, session: LeaderSession, { store, codec }: EventLog, signal?: AbortSignal) {
    this.#projection = projection;
    this.#session = session;
    this.#log = { store, codec };
    this.#signal = signal;
  }

  /** Replays up to a front, without the events that the live copy leaves out. Starts again if it can't continue from its position. */
  async reach(until: Front, leftOut: LeftOut, onTaken?: (position: Position, events: number) => void): Promise<void> {
    const parkedLive = new Map(leftOut.parked);
    if (this.#writer === null || !this.#canFollow(until, parkedLive)) await this.#begin();
    this.#parkedLive = parkedLive;
    for (const [stream, revision] of this.#parkedHere) if (!parkedLive.has(stream)) leftOut.park(stream, revision);
    const end = furthestOf(until);
    if (end !== null && until.join() !== this.#front.join()) {
      const from = this.#front;
      const isUndivided = from.length === 1 && until.length === 1;
      const takes = ({ stream, position }: RecordedEvent): boolean =>
        position > (reachedIn(from, stream) ?? '') && position <= (reachedIn(until, stream) ?? '');
      const copies = [{ projection: this.#projection, writer: this.#writer as unknown as ProjectionWriter, leftOut }];
      await replay({
        ...this.#log,
        ...{ session: this.#session, copies, after: leastOf(from), until: end },
        ...(!isUndivided && { takes }),
        ...(onTaken && { onTaken }),
        ...(this.#signal && { signal: this.#signal }),
      });
    }
    this.#front = until;
    for (const [stream, revision] of leftOut.parked)
      if (!parkedLive.has(stream)) this.#parkedHere.set(stream, revision);
  }

  drop(): Promise<unknown> {
    return dropSchema(this.#session, verifySchema(this.#projection.name));
  }

  /** The live copy may have gone back with a restored log, or resumed a stream whose events this copy has passed. */
  #canFollow(until: Front, parkedLive: ReadonlyMap<string, number>): boolean {
    const isBehind = isAtMost(this.#front, until);
    return (
      isBehind && [...this.#parkedLive].every(([stream, from]) => (parkedLive.get(stream) ?? Number.MAX_VALUE) <= from)
    );
  }

  async #begin(): Promise<void> {
    this.#writer = this.#projection.writer(await createVerifyCopy(this.#session, this.#projection));
    this.#front = [null];
    this.#parkedHere.clear();
  }
}
