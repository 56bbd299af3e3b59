// Follows the log: near the head from memory, otherwise page by page from the database. It is pull-based: only one page is read ahead,
// while the consumer processes the page before it.
import { setTimeout as pause } from 'node:timers/promises';
import { type SubscriptionSignal, UnknownPosition } from '../../../application/ports/eventStore.ts';
import { backoffMs, raceAbort } from '../../waiting.ts';
import type { LogMemory } from './logMemory.ts';
import { ProvenPosition } from './provenPosition.ts';
import { type CategoryFilter, type LogPage, positionOf, positionOrNull, type Reader } from './reader.ts';
import type { SharedReads } from './sharedReads.ts';

export interface LogSources {
  readonly reader: Reader;
  readonly memory: LogMemory;
  /** Reads events of other processes into the memory. */
  readonly shared: SharedReads;
  readonly onError: (error: unknown) => void;
}

interface Following {
  /** Exclusive; 0 from the first event. */
  readonly after: number;
  readonly filter: CategoryFilter | null;
  readonly batchSize: number;
  /** Ends the subscription. */
  readonly signal: AbortSignal;
}

/** After this many positions, or this long, without a match, a filter reports a checkpoint if the log grew. */
const CHECKPOINT_PLACES = 1_000;
const CHECKPOINT_MS = 5_000;
/** How often a live subscription reads the log without being woken. */
const LOOK_EVERY_MS = 1_000;

/** `fellBehind`: more than a page was missing, or a read failed before. */
interface Fetched {
  readonly page: LogPage;
  readonly fellBehind: boolean;
}
/** The page that is read while the consumer works. */
type Ahead = Promise<Fetched | null> | null;

const isWorthStoring = (places: number, sinceMs: number): boolean =>
  places >= CHECKPOINT_PLACES || (places > 0 && sinceMs >= CHECKPOINT_MS);

const fromMemory = (
  { memory: { recent, head } }: LogSources,
  after: number,
  { filter, batchSize }: Following,
): LogPage | null => {
  const events = recent.after(after, batchSize);
  if (events === null) return null;
  // The remembered run has no gaps, so the place follows from the number of events.
  const upTo = after + events.length;
  return {
    events: filter === null ? events : events.filter((event) => filter.matches(event.stream)),
    upTo,
    atHead: upTo >= head.known,
  };
};

/** Reads a page, with unlimited retries. Returns null if the signal aborts first. Never rejects. */
const fromLog = async (sources: LogSources, after: number, following: Following): Promise<Fetched | null> => {
  const { signal } = following;
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const page = await sources.reader.logPage(after, following.filter, following.batchSize);
      return { page, fellBehind: attempt > 0 || !page.atHead };
    } catch (error) {
      if (signal.aborted) return null;
      sources.onError(error);
      await pause(backoffMs(attempt), undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
};

/** Proves that the log still has the events read. Returns false if the signal aborts first. Throws UnknownPosition. */
const proved = async ({ onError }: LogSources, position: ProvenPosition, signal: AbortSignal): Promise<boolean> => {
  for (let attempt = 0; !signal.aborted && !position.isProved; attempt++) {
    try {
      await raceAbort(position.prove(), signal);
    } catch (error) {
      if (error instanceof UnknownPosition) throw error;
      onError(error);
      await pause(backoffMs(attempt), undefined, { signal }).catch(() => undefined);
    }
  }
  return !signal.aborted;
};

/** Reads events of other processes into the memory, if they are near the head. Returns null if the page must be read from the log. */
const filledMemory = async (sources: LogSources, after: number, following: Following): Promise<LogPage | null> => {
  if (!sources.shared.isNear(after)) return null;
  // A failed read is repeated from the log, which reports it.
  await raceAbort(
    sources.shared.fill(after).catch(() => undefined),
    following.signal,
  );
  return fromMemory(sources, after, following);
};

/** Returns the page directly after that place, or null if the signal aborts first. */
const nextPage = async (
  sources: LogSources,
  after: number,
  following: Following,
  ahead: Ahead,
): Promise<Fetched | null> => {
  if (ahead !== null) return await raceAbort(ahead, following.signal);
  const remembered = fromMemory(sources, after, following) ?? (await filledMemory(sources, after, following));
  if (remembered !== null) return { page: remembered, fellBehind: false };
  return await raceAbort(fromLog(sources, after, following), following.signal);
};

/** Follows the log. Ends without an error when the signal aborts. Throws UnknownPosition, but no database errors. */
export async function* follow(sources: LogSources, asked: Following): AsyncGenerator<SubscriptionSignal, void> {
  const { shared } = sources;
  const { head, recent } = sources.memory;
  const left = new AbortController(); // aborted when the consumer stops, so that no read continues for it
  const following = { ...asked, signal: AbortSignal.any([asked.signal, left.signal]) };
  const { signal } = following;
  const position = new ProvenPosition(sources, following.after);
  let reported = { place: position.at, atMs: performance.now() };
  let live = false;
  let ahead: Ahead = null;
  const report = (): void => {
    reported = { place: position.at, atMs: performance.now() };
  };

  const release = recent.keepFor(position);
  const leave = asked.filter === null ? shared.enter() : () => undefined;
  try {
    while (true) {
      if (!position.isProved) ahead = null; // it may be from another log
      if (!(await proved(sources, position, signal))) return;
      const { known } = head;
      const fetched = await nextPage(sources, position.at, following, ahead);
      if (fetched === null || signal.aborted) return;
      const { page, fellBehind } = fetched;
      live &&= !fellBehind;
      if (!position.isProved) continue; // this page may be from another log, too
      position.move(page);
      const { at } = position;
      const isInMemory = recent.after(at, 1) !== null || shared.isNear(at);
      ahead = page.atHead || isInMemory ? null : fromLog(sources, at, following);

      if (page.events.length > 0) {
        yield { kind: 'events', events: page.events, position: positionOf(at) };
        report();
      } else if (isWorthStoring(at - reported.place, performance.now() - reported.atMs)) {
        report();
        yield { kind: 'checkpoint', position: positionOf(at) };
      }
      if (signal.aborted) return;
      if (!page.atHead) continue;
      if (!live) {
        live = true;
        report();
        yield { kind: 'caughtUp', position: positionOrNull(at) };
      }
      // `known` was read before the page, so the page includes it, unless the log was restored to an older state in the meantime.
      await head.wait(Math.max(at, known), LOOK_EVERY_MS, signal);
    }
  } finally {
    release();
    leave();
    left.abort();
  }
}
