// The lanes of the consumers that this process leads. Consumers join and leave while the others continue.

import { eachInTurn } from '../../application/ports/eachInTurn.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/sql.ts';
import { LostLeadership, movedElsewhere } from './checkpoints.ts';
import { followAlone, type Member, SharedLane, SideSession, standingOf, type Turns } from './lanes.ts';
import { type ParkedRow, readAsked } from './parkedStreams.ts';
import { isOfPart } from './partitions.ts';
import { type RetryHooks, retryParked } from './retry.ts';

export interface LedLanesOptions extends RetryHooks {
  readonly openSession: OpenLeaderSession;
  readonly turns: Turns;
  readonly batchSize: number;
  readonly retryDelayMsMax: number;
  readonly onFault: (name: string, error: Error) => void;
  readonly onDelay: (error: Error) => void;
  /** Called when this process no longer leads the member of this name, because its checkpoint was moved elsewhere. */
  readonly onLost: (name: string) => void;
}

/** A lane while it runs. */
interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export class LedLanes {
  readonly members: Member[] = [];
  /** Rejects when a lane ends by an error. */
  readonly broken: Promise<never>;
  readonly #options: LedLanesOptions;
  readonly #side: SideSession;
  readonly #until: AbortSignal;
  readonly #lone = new Map<Member, Running>();
  #shared: (Running & { readonly lane: SharedLane }) | null = null;
  #fail: (error: Error) => void = () => undefined;

  /** The lanes run until the signal. */
  constructor(options: LedLanesOptions, until: AbortSignal) {
    this.#options = options;
    this.#side = new SideSession(options.openSession, options.role);
    this.#until = until;
    this.broken = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.broken.catch(() => undefined); // the wait for it may be over
  }

  /**
   * Starts to lead the members. Those at the position of the shared lane, or beyond it, join that lane; the others catch up in lanes of
   * their own. If there is no shared lane, it starts at the most common position.
   */
  join(members: readonly Member[]): void {
    this.members.push(...members);
    if (this.#shared === null && members.length > 0) this.#startShared(whereMostStand(members));
    for (const member of members) if (!this.#rejoin(member)) this.#goAlone(member);
  }

  /** Stops leading the consumers. When it resolves, no work on them is running or will start. */
  async leave(names: readonly string[]): Promise<void> {
    const leaving = this.members.filter(({ name }) => names.includes(name));
    for (const member of leaving) this.members.splice(this.members.indexOf(member), 1);
    await this.#end(leaving.flatMap((member) => this.#lone.get(member) ?? []));
    await this.#side.idle();
    await this.#options.turns.take(async () => {
      const together = this.#shared?.lane.members ?? [];
      for (const member of leaving) if (together.includes(member)) together.splice(together.indexOf(member), 1);
    });
    if (this.members.length > 0 || this.#shared === null) return;
    await this.#end([this.#shared]); // it has no consumers left
    this.#shared = null;
  }

  /** Performs requested retries of parked streams. Throws the first error at the end. */
  async attend(): Promise<void> {
    if (this.members.length === 0) return;
    const { turns } = this.#options;
    const names = [...new Set(this.members.map(({ consumer }) => consumer.name))];
    const asked = await turns.take((session) => readAsked(session, names));
    await eachInTurn(asked, (row) => this.#retry(row));
  }

  async #retry(row: ParkedRow): Promise<void> {
    if (this.#until.aborted) return;
    const { turns } = this.#options;
    const member = this.members.find(
      ({ consumer, part }) => consumer.name === row.consumer && isOfPart(part, row.stream),
    );
    // Without a position, no compare-and-set would prevent a former leader's retry. The retry is handled when the member has moved.
    if (member === undefined || member.position === null) return;
    const isShared = () => this.#shared?.lane.members.includes(member) === true;
    const wasShared = isShared();
    const own = wasShared ? turns : await this.#side.turns();
    await own.take(async (session: LeaderSession) => {
      // A consumer that changed lanes while this waited is handled next time.
      const isStill = !this.#until.aborted && this.members.includes(member) && isShared() === wasShared;
      if (!isStill) return;
      await retryParked(member, row, this.#options, session).catch(async (error: unknown) => {
        const isLost =
          error instanceof LostLeadership && (await movedElsewhere(session, [standingOf(member)])).length > 0;
        if (!isLost) throw error;
        this.#options.onLost(member.name); // without a further event, its lane would not notice
      });
    });
  }

  /** Stores the positions of consumers without work. Rejects on a fault. */
  async store(): Promise<void> {
    await this.#shared?.lane.store();
  }

  /** Closes the session of the lone lanes. */
  close(): Promise<void> {
    return this.#side.discard();
  }

  /** Resolves when all lanes have ended, after the signal. */
  async ended(): Promise<void> {
    await this.#shared?.ended;
    while (this.#lone.size > 0) await Promise.all([...this.#lone.values()].map(({ ended }) => ended));
  }

  #startShared(start: Position | null): void {
    const stop = new AbortController();
    const lane = new SharedLane([], start, {
      ...this.#options,
      onLeft: (member) => this.#goAlone(member),
      onLost: (member) => this.#lose(member),
    });
    const ended = lane.follow(AbortSignal.any([this.#until, stop.signal])).catch(this.#fail);
    this.#shared = { lane, stop, ended };
  }

  /** Moves the member to the shared lane, unless it is behind it. */
  #rejoin(member: Member): boolean {
    if (!this.members.includes(member)) return true; // another process leads it
    const lane = this.#shared?.lane;
    if (lane === undefined) return false;
    if (lane.position !== null && (member.position === null || member.position < lane.position)) return false;
    lane.members.push(member);
    return true;
  }

  #goAlone(member: Member): void {
    if (!this.members.includes(member)) return;
    const stop = new AbortController();
    const { onFault, retryDelayMsMax } = this.#options;
    const rejoin = (one: Member): boolean => this.#rejoin(one);
    const options = { ...this.#options, side: this.#side, rejoin, onFault, retryDelayMsMax };
    const ended = followAlone(member, options, AbortSignal.any([this.#until, stop.signal]))
      .catch((error: Error) => (error instanceof LostLeadership ? this.#lose(member) : this.#fail(error)))
      .finally(() => this.#lone.delete(member));
    this.#lone.set(member, { stop, ended });
  }

  #lose(member: Member): void {
    if (!this.members.includes(member)) return;
    this.members.splice(this.members.indexOf(member), 1);
    this.#options.onLost(member.name);
  }

  async #end(lanes: readonly Running[]): Promise<void> {
    for (const { stop } of lanes) stop.abort();
    await Promise.all(lanes.map(({ ended }) => ended));
  }
}

/** Returns the position of most members; on a tie, the furthest one. */
const whereMostStand = (members: readonly Member[]): Position | null => {
  const byPosition = [...Map.groupBy(members, ({ position }) => position)];
  const [first] = byPosition.toSorted(
    ([a, one], [b, other]) => other.length - one.length || ((a ?? '') < (b ?? '') ? 1 : -1),
  );
  return first?.[0] ?? null;
};
