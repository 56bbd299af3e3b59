// Before anything is written: the log was written by a build whose events this one reads (rule S4).
import { type EventLog, UnreadableEvent } from '../../application/ports/eventCodec.ts';

/** The log was written by another build. The message is for an operator: what to do. */
export class ForeignLog extends Error {
  override name = 'ForeignLog';
}

/**
 * Throws ForeignLog when the first event of the log is of no form that this version reads: then it was written by a build before the first
 * release, or by a newer one. Any other event that can't be read parks its stream (architecture §7), and the rest goes on.
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
