// Following the log: from memory where this process wrote the events itself, else page by page from the database. Pull-based: nothing
// is read ahead but the one page that is fetched while the consumer works on the page before it.
import { setTimeout as pause } from 'node:timers/promises';
import { type SubscriptionSignal, UnknownPosition } from '../../../application/ports/eventStore.ts';
import { backoffMs, raceAbort } from '../../waiting.ts';
import { restoredLog } from '../knownLog.ts';
import type { LogMemory } from './logMemory.ts';
import { type CategoryFilter, type LogPage, placeOf, positionOf, positionOrNull, type Reader } from './reader.ts';

export interface LogSources {
  readonly reader: Reader;
  readonly memory: LogMemory;
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

/** A filter that gave nothing for so many positions, or for so long while the log grew, says how far it is. */
const CHECKPOINT_PLACES = 1_000;
const CHECKPOINT_MS = 5_000;
/** How long a live subscription waits without being woken before it looks by itself. */
const LOOK_EVERY_MS = 1_000;

/** `fellBehind`: a whole page and more was missing, or the connection had to be mended. */
interface Fetched {
  readonly page: LogPage;
  readonly fellBehind: boolean;
}
/** The page that is fetched while the consumer works. */
type Ahead = Promise<Fetched | null> | null;

interface Sources {
  readonly reader: Pick<Reader, 'lookAt'>;
  readonly memory: Pick<LogMemory, 'connections' | 'restores'>;
}

/** Where a subscription stands, and whether the log still has what it read: asked again after every new connection, never for a page. */
export class Footing {
  /** Everything up to this place was read, or is of no category asked for. */
  at: number;
  /** The last event that was read; of the place at which the subscription began the id is learnt with the first proof. */
  #last: { readonly place: number; readonly id: string | null };
  /** Over how many connections it is proved; -1: not yet. */
  #connections = -1;
  #restores: number;
  readonly #sources: Sources;

  constructor(sources: Sources, at: number) {
    this.#sources = sources;
    this.at = at;
    this.#last = { place: at, id: null };
    this.#restores = sources.memory.restores;
  }

  move({ events, upTo }: LogPage): void {
    const last = events.at(-1);
    if (last !== undefined) this.#last = { place: placeOf(last.position), id: last.id };
    this.at = upTo;
  }

  /** No connection was opened since the proof, so that all reads since then were of the same log. */
  get isProved(): boolean {
    return this.#connections === this.#sources.memory.connections;
  }

  /** Throws UnknownPosition, EventStoreUnavailable. */
  async prove(): Promise<void> {
    const { reader, memory } = this.#sources;
    const { place, id } = this.#last;
    // Counted before the question: if that opens a connection, it is asked once more.
    const { connections, restores } = memory;
    const found = await reader.lookAt(place);
    if (found.head < this.at) throw restoredLog(positionOf(this.at), 'no event');
    const isOther = id !== null && found.id !== null && found.id !== id;
    // A filter passes places without reading what stands there: behind a restored log nothing tells whether it was the same.
    const isDoubtful = restores !== this.#restores && place !== this.at;
    if (isOther || isDoubtful) throw restoredLog(positionOf(this.at), 'another event');
    if (id === null) this.#last = { place, id: found.id };
    this.#restores = restores;
    this.#connections = connections;
  }
}

const isWorthStoring = (places: number, sinceMs: number): boolean =>
  places >= CHECKPOINT_PLACES || (places > 0 && sinceMs >= CHECKPOINT_MS);

const fromMemory = (
  { memory: { recent, head } }: LogSources,
  after: number,
  { filter, batchSize }: Following,
): LogPage | null => {
  const events = recent.after(after, batchSize);
  if (events === null) return null;
  // The remembered run has no hole, so that the places are counted, not read.
  const upTo = after + events.length;
  return {
    events: filter === null ? events : events.filter((event) => filter.matches(event.stream)),
    upTo,
    atHead: upTo >= head.known,
  };
};

/** Tries for ever; null when the signal came first. Never rejects. */
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

/** Makes sure that the log still has what was read of it; false when the signal came first. Throws UnknownPosition. */
const proved = async ({ onError }: LogSources, footing: Footing, signal: AbortSignal): Promise<boolean> => {
  for (let attempt = 0; !signal.aborted && !footing.isProved; attempt++) {
    try {
      await raceAbort(footing.prove(), signal);
    } catch (error) {
      if (error instanceof UnknownPosition) throw error;
      onError(error);
      await pause(backoffMs(attempt), undefined, { signal }).catch(() => undefined);
    }
  }
  return !signal.aborted;
};

/** What stands directly behind that place, once; null when the signal came first. */
const nextPage = async (
  sources: LogSources,
  after: number,
  following: Following,
  ahead: Ahead,
): Promise<Fetched | null> => {
  const remembered = ahead === null ? fromMemory(sources, after, following) : null;
  if (remembered !== null) return { page: remembered, fellBehind: false };
  return await raceAbort(ahead ?? fromLog(sources, after, following), following.signal);
};

/** Ends without an error when the signal is given. Throws UnknownPosition, and nothing of the database's. */
export async function* follow(sources: LogSources, asked: Following): AsyncGenerator<SubscriptionSignal, void> {
  const { head, recent } = sources.memory;
  const left = new AbortController(); // given when the consumer breaks off: nothing may go on reading for it
  const following = { ...asked, signal: AbortSignal.any([asked.signal, left.signal]) };
  const { signal } = following;
  const footing = new Footing(sources, following.after);
  let reported = { place: footing.at, atMs: performance.now() };
  let live = false;
  let ahead: Ahead = null;
  const report = (): void => {
    reported = { place: footing.at, atMs: performance.now() };
  };

  try {
    while (true) {
      if (!footing.isProved) ahead = null; // it may have been read from another log
      if (!(await proved(sources, footing, signal))) return;
      const { known } = head;
      const fetched = await nextPage(sources, footing.at, following, ahead);
      if (fetched === null || signal.aborted) return;
      const { page, fellBehind } = fetched;
      live &&= !fellBehind;
      if (!footing.isProved) continue; // nor is this page taken
      footing.move(page);
      const { at } = footing;
      ahead = page.atHead || recent.after(at, 1) !== null ? null : fromLog(sources, at, following);

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
      // Known before the page was read, so the page showed it, unless the log was restored to an older state meanwhile.
      await head.wait(Math.max(at, known), LOOK_EVERY_MS, signal);
    }
  } finally {
    left.abort();
  }
}
