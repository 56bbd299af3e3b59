// Checks, before anything is written, that this version can read the log's events (rule S4).
import { type EventLog, UnreadableEvent } from '../../application/ports/eventCodec.ts';

/** Another version wrote the log. The message tells the operator what to do. */
export class ForeignLog extends Error {
  override name = 'ForeignLog';
}

/**
 * Throws ForeignLog if this version can't read the log's first event: then a build before the first release, or a newer version, wrote it.
 * Any later unreadable event only parks its stream (architecture §7).
 */
export const assertReadable = async ({ store, codec }: EventLog): Promise<void> => {
  const enough = new AbortController();
  try {
    for await (const batch of store.subscribe({ after: null, categories: null, batchSize: 1, signal: enough.signal })) {
      if (batch.kind === 'caughtUp') return;
      if (batch.kind !== 'events') continue;
      const [first] = await codec.decode(batch.events);
      if (!(first instanceof UnreadableEvent)) return;
      throw new ForeignLog(
        `the event store holds a log of another version: its first event can't be read (${first.reason.message}). Start the version ` +
          'that wrote it, or set EVENTSTORE_URL to an empty event store and DATABASE_URL to an empty database',
      );
    }
  } finally {
    enough.abort();
  }
};
