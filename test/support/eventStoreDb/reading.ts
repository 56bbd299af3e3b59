// The call Read: a bounded read of a stream or of $all, or a subscription.
import { once } from 'node:events';
import { type CallError, streamDeleted } from './errors.ts';
import { filterOf } from './filter.ts';
import { type ReadReq, streamName, streams } from './messages.ts';
import { type Node, requireLeader, requireReady } from './node.ts';
import { sliceOfAll, startOf } from './positions.ts';
import type { LogRecord } from './record.ts';
import { eventResponse, type ReadCall, streamNotFoundResponse } from './responses.ts';
import { subscribe } from './subscribing.ts';
import { after } from './timers.ts';

type Options = NonNullable<ReturnType<ReadReq['getOptions']>>;
type StreamOptions = NonNullable<ReturnType<Options['getStream']>>;

export const read = (node: Node) => (call: ReadCall) => {
  after(node.faults.delayMs, () => {
    if (call.cancelled) return;
    try {
      const options = call.request.getOptions()!;
      requireLeader(node);
      requireReady(node);
      node.access.require(call.metadata, readStreamName(options));
      if (options.hasSubscription()) subscribe(node, call, options);
      else void give(call, recordsOf(node, options), readStreamName(options));
    } catch (error) {
      call.emit('error', error as CallError);
    }
  });
};

const readStreamName = (options: Options): string => {
  const stream = options.getStream();
  return stream === undefined ? '$all' : streamName(stream.getStreamIdentifier());
};

/** Returns null if the stream doesn't exist. */
const recordsOf = (node: Node, options: Options): readonly LogRecord[] | null => {
  const { log } = node;
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  const count = Number(options.getCount());
  const all = options.getAll();
  if (all !== undefined) {
    const filter = options.getFilter();
    const matches = filter === undefined ? () => true : filterOf(filter).matches;
    const wanted = (record: LogRecord): boolean => matches(record) && !log.isScavenged(record);
    return sliceOfAll(log, startOf(node, all), backwards, count, wanted);
  }
  const name = readStreamName(options);
  const view = log.view(name);
  if (view.kind === 'tombstoned') throw streamDeleted(name);
  if (view.kind === 'missing') return null;
  return sliceOfStream(view.records, options.getStream()!, backwards, count);
};

/** Both directions include the revision. Revisions have no gaps, but the first ones may be hidden. */
const sliceOfStream = (records: readonly LogRecord[], from: StreamOptions, backwards: boolean, count: number) => {
  const [first, last] = [records[0]!.revision, records.at(-1)!.revision];
  const revision = from.hasStart() ? 0n : from.hasEnd() ? (backwards ? last : last + 1n) : BigInt(from.getRevision());
  if (!backwards) {
    const from = Number(revision < first ? 0n : revision - first);
    return records.slice(from, from + count);
  }
  const behind = Number(revision > last ? last - first : revision - first) + 1;
  return behind <= 0 ? [] : records.slice(Math.max(0, behind - count), behind).reverse();
};

const give = async (call: ReadCall, records: readonly LogRecord[] | null, stream: string): Promise<void> => {
  const cancelled = new AbortController();
  call.on('cancelled', () => cancelled.abort());
  if (records === null) call.write(streamNotFoundResponse(stream));
  try {
    for (const record of records ?? []) {
      if (cancelled.signal.aborted) return;
      if (!call.write(eventResponse(record))) await once(call, 'drain', { signal: cancelled.signal });
    }
    call.end();
  } catch (error) {
    if (!cancelled.signal.aborted) throw error;
  }
};
