// One process's part in a role, from joining it to losing its session or stopping: the consumers that it leads, and when it releases them
// to another process (ADR 0020).

import type { LogConsumer } from '../../application/ports/consumers.ts';
import type { LeaderSession, Share } from '../../application/ports/sql.ts';
import {
  assertSameLog,
  createFirstCheckpoint,
  LostLeadership,
  readCheckpoints,
  readPlaces,
  readPositions,
} from './checkpoints.ts';
import { divided } from './division.ts';
import { type Member, Turns } from './lanes.ts';
import { LedLanes } from './ledLanes.ts';
import { readLeftOut } from './parking.ts';
import { frontOf, partitionName, partsOf, readName } from './partitions.ts';
import { pause } from './pause.ts';
import type { RetryHooks } from './retry.ts';
import { conditionOf, type OtherVersion } from './schemaVersions.ts';
import type { SubscriptionsOptions } from './subscriptionsOptions.ts';

/** Events per turn. Decoding and rendering them must not block the event loop for more than 10 ms. */
const BATCH_SIZE = 300;
const RETRY_DELAY_MS_MAX = 5_000;
/**
 * Interval at which a process looks at the others, if there are others or if it waits for work. A takeover must fit into the 1 s that a
 * read of one's own write waits at most.
 */
const LOOK_MS = 100;
/** Interval at which a process checks whether a consumer that it left out has the process's version now. */
const VERSIONS_MS = 500;
/** If a newer version of the program built a read model, a process of that version has this long to lead it. */
const YIELD_MS = 5_000;

export interface LeadershipOptions extends SubscriptionsOptions {
  readonly hooks: RetryHooks;
  /** Called after consumers were taken. */
  readonly onTook: () => void;
}

/** A consumer or one of its partitions, which this process can lead. */
interface Piece {
  /** Name of its checkpoint and of its lock. */
  readonly name: string;
  readonly consumer: LogConsumer;
}

export class Leadership {
  readonly lanes: LedLanes;
  readonly turns: Turns;
  readonly #options: LeadershipOptions;
  readonly #until: AbortSignal;
  readonly #duties = new Set<string>();
  /** Consumers whose checkpoint was moved elsewhere. Their locks are still held. */
  readonly #lost = new Set<string>();
  #oneLost = Promise.withResolvers<void>();
  /** Consumers whose tables have another version. */
  #others: readonly OtherVersion[] = [];
  /** The times since which no living process can lead a consumer of a newer version. */
  readonly #orphaned = new Map<string, number>();
  /** The consumers that this process can lead, or their partitions. */
  #pieces: readonly Piece[] = [];
  /** The pieces and duties that this process has published as able to lead. */
  #able: readonly string[] | null = null;
  #versionsReadAtMs = 0;

  /** Works until the signal. */
  constructor(session: LeaderSession, options: LeadershipOptions, until: AbortSignal) {
    const { openSession, hooks, onFault, onRestart = () => undefined } = options;
    const { batchSize = BATCH_SIZE, retryDelayMsMax = RETRY_DELAY_MS_MAX } = options;
    this.turns = new Turns(session);
    this.#options = options;
    this.#until = until;
    const onLost = (name: string): void => {
      this.#lost.add(name);
      this.#oneLost.resolve();
      onRestart(new LostLeadership(`another process moved the checkpoint of ${name}`));
    };
    const limits = { batchSize, retryDelayMsMax };
    const reports = { onFault, onDelay: onRestart, onLost };
    this.lanes = new LedLanes({ ...hooks, ...limits, ...reports, openSession, turns: this.turns }, until);
  }

  /** Names of the consumers, partitions and duties that this process leads. */
  get led(): readonly string[] {
    return [...this.lanes.members.map(({ name }) => name), ...this.#duties];
  }

  /** Whether the consumer's tables have a newer version that no living process can lead: that version was rolled back. */
  isOrphaned(name: string): boolean {
    const { yieldMs = YIELD_MS } = this.#options;
    const since = this.#orphaned.get(name);
    return since !== undefined && performance.now() - since >= yieldMs;
  }

  /** Resolves on the signal. Rejects when this process must join the role again. */
  async work(): Promise<void> {
    await Promise.race([this.#work(), this.lanes.broken, this.turns.session.lost]);
  }

  async #work(): Promise<void> {
    const share = await this.#join();
    if (share === null) return;
    while (!this.#until.aborted) {
      if (this.#lost.size > 0) await this.#beginAnew(share);
      if (this.#areVersionsDue()) await this.#readVersions(share);
      await this.#settle(share);
      await this.#nextLook(share);
    }
  }

  async #join(): Promise<Share | null> {
    const { role } = this.#options;
    while (!this.#until.aborted) {
      const share = await this.turns.session.tryShare(role);
      if (share !== null) return share;
      await pause(LOOK_MS, this.#until);
    }
    return null;
  }

  #areVersionsDue(): boolean {
    if (this.#versionsReadAtMs === 0) return true;
    return this.#others.length > 0 && performance.now() - this.#versionsReadAtMs >= VERSIONS_MS;
  }

  /** Finds the consumers whose tables have another version. Publishes the names of the others. */
  async #readVersions(share: Share): Promise<void> {
    const { consumers, versionOf = () => 1, duties = [], onOtherVersions } = this.#options;
    const names = consumers.map(({ name }) => name);
    const known = await this.turns.take((session) => readCheckpoints(session, names));
    const others = consumers.flatMap((consumer): readonly OtherVersion[] => {
      const own = { version: versionOf(consumer), isByAccount: consumer.ofPartition !== undefined };
      const condition = conditionOf(own, known.get(consumer.name));
      return condition === 'outdated' || condition === 'newer' ? [{ name: consumer.name, condition }] : [];
    });
    this.#versionsReadAtMs = performance.now();
    this.#others = others;
    const left = new Set(others.map(({ name }) => name));
    this.#pieces = consumers
      .filter(({ name }) => !left.has(name))
      .flatMap((consumer) => piecesOf(consumer, known.get(consumer.name)?.partitions));
    const able = [...this.#pieces.map(({ name }) => name), ...duties];
    if (able.join() === this.#able?.join()) return;
    this.#able = able;
    if (others.length > 0) onOtherVersions?.(others);
    await this.turns.take(() => share.publish(able));
    await share.look();
  }

  /** Releases the work assigned to other processes, and takes the free work assigned to this process. */
  async #settle(share: Share): Promise<void> {
    const { sharers } = share;
    const self = sharers.findIndex(({ isSelf }) => isSelf);
    if (self === -1) throw new LostLeadership(`${this.#options.role}: this process is not known as one that shares it`);
    this.#findOrphans(share);
    const mine = new Set(divided(sharers)[self]);
    const toGive = this.led.filter((name) => !mine.has(name));
    if (toGive.length > 0) await this.#give(share, toGive);
    const held = [...this.led, ...this.#lost];
    const toTake = [...mine].filter((name) => !held.includes(name));
    if (toTake.length > 0) await this.#take(share, toTake);
  }

  #findOrphans({ sharers }: Share): void {
    for (const { name, condition } of this.#others) {
      const isLed = sharers.some(({ able }) => able.some((work) => readName(work).consumer === name));
      const isOrphan = condition === 'newer' && !isLed;
      if (!isOrphan) this.#orphaned.delete(name);
      else if (!this.#orphaned.has(name)) this.#orphaned.set(name, performance.now());
    }
    for (const name of this.#orphaned.keys())
      if (!this.#others.some((other) => other.name === name)) this.#orphaned.delete(name);
  }

  /**
   * Releases consumers whose checkpoint was moved elsewhere: a rebuilt copy was swapped in, or another process led them at the same time.
   * Their versions and checkpoints are then read again.
   */
  async #beginAnew(share: Share): Promise<void> {
    const names = [...this.#lost];
    this.#oneLost = Promise.withResolvers();
    await this.#give(share, names);
    this.#versionsReadAtMs = 0;
    await pause(LOOK_MS, this.#until); // two that both lead must not fight at full speed
  }

  async #give(share: Share, names: readonly string[]): Promise<void> {
    for (const name of names) this.#duties.delete(name);
    await this.lanes.leave(names);
    await this.turns.take(() => share.release(names));
    for (const name of names) this.#lost.delete(name);
  }

  async #take(share: Share, names: readonly string[]): Promise<void> {
    const { duties = [], prepare, onTook } = this.#options;
    const members = await this.turns.take(async (session) => {
      const taken = await share.take(names);
      for (const name of taken) if (duties.includes(name)) this.#duties.add(name);
      const wanted = this.#pieces.filter(({ name }) => taken.includes(name));
      const others = wanted.length === 0 ? [] : ((await prepare?.(session, consumersOf(wanted))) ?? []);
      const current = wanted.filter(({ consumer }) => !others.some(({ name }) => name === consumer.name));
      const loaded = current.length === 0 ? [] : await this.#load(session, current);
      const isTaken = (name: string): boolean => duties.includes(name) || loaded.some((member) => member.name === name);
      const changed = taken.filter((name) => !isTaken(name));
      if (changed.length > 0) {
        await share.release(changed);
        this.#versionsReadAtMs = 0; // the versions or partitions changed a moment ago
      }
      return loaded;
    });
    if (members.length === 0) return;
    this.lanes.join(members);
    onTook();
  }

  /** Returns the members of the pieces, without those that no longer exist, because their consumer was divided in the meantime. */
  async #load(session: LeaderSession, pieces: readonly Piece[]): Promise<Member[]> {
    const { store, codec, versionOf = () => 1, onMoved } = this.#options;
    const known = await readPositions(session, consumersOf(pieces));
    await assertSameLog(store, [...known.values()].flat());
    const members: Member[] = [];
    for (const { name, consumer: whole } of pieces) {
      const checkpoints = known.get(whole.name) ?? [];
      const checkpoint = checkpoints.find((one) => one.name === name);
      const isPartition = name !== whole.name;
      if (!checkpoint && (isPartition || checkpoints.length > 0)) continue;
      const version = checkpoint?.version ?? versionOf(whole);
      if (!checkpoint) await createFirstCheckpoint(session, { name, version, storeId: store.storeId });
      const { part } = readName(name);
      const consumer = (isPartition && whole.ofPartition?.(part.of)) || whole;
      await consumer.reset(session);
      members.push({
        name,
        consumer,
        part,
        front: frontOf(checkpoints),
        categories: new Set<string>(consumer.categories),
        version,
        position: checkpoint?.position ?? null,
        stored: checkpoint?.position ?? null,
        eventId: checkpoint?.eventId ?? null,
        place: null,
        swaps: checkpoint?.swaps ?? 0,
        leftOut: await readLeftOut(session, { store, codec }, whole.name),
        fault: null,
        parkedInARow: 0,
      });
    }
    const names = members.map(({ name }) => name);
    const places = await readPlaces(session, names);
    for (const member of members) member.place = places.get(member.name) ?? null;
    for (const { name, position } of members) if (position !== null) onMoved([name], position);
    return members;
  }

  /** A process that is alone in the role and leads all its work looks only when it renews its lease. */
  async #nextLook(share: Share): Promise<void> {
    if (share.sharers.length === 1 && this.#others.length === 0 && this.led.length === this.#able?.length) {
      await aborting(Promise.race([share.looked(), this.#oneLost.promise]), this.#until);
      return;
    }
    await pause(LOOK_MS, this.#until);
    if (!this.#until.aborted) await share.look();
  }
}

/** `partitions`: their number; undefined if the consumer is not divided. */
const piecesOf = (consumer: LogConsumer, partitions: number | undefined): readonly Piece[] =>
  partitions === undefined
    ? [{ name: consumer.name, consumer }]
    : partsOf(partitions).map((part) => ({ name: partitionName(consumer.name, part), consumer }));

/** Returns the names of the pieces' consumers, each once. */
const consumersOf = (pieces: readonly Piece[]): readonly string[] => [
  ...new Set(pieces.map(({ consumer }) => consumer.name)),
];

/** Resolves with the work, or on the signal. */
const aborting = (work: Promise<void>, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener('abort', stop);
  if (signal.aborted) resolve();
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', stop));
};
