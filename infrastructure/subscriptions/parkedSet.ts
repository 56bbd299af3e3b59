// The parked streams as this process knows them, so that requests need no query. They are read at the start and updated by notices, which
// arrive before those of the progress. Because a notice can be missed, they are also read again from time to time.

import type { ParkedStreams, ReadModelName } from '../../application/ports/readModels/progress.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { StreamName, Tenant } from '../../domain/kernel/ids.ts';
import {
  PARKED_CHANNEL,
  type ParkedNotice,
  type ParkedStream,
  readParked,
} from '../../projections/engine/parkedStreams.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';

type Known = Omit<ParkedStream, 'error'> & { readonly error?: string };

interface ParkedSetOptions {
  readonly db: Sql;
  /** Called at the start if streams are parked. */
  readonly onFound: (streams: number) => void;
  /** Called once for each stream and consumer, and again if the stream was parked at another event. */
  readonly onParked: (stream: Known) => void;
  /** Called when something changed, for example when an operator asked for a retry. */
  readonly onChange: () => void;
  readonly onError: (error: Error) => void;
  readonly lookMs?: number;
}

const LOOK_MS = 5_000;

export class ParkedSet implements ParkedStreams {
  readonly #options: ParkedSetOptions;
  /** By stream, then by consumer. */
  #byStream = new Map<string, Map<string, Known>>();
  #rounds: Repeating | null = null;
  /** Counts the announced changes, so that rows read before a change do not undo it. */
  #changes = 0;
  #looking: Promise<void> | null = null;

  constructor(options: ParkedSetOptions) {
    this.#options = options;
  }

  async follow(notices: NotificationListener): Promise<void> {
    await notices.on(PARKED_CHANNEL, (payload) => this.#heard(payload));
    await this.#look(false);
    if (this.streams > 0) this.#options.onFound(this.streams);
    const { lookMs = LOOK_MS, onError } = this.#options;
    this.#rounds = repeating(lookMs, () => this.look(), { onError });
  }

  async stop(): Promise<void> {
    await this.#rounds?.stop();
  }

  has(model: ReadModelName, stream: StreamName, tenant: Tenant | null): boolean {
    if (this.#byStream.size === 0) return false;
    const known = this.#byStream.get(stream)?.get(model);
    if (known === undefined) return false;
    return tenant === null || known.account === null || isOf(known, tenant);
  }

  hasAnyOf(model: ReadModelName, tenant: Tenant): boolean {
    for (const consumers of this.#byStream.values()) {
      const known = consumers.get(model);
      if (known !== undefined && isOf(known, tenant)) return true;
    }
    return false;
  }

  /** Number of parked streams of all consumers. */
  get streams(): number {
    return this.#byStream.size;
  }

  countOf(consumer: string): number {
    let count = 0;
    for (const consumers of this.#byStream.values()) if (consumers.has(consumer)) count++;
    return count;
  }

  parked(streams: readonly Known[]): void {
    this.#changes++;
    for (const stream of streams) this.#add(stream, this.#byStream);
  }

  taken(consumer: string, stream: string): void {
    this.#changes++;
    const consumers = this.#byStream.get(stream);
    consumers?.delete(consumer);
    if (consumers?.size === 0) this.#byStream.delete(stream);
  }

  /** Reads the rows again. A call during a read waits for that read. A change announced during the read repeats it. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(isReported = true): Promise<void> {
    for (let seen = -1; seen !== this.#changes; ) {
      seen = this.#changes;
      const rows = await readParked(this.#options.db, null);
      if (seen !== this.#changes) continue;
      const next = new Map<string, Map<string, Known>>();
      for (const row of rows) this.#add(row, next, isReported);
      this.#byStream = next;
    }
  }

  #add(stream: Known, to: Map<string, Map<string, Known>>, isReported = true): void {
    const before = this.#byStream.get(stream.stream)?.get(stream.consumer);
    const consumers = to.get(stream.stream) ?? new Map<string, Known>();
    to.set(stream.stream, consumers.set(stream.consumer, stream));
    if (isReported && before?.revision !== stream.revision) this.#options.onParked(stream);
  }

  #heard(payload: string): void {
    const notice = noticeOf(payload);
    if (notice !== null) {
      if (notice.parked) this.parked(notice.parked);
      for (const { consumer, stream } of notice.taken ?? []) this.taken(consumer, stream);
      return;
    }
    this.#changes++;
    this.look().catch(this.#options.onError);
    this.#options.onChange();
  }
}

/** Returns null if the payload only means that something changed. */
const noticeOf = (payload: string): ParkedNotice | null => {
  try {
    return JSON.parse(payload) as ParkedNotice;
  } catch {
    return null;
  }
};

const isOf = ({ account, mode }: Known, { accountId, mode: own }: Tenant): boolean =>
  account === accountId && mode === own;
