// An event store in memory. Every append and read waits for the test's scheduler, so that tests can interleave processes in any order.
import { hash } from 'node:crypto';
import type {
  AppendResult,
  EventStore,
  NewEvent,
  Position,
  RecordedEvent,
} from '../../application/ports/eventStore.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';

/** `step` resolves when the operation may run. Only appends and stream reads are implemented. */
export const memoryEventStore = (step: (what: string) => Promise<void>): EventStore => {
  const streams = new Map<StreamName, RecordedEvent[]>();
  let head = 0;
  const append = async (stream: StreamName, expected: number, events: readonly NewEvent[]): Promise<AppendResult> => {
    await step(`append ${events.map(({ type }) => type).join(', ')}`);
    const all = streams.get(stream) ?? [];
    if (expected !== all.length - 1) return { ok: false, actual: all.length - 1 };
    const recorded = events.map((event, i): RecordedEvent => {
      const position = String(++head).padStart(16, '0') as Position;
      return { ...event, stream, revision: expected + 1 + i, position, recordedAt: '2026-11-21T13:00:00.000Z' };
    });
    streams.set(stream, [...all, ...recorded]);
    const last = recorded.at(-1) as RecordedEvent;
    return { ok: true, revision: last.revision, position: last.position };
  };
  const notThere = (): never => {
    throw new Error('this store only appends and reads streams');
  };
  return {
    storeId: hash('sha256', 'memory'),
    append,
    readStream: async function* (stream, { from = 0 } = {}) {
      await step(`read ${stream}`);
      yield* (streams.get(stream) ?? []).slice(from);
    },
    subscribe: notThere,
    head: notThere,
    eventIdAt: notThere,
    onRestored: () => () => undefined,
    onHead: () => () => undefined,
    refusal: async () => null,
    close: async () => undefined,
  };
};
