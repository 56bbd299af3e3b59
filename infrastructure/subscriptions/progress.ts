// The lag of each consumer of a group behind the log, as known to this process. Its own appends and consumers are known at once; notices
// report those of other processes (architecture §6).

import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import type { CaughtUp, Progress, ReadModelName } from '../../application/ports/readModels/progress.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { IDLE, readPositions } from '../../projections/engine/checkpoints.ts';
import {
  advanced,
  earlier,
  type Front,
  isAtMost,
  leastOf,
  reachedIn,
  readName,
} from '../../projections/engine/partitions.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';

/** The channel for notices of consumers' progress. The payload is empty after a time in which notices were missed. */
export const PROGRESS = 'quita_progress';

/** The content of a notice or a checkpoint about a consumer or a partition. */
interface Heard {
  readonly name: string;
  readonly version: number;
  /** Whether its checkpoint did not move, because it had nothing to do. */
  readonly isIdle?: boolean;
}

/** The front of a consumer that has processed nothing, or is unknown. */
const NOWHERE: Front = [null];

interface Waiter {
  readonly head: Position;
  readonly names: readonly string[];
  /** The account whose partition counts; undefined: all partitions. */
  readonly account: AccountId | undefined;
  readonly resolve: (passed: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

interface Standing {
  /** The progress of the consumer; if divided, partition by partition. */
  front: Front;
  /** The lowest position of the front. */
  position: Position | null;
  /** When the consumer last moved while it was behind; null if it has caught up. */
  behindSinceMs: number | null;
  /** Whether its tables have another version, so that this process can't read them. It is then neither behind nor caught up. */
  isOther: boolean;
}

export class LogProgress<Name extends string = string> implements Progress<Name> {
  readonly names: readonly Name[];
  readonly #now: () => number;
  readonly #standing: ReadonlyMap<string, Standing>;
  readonly #versions: ReadonlyMap<string, number>;
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<{ readonly call: () => void; readonly of: Name | undefined }>();
  #head: Position | null = null;
  #new: readonly Name[] = [];
  /** False while notices are missed, because the database may be restored to an older state meanwhile. */
  #hearsMoves = true;

  /** `names`: the consumers of the group. `versions`: those that this process can read; default: any. */
  constructor(now: () => number, names: readonly Name[], versions: ReadonlyMap<string, number> = new Map()) {
    this.#now = now;
    this.names = names;
    this.#versions = versions;
    const begin = { front: NOWHERE, position: null, behindSinceMs: null, isOther: false };
    this.#standing = new Map(names.map((name) => [name, { ...begin }]));
  }

  /** Listens to the heads that the store announces, and to the notices of consumers of `role` in other processes. */
  async follow(store: EventStore, notices: NotificationListener, role: string): Promise<void> {
    store.onHead((head) => this.sawHead(head));
    store.onRestored((head) => this.reset(head));
    notices.onLost(() => {
      this.#hearsMoves = false;
      this.reset(this.#head);
    });
    await notices.on(PROGRESS, (payload) => {
      if (payload === '') this.#hearsMoves = true;
      const [of, position, names] = payload.split(' ');
      if (of !== role || !position || !names) return;
      const heard = names.split(',').map((text) => {
        const [name = '', version, state] = text.split(':');
        return { name, version: Number(version), isIdle: state === IDLE };
      });
      this.heard(heard, position as Position);
    });
    const head = await store.head();
    if (head !== null) this.sawHead(head);
  }

  /** Call it when the stored positions are known for the first time. */
  begin(): void {
    const nowhere = this.names.filter((name) => this.#standing.get(name)?.position === null);
    if (nowhere.length < this.names.length) this.#new = nowhere;
  }

  /** Whether the consumer had processed nothing when this process started, although others had: it has yet to process the whole log. */
  isNew(name: Name): boolean {
    return this.#new.includes(name);
  }

  sawHead(head: Position): void {
    if (this.#head !== null && head <= this.#head) return;
    this.#head = head;
    for (const standing of this.#standing.values())
      if (standing.behindSinceMs === null && this.#isBehind(standing)) standing.behindSinceMs = this.#now();
  }

  /** Forgets the consumers' positions, because the log or the read models may have been restored to an older state. */
  reset(head: Position | null): void {
    this.#head = head;
    for (const standing of this.#standing.values()) this.#set(standing, NOWHERE);
  }

  /** Records that consumers or partitions, as they are stored now, reached a position. */
  heard(consumers: readonly Heard[], position: Position | null): void {
    const isReadable = ({ name, version }: Heard): boolean =>
      (this.#versions.get(readName(name).consumer) ?? version) === version;
    for (const consumer of consumers) {
      const standing = this.#standing.get(readName(consumer.name).consumer);
      if (consumer.isIdle || standing === undefined || standing.isOther !== isReadable(consumer)) continue;
      standing.isOther = !standing.isOther;
      this.#set(standing, NOWHERE);
    }
    if (position === null) return;
    const readable = consumers.filter(isReadable);
    const namesOf = (some: readonly Heard[]): readonly string[] => some.map(({ name }) => name);
    const [moved, idle] = [readable.filter(({ isIdle }) => !isIdle), readable.filter(({ isIdle }) => isIdle)];
    if (readable.length > 0) this.moved(namesOf(moved), position, namesOf(idle));
  }

  /** Whether this process can't read the consumer's tables, because they have another version. */
  isOtherVersion(name: Name): boolean {
    return this.#standing.get(name)?.isOther === true;
  }

  /**
   * Records that consumers or partitions of this program's version reached a position. Names of other groups are ignored. The leader of an
   * idle consumer may not know yet that a copy of another version was swapped in.
   */
  moved(names: readonly string[], position: Position, idle: readonly string[] = []): void {
    if (!this.#hearsMoves) return;
    let hasMoved = false;
    const all = [...names.map((name) => ({ name, isIdle: false })), ...idle.map((name) => ({ name, isIdle: true }))];
    for (const { name, isIdle } of all) {
      const { consumer, part } = readName(name);
      const standing = this.#standing.get(consumer);
      if (standing === undefined || (standing.isOther && isIdle)) continue;
      const front = advanced(standing.front, part, position);
      if (isAtMost(front, standing.front)) continue;
      hasMoved = true;
      const hasLeastMoved = leastOf(front) !== standing.position;
      standing.front = front;
      if (!hasLeastMoved) continue;
      standing.isOther = false;
      // A consumer that moves is not stuck, although under load it never quite reaches the head.
      this.#set(standing, front);
    }
    if (!hasMoved) return;
    for (const waiter of this.#waiters) if (this.#havePassed(waiter)) this.#settle(waiter, true);
    const took = new Set<string>(names.map((name) => readName(name).consumer));
    for (const { call, of } of this.#listeners) if (of === undefined || took.has(of)) call();
  }

  /** Returns for how many milliseconds a consumer has not moved while behind; 0 if it has caught up. Without a name, the maximum. */
  stuckMs(name?: Name): number {
    if (name === undefined) return Math.max(0, ...this.names.map((one) => this.stuckMs(one)));
    const since = this.#standing.get(name)?.behindSinceMs ?? null;
    return since === null ? 0 : this.#now() - since;
  }

  /** Returns the consumers that have not moved for longer than `forMs`, but at most `upToMs`, although they are behind. */
  standingStill(forMs: number, upToMs = Number.POSITIVE_INFINITY): readonly Name[] {
    return this.names.filter((name) => this.stuckMs(name) > forMs && this.stuckMs(name) <= upToMs);
  }

  /** Returns the consumers that have not reached the newest known head. */
  behind(): readonly Name[] {
    return this.names.filter((name) => this.#isBehind(this.#standing.get(name) as Standing));
  }

  /** The position that all consumers have passed; null while one has processed nothing. */
  get position(): Position | null {
    return leastOf([...this.#standing.values()].map(({ position }) => position));
  }
  get head(): Position | null {
    return this.#head;
  }

  caughtUp(timeoutMs: number, names: readonly Name[] = this.names, account?: AccountId): Promise<boolean> {
    return this.passed(this.#head, timeoutMs, names, account);
  }

  /** Returns whether the consumers pass the position within the time. If the log ends before it, the log's head counts. */
  passed(
    position: Position | null,
    timeoutMs: number,
    names: readonly Name[] = this.names,
    account?: AccountId,
  ): Promise<boolean> {
    const head = earlier(position, this.#head);
    if (names.some((name) => this.isOtherVersion(name))) return Promise.resolve(false); // a rebuild takes longer than any read waits
    if (head === null || this.#havePassed({ names, head, account })) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(waiter, false), timeoutMs);
      const waiter: Waiter = { head, names, account, resolve, timer };
      this.#waiters.add(waiter);
    });
  }

  onMove(call: () => void, of?: Name): () => void {
    const listener = { call, of };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #set(standing: Standing, front: Front): void {
    standing.front = front;
    standing.position = leastOf(front);
    standing.behindSinceMs = this.#isBehind(standing) ? this.#now() : null;
  }

  #isBehind({ position, isOther }: Standing): boolean {
    return !isOther && this.#head !== null && (position === null || position < this.#head);
  }

  #havePassed({ names, head, account }: Pick<Waiter, 'names' | 'head' | 'account'>): boolean {
    return names.every((name) => {
      const { position = null, front = NOWHERE } = this.#standing.get(name) ?? {};
      const isWhole = account === undefined || front.length === 1;
      return ((isWhole ? position : reachedIn(front, ACCOUNT.stream(account))) ?? '') >= head;
    });
  }

  #settle(waiter: Waiter, passed: boolean): void {
    clearTimeout(waiter.timer);
    this.#waiters.delete(waiter);
    waiter.resolve(passed);
  }
}

export const caughtUp =
  (store: Pick<EventStore, 'head'>, progress: Pick<LogProgress<ReadModelName>, 'sawHead' | 'caughtUp'>): CaughtUp =>
  async (model, timeoutMs, account) => {
    const head = await store.head();
    if (head !== null) progress.sawHead(head); // another process's events may not be announced yet
    return { head, isCaughtUp: await progress.caughtUp(timeoutMs, [model], account) };
  };

const LOOK_MS = 500;

/**
 * Follows the progress of consumers in other processes. Notices arrive at once. Because one can be missed, the checkpoints are also read at
 * the start, again while a consumer seems stuck, and when `look` is called.
 */
export const watchCheckpoints = async (
  db: Sql,
  progress: LogProgress,
  onError: (error: Error) => void,
): Promise<{ readonly look: () => void; readonly stop: () => Promise<void> }> => {
  const look = async () => {
    for (const checkpoint of [...(await readPositions(db, progress.names)).values()].flat())
      progress.heard([checkpoint], checkpoint.position);
  };
  await look();
  progress.begin();
  let isAsked = false;
  const isDoubtful = () =>
    isAsked || progress.stuckMs() > LOOK_MS || progress.names.some((name) => progress.isOtherVersion(name));
  const round = async () => {
    if (!isDoubtful()) return;
    await look();
    isAsked = false;
  };
  const { now, stop } = repeating(LOOK_MS, round, { onError });
  const lookNow = () => {
    isAsked = true;
    void now();
  };
  return { look: lookNow, stop };
};
