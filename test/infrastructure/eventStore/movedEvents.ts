// Events of a log that is moved in tests: interleaved streams, texts that a careless copy would change, and distinct times.
import { createHash } from 'node:crypto';
import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';

const DATAS = [
  '{}',
  '{ "b": 1,\n"a" : 2.0, "b": 3 }',
  '{"text":"\\u0000\\ud800 ação"}',
  '{"big":12345678901234567890}',
];
const METADATAS = ['{}', '{ }', '{"mode":"test", "$causationId":"x"}', '{"quita_recordedAt":"no time"}'];

/** Returns the same event for the same number, from 0. Streams alternate every two events, so that some events of one are adjacent. */
export const movedEvent = (n: number): RecordedEvent => {
  const stream = `payment-moved${Math.floor(n / 2) % 3}`;
  const hex = createHash('sha256').update(`moved ${n}`).digest('hex');
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`,
    type: `Moved${n % 5}`,
    data: DATAS[n % DATAS.length] as string,
    metadata: METADATAS[n % METADATAS.length] as string,
    stream: stream as StreamName,
    revision: Math.floor(n / 6) * 2 + (n % 2),
    position: String(n + 1).padStart(19, '0') as Position,
    recordedAt: new Date(Date.UTC(2024, 1, 29, 23, 59, 59, 997) + n * 1_001).toISOString(),
  };
};

export const movedEvents = (count: number): RecordedEvent[] => Array.from({ length: count }, (_, n) => movedEvent(n));
