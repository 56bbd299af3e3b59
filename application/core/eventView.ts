// How recorded events are shown to operators.
import type { Json } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../ports/eventStore.ts';

/** Returns the parsed text, or the text itself if it is not JSON, so that a change of the store stays visible. */
export const jsonOf = (text: string): Json => {
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
