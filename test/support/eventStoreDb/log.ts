// The log in memory, with the server's rules for expected revisions, repeats, soft deletes and tombstones (eventStoreDb/README.md).
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
  /** Ordered by revision, from 0 without gaps. Tombstones are not included. */
  readonly records: LogRecord[];
  /** A soft delete hides the records below this revision. */
  truncatedBefore: number;
  state: 'open' | 'softDeleted' | 'tombstoned';
}

export type Verdict =
  | { readonly kind: 'written'; readonly revision: bigint; readonly place: Place }
  /** A repeat that wrote nothing. `place` is null on a soft-deleted stream. */
  | { readonly kind: 'repeated'; readonly revision: bigint; readonly place: Place | null }
  | { readonly kind: 'wrongExpectedVersion'; readonly expected: Expected; readonly actual: bigint | null }
  | { readonly kind: 'streamDeleted' };

/** `open`: the stream has readable events. `missing`: it was never written or is soft-deleted. */
type StreamView =
  | { readonly kind: 'open'; readonly records: readonly LogRecord[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'tombstoned' };

export class Log extends EventEmitter<{ grown: [] }> {
  readonly records: LogRecord[] = [];
  readonly #streams = new Map<string, Stream>();
  readonly #scavenged = new Set<LogRecord>();
  /** Makes `any` idempotent for the ids that it still contains. */
  readonly #recent: IdCache;
  readonly #now: () => number;
  #end = 0n;

  /** `now` is the server's clock in milliseconds. */
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

  /** Soft delete: hides the events. The numbering continues. */
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

  /** Deletes permanently: the stream can't be read or written again. */
  tombstone(stream: string, expected: Expected): Verdict {
    const refused = this.#check(stream, expected, [randomUUID()]);
    if (refused !== null) return refused;
    const marker = this.#write(stream, TOMBSTONE_REVISION, systemEvent('$streamDeleted', ''));
    this.#open(stream).state = 'tombstoned';
    this.emit('grown');
    return { kind: 'written', revision: marker.revision, place: marker };
  }

  /** Removes the events of deleted streams from the first `records` of the log. The real server does this file by file. */
  scavenge(records = this.records.length): void {
    for (const record of this.records.slice(0, records))
      if (this.#streams.get(record.stream)?.state === 'tombstoned' && record.revision !== TOMBSTONE_REVISION)
        this.#scavenged.add(record);
  }

  /** Returns whether the record was removed. Reads can still start at its place and continue with the next record. */
  isScavenged(record: LogRecord): boolean {
    return this.#scavenged.has(record);
  }

  /** Restores a backup with all records up to `commit`. Deleted streams are not modeled. */
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

  /** Returns the index of the first record at or after `commit`, or the log's length if there is none. */
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

  /** Drops the state that a process loses when it ends. */
  forgetCaches(): void {
    this.#recent.clear();
  }

  /** Checks an append in the order of the real server (CheckCommit of its index writer). Returns null if it may be written. */
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
