// Subscriptions: confirmation, existing events, caughtUp, then new events. The server waits for a client that is catching up. For a live
// client, it buffers 32 new events and ends the subscription if there are more. Servers from 24 on wait instead.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { consumerTooSlow, streamDeleted } from './errors.ts';
import { type Filter, filterOf } from './filter.ts';
import type { Log } from './log.ts';
import { type ReadReq, streamName } from './messages.ts';
import type { Node } from './node.ts';
import type { EndSubscription } from './openSubscriptions.ts';
import { indexBehind, startOf } from './positions.ts';
import type { LogRecord } from './record.ts';
import {
  caughtUpResponse,
  checkpointResponse,
  confirmationResponse,
  eventResponse,
  type ReadCall,
} from './responses.ts';

type Options = NonNullable<ReturnType<ReadReq['getOptions']>>;

interface Plan {
  /** Index in the log of the first record to scan. */
  readonly from: number;
  readonly wanted: (record: LogRecord) => boolean;
  readonly saysCaughtUp: boolean;
  /** Number of records scanned between two checkpoints. Null for no checkpoints. */
  readonly checkpointEvery: number | null;
  readonly firstCheckpoint: boolean;
}

/** Number of records by which a checkpoint lags behind the scan. */
const CHECKPOINT_LAG = 2;
/** Number of new events that may wait for a client. */
const LIVE_BUFFER = 32;
/** Turns of the event loop for the connection to take what it can. */
const TURNS = 20;

/** Starts a subscription. Throws the error that ends the call if it can’t start. */
export const subscribe = (node: Node, call: ReadCall, options: Options): void => {
  const plan = options.hasAll() ? planAll(node, options) : planStream(node.log, options);
  const over = new AbortController();
  const end: EndSubscription = (error) => {
    over.abort();
    if (error === null) call.end();
    else call.emit('error', error);
  };
  node.subscriptions.add(end);
  node.watch.happened();
  call.on('cancelled', () => over.abort());
  const tooSlow = (): void => {
    if (Number.parseFloat(node.faults.version) < 24) end(consumerTooSlow());
  };
  void follow(node.log, call, plan, tooSlow, over.signal).finally(() => {
    node.subscriptions.delete(end);
    node.watch.happened();
  });
};

const planAll = (node: Node, options: Options): Plan => {
  const { log } = node;
  const start = startOf(node, options.getAll()!);
  const filterOptions = options.getFilter();
  const filter: Filter | null = filterOptions === undefined ? null : filterOf(filterOptions);
  return {
    from: indexBehind(log, start),
    wanted: filter?.matches ?? (() => true),
    saysCaughtUp: true,
    checkpointEvery: filter?.checkpointEvery ?? null,
    firstCheckpoint: filter !== null && start === 'start',
  };
};

const planStream = (log: Log, options: Options): Plan => {
  const stream = options.getStream()!;
  const name = streamName(stream.getStreamIdentifier());
  const view = log.view(name);
  if (view.kind === 'tombstoned') throw streamDeleted(name);
  const behind = stream.hasStart() ? -1n : BigInt(stream.getRevision() || '0');
  const first = view.kind === 'open' && !stream.hasEnd() ? log.indexAt(view.records[0]!.commit) : log.records.length;
  return {
    from: first,
    wanted: (record) => record.stream === name && (stream.hasEnd() || record.revision > behind),
    saysCaughtUp: view.kind === 'open' || stream.hasEnd(),
    checkpointEvery: null,
    firstCheckpoint: false,
  };
};

/** Waits until the client takes more. Calls `tooSlow` if the buffer fills before that. */
const drained = async (
  call: ReadCall,
  isFull: () => boolean,
  log: Log,
  tooSlow: () => void,
  signal: AbortSignal,
): Promise<void> => {
  let isDrained = false;
  const drain = once(call, 'drain', { signal }).then(() => {
    isDrained = true;
  });
  // Data that the connection takes soon doesn’t wait for the client.
  for (let n = 0; n < TURNS && !isDrained; n++) await Promise.race([drain, turn()]);
  if (isDrained) return;
  const look = (): void => {
    if (isFull()) tooSlow();
  };
  log.on('grown', look);
  try {
    look();
    await drain;
  } finally {
    log.off('grown', look);
  }
};

const follow = async (
  log: Log,
  call: ReadCall,
  plan: Plan,
  tooSlow: () => void,
  signal: AbortSignal,
): Promise<void> => {
  let next = plan.from;
  let isLive = false;
  let unmarked = 0;
  const isFull = (): boolean =>
    isLive &&
    log.records.length - next > LIVE_BUFFER &&
    log.records.slice(next).filter(plan.wanted).length > LIVE_BUFFER;
  let saidCaughtUp = !plan.saysCaughtUp;
  try {
    call.write(confirmationResponse(randomUUID()));
    if (plan.firstCheckpoint) call.write(checkpointResponse({ commit: 0n, prepare: 0n }));
    while (!signal.aborted) {
      const record = log.records[next];
      if (record === undefined) {
        if (!saidCaughtUp) call.write(caughtUpResponse());
        saidCaughtUp = true;
        isLive = true;
        await once(log, 'grown', { signal });
        continue;
      }
      next += 1;
      unmarked += 1;
      let room = !plan.wanted(record) || log.isScavenged(record) || call.write(eventResponse(record));
      if (unmarked === plan.checkpointEvery) {
        unmarked = 0;
        const { commit } = log.records[Math.max(plan.from, next - 1 - CHECKPOINT_LAG)]!;
        room = call.write(checkpointResponse({ commit, prepare: 0n }));
      }
      if (!room) await drained(call, isFull, log, tooSlow, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
