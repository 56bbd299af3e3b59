// A recorded event as operators are shown it.
import type { Json } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';

/** An event that nobody can read is shown as it stands. */
const jsonOf = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};

export const recordedEventView = (event: RecordedEvent) => ({
  stream: event.stream,
  revision: event.revision,
  type: event.type,
  recordedAt: event.recordedAt,
  data: jsonOf(event.data),
  metadata: jsonOf(event.metadata),
});
