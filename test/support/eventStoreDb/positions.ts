// Finds the start of a read or a subscription of $all.
import { invalidPosition, unknownError } from './errors.ts';
import type { Log } from './log.ts';
import type { ReadReq } from './messages.ts';
import type { Node } from './node.ts';
import type { LogRecord, Place } from './record.ts';

type AllOptions = NonNullable<ReturnType<NonNullable<ReturnType<ReadReq['getOptions']>>['getAll']>>;

type Start = 'start' | 'end' | Place;

/**
 * Returns the start of a read. Throws if no record has the position: UNKNOWN (code 2), or INVALID_ARGUMENT from 24.10 on. The prepare
 * position may be 0.
 */
export const startOf = ({ log, faults }: Node, options: AllOptions): Start => {
  if (options.hasStart()) return 'start';
  const position = options.getPosition();
  if (position === undefined) return 'end';
  const place = { commit: BigInt(position.getCommitPosition()), prepare: BigInt(position.getPreparePosition()) };
  const record = log.records[log.indexAt(place.commit)];
  const exists = record?.commit === place.commit && (place.prepare === record.prepare || place.prepare === 0n);
  if (!exists || faults.positionsUnknown)
    throw Number.parseFloat(faults.version) < 24.1
      ? unknownError(`Unexpected ReadAllResult: InvalidPosition (${place.commit}/${place.prepare})`)
      : invalidPosition();
  return place;
};

/** Returns the index of a subscription’s first record, after the pair (commit, prepare). */
export const indexBehind = (log: Log, start: Start): number => {
  if (start === 'start') return 0;
  if (start === 'end') return log.records.length;
  const index = log.indexAt(start.commit);
  return log.records[index]!.prepare > start.prepare ? index : index + 1;
};

/** Returns the first `count` wanted records and scans no further. Forward reads include the position, and backward reads don’t. */
export const sliceOfAll = (
  log: Log,
  start: Start,
  backwards: boolean,
  count: number,
  wanted: (record: LogRecord) => boolean,
): readonly LogRecord[] => {
  const { records } = log;
  const at = start === 'start' ? 0 : start === 'end' ? records.length : log.indexAt(start.commit);
  const found: LogRecord[] = [];
  const step = backwards ? -1 : 1;
  for (let n = backwards ? at - 1 : at; found.length < count && n >= 0 && n < records.length; n += step) {
    const record = records[n] as LogRecord;
    if (wanted(record)) found.push(record);
  }
  return found;
};
