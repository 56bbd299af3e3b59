// The log in memory, with the server's rules about expected revisions, repeats, soft deletes and tombstones (eventStoreDb/README.md).
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { IdCache } from './idCache.ts';
import {
  type Expected,
  expectedNumber,
  isSystem,
  type LogRecord,
  metadataStream,
  type Place,
  type ProposedEvent,
  TOMBSTONE_REVISION,
} from './record.ts';
import { FIRST_RECORDS } from './systemEvents.ts';

interface Stream {
  /** In order of their revisions, which begin at 0 without gap. A tombstone is not among them. */
  readonly records: LogRecord[];
  /** Records below are hidden by a soft delete. */
  truncatedBefore: number;
  state: 'open' | 'softDeleted' | 'tombstoned';
}

export type Verdict =
  | { readonly kind: 'written'; readonly revision: bigint; readonly place: Place }
  /** A repeat: nothing was written. `place` is null on a soft-deleted stream. */
  | { readonly kind: 'repeated'; readonly revision: bigint; readonly place: Place | null }
  | { readonly kind: 'wrongExpectedVersion'; readonly expected: Expected; readonly actual: bigint | null }
  | { readonly kind: 'streamDeleted' };

/** `open`: the events that can be read. `missing`: never written, or soft-deleted. */
type StreamView =
  | { readonly kind: 'open'; readonly records: readonly LogRecord[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'tombstoned' };

export class Log extends EventEmitter<{ grown: [] }> {
  readonly records: LogRecord[] = [];
  readonly #streams = new Map<string, Stream>();
  readonly #scavenged = new Set<LogRecord>();
  /** What makes `any` idempotent, as long as it is remembered. */
  readonly #recent: IdCache;
  readonly #now: () => number;
  #end = 0n;

  /** `now`: the server's clock, in milliseconds. */
  constructor(anyCacheEvents: number, now: () => number) {
    super();
    this.#now = now;
    this.setMaxListeners(0);
    this.#recent = new IdCache(anyCacheEvents);
    for (const { stream, type, data } of FIRST_RECORDS) this.append(stream, 'any', [systemEvent(type, data)]);
  }

  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): Verdict {
    const refused = this.#check(
      stream,
      expected,
      events.map(({ id }) => id),
    );
    if (refused !== null) return refused;
    this.#undelete(stream);
    const target = this.#open(stream);
    let last = target.records.at(-1);
    for (const event of events) {
      last = this.#write(stream, BigInt(target.records.length), event);
      target.records.push(last);
    }
    this.emit('grown');
    return {
      kind: 'written',
      revision: last?.revision ?? -1n,
      place: last ?? { commit: this.#end, prepare: this.#end },
    };
  }

  /** Soft: the events are hidden and the numbering goes on. */
  delete(stream: string, expected: Expected): Verdict {
    const refused = this.#check(stream, expected, [randomUUID()]);
    if (refused !== null) return refused;
    const target = this.#open(stream);
    const marker = this.#writeMetadata(stream, `{"$tb":${TOMBSTONE_REVISION}}`);
    target.state = 'softDeleted';
    target.truncatedBefore = target.records.length;
    this.emit('grown');
    return { kind: 'written', revision: marker.revision, place: marker };
  }

  /** For ever: neither read nor written again. */
  tombstone(stream: string, expected: Expected): Verdict {
    const refused = this.#check(stream, expected, [randomUUID()]);
    if (refused !== null) return refused;
    const marker = this.#write(stream, TOMBSTONE_REVISION, systemEvent('$streamDeleted', ''));
    this.#open(stream).state = 'tombstoned';
    this.emit('grown');
    return { kind: 'written', revision: marker.revision, place: marker };
  }

  /** Takes the events of deleted streams out of the first `records` of the log: the real server does it file by file. */
  scavenge(records = this.records.length): void {
    for (const record of this.records.slice(0, records))
      if (this.#streams.get(record.stream)?.state === 'tombstoned' && record.revision !== TOMBSTONE_REVISION)
        this.#scavenged.add(record);
  }

  /** Whether the record can't be read any more. Its place can still be read from: the server finds the next one that is there. */
  isScavenged(record: LogRecord): boolean {
    return this.#scavenged.has(record);
  }

  /** What a restored backup holds: everything up to the record at `commit`. Streams that were deleted are not modelled. */
  restore(commit: bigint): void {
    this.records.splice(this.indexAt(commit) + 1);
    const kept = new Set(this.records);
    for (const [name, { records }] of this.#streams) {
      records.splice(0, records.length, ...records.filter((record) => kept.has(record)));
      if (records.length === 0) this.#streams.delete(name);
    }
    const last = this.records.at(-1) as LogRecord;
    this.#end = last.commit + sizeOf(last);
    this.forgetCaches();
  }

  appendSystemEvents(count: number): void {
    const { stream, type, data } = FIRST_RECORDS.at(-1)!;
    this.append(
      stream,
      'any',
      Array.from({ length: count }, () => systemEvent(type, data)),
    );
  }

  view(stream: string): StreamView {
    const found = this.#streams.get(stream);
    if (found?.state === 'tombstoned') return { kind: 'tombstoned' };
    const records = found?.records.slice(found.truncatedBefore) ?? [];
    return records.length === 0 ? { kind: 'missing' } : { kind: 'open', records };
  }

  /** Index of the first record at or behind `commit`; the log's length when there is none. */
  indexAt(commit: bigint): number {
    let low = 0;
    let high = this.records.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.records[middle]!.commit < commit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What a process loses when it ends. */
  forgetCaches(): void {
    this.#recent.clear();
  }

  /** The order of the checks is the real server's (its index writer's CheckCommit). null: may be written. */
  #check(name: string, expected: Expected, ids: readonly string[]): Verdict | null {
    const stream = this.#streams.get(name);
    if (stream?.state === 'tombstoned') return { kind: 'streamDeleted' };
    const softDeleted = stream?.state === 'softDeleted';
    const records = stream?.records ?? [];
    const head = BigInt(records.length) - 1n;
    const wrong: Verdict = { kind: 'wrongExpectedVersion', expected, actual: head < 0n ? null : head };
    if (expected === 'streamExists') {
      if (softDeleted) return { kind: 'streamDeleted' };
      if (head < 0n && !this.#streams.has(metadataStream(name))) return wrong;
    }
    if (expected === 'any' || expected === 'streamExists') {
      const known = ids.map((id) => this.#recent.revisionOf(name, id));
      if (known[0] === undefined) return null;
      return known.includes(undefined) ? wrong : this.#repeated(records, known.at(-1)!, softDeleted);
    }
    const number = expectedNumber(expected);
    if (number > head) return wrong;
    if (number === head) return null;
    const same = ids.findIndex((id, n) => records[Number(number) + 1 + n]?.id !== id);
    if (same === -1 && ids.length > 0) return this.#repeated(records, number + BigInt(ids.length), softDeleted);
    return same <= 0 && expected === 'noStream' && softDeleted ? null : wrong;
  }

  #repeated(records: readonly LogRecord[], revision: bigint, softDeleted: boolean): Verdict {
    return { kind: 'repeated', revision, place: softDeleted ? null : records[Number(revision)]! };
  }

  #open(stream: string): Stream {
    const found = this.#streams.get(stream);
    if (found !== undefined) return found;
    const created: Stream = { records: [], truncatedBefore: 0, state: 'open' };
    this.#streams.set(stream, created);
    return created;
  }

  #undelete(name: string): void {
    const stream = this.#streams.get(name);
    if (stream?.state !== 'softDeleted') return;
    this.#writeMetadata(name, `{"$tb":${stream.truncatedBefore}}`);
    stream.state = 'open';
  }

  #writeMetadata(stream: string, data: string): LogRecord {
    const name = metadataStream(stream);
    const { records } = this.#open(name);
    const record = this.#write(name, BigInt(records.length), systemEvent('$metadata', data));
    records.push(record);
    return record;
  }

  #write(stream: string, revision: bigint, event: ProposedEvent): LogRecord {
    const place = this.#end;
    const record: LogRecord = { ...event, stream, revision, createdMs: this.#now(), commit: place, prepare: place };
    this.#end += sizeOf(record);
    this.records.push(record);
    if (!isSystem(stream)) this.#recent.add(stream, event.id, revision);
    return record;
  }
}

const sizeOf = ({ stream, type, data, metadata }: LogRecord): bigint =>
  BigInt(101 + stream.length + type.length + data.length + metadata.length);

const systemEvent = (type: string, data: string): ProposedEvent => ({
  id: randomUUID(),
  type,
  contentType: data === '' ? 'application/octet-stream' : 'application/json',
  data: Buffer.from(data, 'utf8'),
  metadata: Buffer.alloc(0),
});
