// Builds read models of this program's version beside the live ones of another version, in the background. It has a reader and a session
// of its own, in any projector process, and rests whenever the live read models fall behind (architecture §6).
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { OpenLeaderSession, Sql } from '../../application/ports/sql.ts';
import { readCheckpoints } from './checkpoints.ts';
import { pause } from './pause.ts';
import type { Projection } from './projection.ts';
import { RebuildRunning, rebuild } from './rebuild.ts';
import { conditionOf, type IsWanted } from './schemaVersions.ts';

export interface VersionWorkOptions {
  readonly projections: readonly Projection[];
  readonly log: EventLog;
  readonly openSession: OpenLeaderSession;
  /** For looks at the checkpoints. */
  readonly db: Sql;
  /** Whether no living process can lead this read model of a newer version. Only then it is replaced. Asked again before the swap. */
  readonly isOrphaned: (name: string) => boolean;
  /** Whether the live read models are behind, so that this work must rest. */
  readonly isBehind: () => boolean;
  /** Called at the start, then about every 10 s, and at the end: for those that went live, and for those that were given up. */
  readonly onProgress: (names: readonly string[], progress: VersionProgress) => void;
  readonly onError: (error: Error) => void;
}

export interface VersionProgress {
  /** `given up`: a process of the newer version has returned. */
  readonly state: 'started' | 'running' | 'done' | 'given up';
  readonly position: Position | null;
  readonly events: number;
}

const LOOK_MS = 1_000;
/** Events per transaction: as few as in a live turn, because the live read models share the event loop. */
const BATCH_SIZE = 300;
/** The work rests for this multiple of the time that it takes. */
const REST_FACTOR = 1;
const REST_MS_WHILE_BEHIND = 50;
const REPORT_MS = 10_000;

/** Starts the work. Returns a function that stops it; the next process resumes it. */
export const startVersionWork = (options: VersionWorkOptions): (() => Promise<void>) => {
  const stopping = new AbortController();
  const work = repeating(LOOK_MS, () => buildMissing(options, stopping.signal), {
    onError: (error) => {
      if (!stopping.signal.aborted && !(error instanceof RebuildRunning)) options.onError(error);
    },
  });
  work.within(0);
  return async () => {
    stopping.abort();
    await work.stop();
  };
};

const buildMissing = async (options: VersionWorkOptions, signal: AbortSignal): Promise<void> => {
  const { projections, log, openSession, db, isOrphaned, onProgress } = options;
  const live = await readCheckpoints(
    db,
    projections.map(({ name }) => name),
  );
  const isWanted: IsWanted = (projection, live) => {
    const condition = conditionOf(projection, live);
    return condition === 'outdated' || (condition === 'newer' && isOrphaned(projection.name));
  };
  const wanted = projections.filter((projection) => isWanted(projection, live.get(projection.name)));
  if (wanted.length === 0 || signal.aborted) return;
  const names = wanted.map(({ name }) => name);
  const pace = paced(options, signal);
  let last: VersionProgress = { state: 'started', position: null, events: 0 };
  let reportedAt = performance.now();
  onProgress(names, last);
  const rebuilt = await rebuild(wanted, log, openSession, {
    signal,
    isWanted,
    batchSize: BATCH_SIZE,
    onTaken: async (position, events) => {
      last = { state: 'running', position, events };
      if (performance.now() - reportedAt > REPORT_MS) {
        reportedAt = performance.now();
        onProgress(names, last);
      }
      await pace(events);
    },
  });
  const done = rebuilt.map(({ projection }) => projection);
  const givenUp = names.filter((name) => !done.includes(name));
  if (done.length > 0) onProgress(done, { ...last, state: 'done' });
  if (givenUp.length > 0) onProgress(givenUp, { ...last, state: 'given up' });
};

/**
 * Returns a function to await after each batch, with the number of events so far. There is no rest after a small batch, because the copy
 * must then overtake the live one.
 */
const paced = (
  { isBehind }: Pick<VersionWorkOptions, 'isBehind'>,
  signal: AbortSignal,
): ((events: number) => Promise<void>) => {
  let begunAt = performance.now();
  let before = 0;
  return async (events) => {
    if (events - before >= BATCH_SIZE / 2) {
      await pause((performance.now() - begunAt) * REST_FACTOR, signal);
      while (isBehind() && !signal.aborted) await pause(REST_MS_WHILE_BEHIND, signal);
    }
    begunAt = performance.now();
    before = events;
  };
};
